"""What a plugin lists: light, frozen descriptors that name a factory without importing it."""

from __future__ import annotations

import re
from typing import Any

import attrs

_NAME = re.compile(r"[a-z][a-z0-9_-]*\Z")
_FACTORY = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*\Z")


def _matches(pattern: re.Pattern[str], form: str) -> Any:
    def check(instance: object, attribute: attrs.Attribute[str], value: object) -> None:
        if not isinstance(value, str) or not pattern.match(value):
            raise ValueError(f"Component.{attribute.name} must be {form}. Got {value!r} instead.")

    return check


@attrs.frozen
class Component:
    """One thing that a plugin provides.

    Args:
        name: what users type: lower-case letters, digits, `_` and `-`, starting with a letter.
        summary: one sentence.
        factory: `"module:object"`, imported on first use.

    Raises:
        ValueError: if a field has the wrong form.
    """

    name: str = attrs.field(validator=_matches(_NAME, "lower-case letters, digits, '_' or '-'"))
    summary: str = attrs.field(validator=attrs.validators.instance_of(str))
    factory: str = attrs.field(validator=_matches(_FACTORY, "of the form 'module:object'"))


@attrs.frozen
class Citation:
    """A source, in the fields that BibTeX wants."""

    key: str
    author: str
    title: str
    year: int
    venue: str = ""
    doi: str = ""
    url: str = ""
    type: str = "inproceedings"

    def __str__(self) -> str:
        where = f" {self.venue}." if self.venue else ""
        return f"{self.author} ({self.year}). {self.title}.{where}" + (f" doi:{self.doi}" if self.doi else "")

    def bibtex(self) -> str:
        """The entry as BibTeX."""
        field = "journal" if self.type == "article" else "booktitle"
        rows = {
            "author": self.author,
            "title": f"{{{self.title}}}",
            "year": str(self.year),
            field: self.venue,
            "doi": self.doi,
            "url": self.url,
        }
        body = ",\n".join(f"  {name} = {{{value}}}" for name, value in rows.items() if value)
        return f"@{self.type}{{{self.key},\n{body}\n}}"


@attrs.frozen
class Capabilities:
    """What a learner can work with, checked against the schema before any budget is spent."""

    numeric: bool = True
    nominal: bool = True
    multiclass: bool = True
    missing: bool = True
    cells: int | None = None
    """Largest number of cells a query may have, or None."""
