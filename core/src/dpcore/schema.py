"""What is public before any row is read: attributes, their domains, the class and its values.

Everything that decides noise comes from here (or is itself noisy): bounds, categories, cut points.
A schema is read from JSON, from an ARFF header, or built in Python.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from dpcore.errors import SchemaError

MISSING_TOKENS = ("?", "")
_LARGEST = 1e100
"""No bound and no value of a numeric attribute may be larger: sums of squares must stay finite."""
_MOST = 8


def floats(values: Iterable[Any]) -> tuple[float, ...]:
    """Numbers as a tuple of floats."""
    return tuple(float(value) for value in values)


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(value if isinstance(value, str) else str(value) for value in values)


@attrs.frozen
class Numeric:
    """A numeric attribute with public bounds.

    Args:
        name: the column's name.
        lower, upper: public bounds, `lower < upper`; rows are clipped to them.
        integer: whether values are whole numbers.
        missing: whether rows may lack a value.
        cuts: public cut points inside the bounds, increasing, or () for none.

    Raises:
        SchemaError: if the bounds or cut points contradict themselves.
    """

    name: str
    lower: float = attrs.field(converter=float)
    upper: float = attrs.field(converter=float)
    integer: bool = False
    missing: bool = False
    cuts: tuple[float, ...] = attrs.field(default=(), converter=floats)

    def __attrs_post_init__(self) -> None:
        _check_text(f"attribute {self.name!r}", (self.name,))
        for side, value in (("lower", self.lower), ("upper", self.upper)):
            if not math.isfinite(value) or abs(value) > _LARGEST:
                raise SchemaError(
                    f"attribute {self.name!r}: {side} must be a number within ±{_LARGEST:g}. Got {value!r}."
                )
        if not self.lower < self.upper:
            raise SchemaError(
                f"attribute {self.name!r}: lower must be less than upper. Got {self.lower:g} and {self.upper:g}."
            )
        if self.width < 1e-100 or self.lower + self.width / 1e9 == self.lower:
            raise SchemaError(f"attribute {self.name!r}: lower and upper are too close for floating point.")
        inside = all(self.lower < c < self.upper for c in self.cuts)
        if not inside or any(a >= b for a, b in zip(self.cuts, self.cuts[1:], strict=False)):
            raise SchemaError(f"attribute {self.name!r}: cut points must increase strictly inside the bounds.")

    @property
    def width(self) -> float:
        """R = upper − lower."""
        return self.upper - self.lower

    @property
    def middle(self) -> float:
        """The middle of the range, from which sums are measured."""
        return self.lower + self.width / 2


@attrs.frozen
class Nominal:
    """A nominal attribute with its public list of values (also used for the class).

    Args:
        name: the column's name.
        values: the values as text, all different, at least one.
        missing: whether rows may lack a value, or have one outside the list; these share one extra cell.

    Raises:
        SchemaError: if the list is empty or repeats a value.
    """

    name: str
    values: tuple[str, ...] = attrs.field(converter=_texts)
    missing: bool = False

    def __attrs_post_init__(self) -> None:
        if not self.values:
            raise SchemaError(f"attribute {self.name!r}: the list of values is empty.")
        _check_text(f"attribute {self.name!r}", (self.name, *self.values))
        if twice := _twice(self.values):
            raise SchemaError(f"attribute {self.name!r}: these values stand twice: {', '.join(twice)}.")

    @property
    def cells(self) -> int:
        """How many cells its values make, the missing cell included."""
        return len(self.values) + self.missing


Attribute = Numeric | Nominal


def _attributes(values: Iterable[Attribute]) -> tuple[Attribute, ...]:
    return tuple(values)


def _usable(end: Any) -> bool:
    """Whether it is a number that a float can hold, and a file too: JSON has no infinity."""
    if isinstance(end, bool) or not isinstance(end, (int, float)):
        return False
    return math.isfinite(end) if isinstance(end, float) else abs(end) < 2**1000


@attrs.frozen
class Taxonomy:
    """Public levels of generalisation for one attribute, coarsest first.

    Args:
        attribute: the attribute's name.
        levels: for each level its groups; a nominal group is a tuple of values, a numeric group the
            half-open interval `(lo, hi)`.
    """

    attribute: str
    levels: tuple[tuple[tuple[Any, ...], ...], ...]

    def check(self, attribute: Attribute) -> None:
        """Raise `SchemaError` unless every level covers the attribute's domain exactly once."""
        for depth, level in enumerate(self.levels, start=1):
            where = f"taxonomy of {self.attribute!r}, level {depth}"
            if isinstance(attribute, Nominal):
                found = [value for group in level for value in group]
                if not all(isinstance(v, str) for v in found) or sorted(found) != sorted(attribute.values):
                    raise SchemaError(f"{where}: every value must stand in exactly one group.")
                continue
            numbers = all(_usable(end) for group in level for end in group)
            if not level or not numbers or any(len(g) != 2 or not g[0] < g[1] for g in level):
                raise SchemaError(f"{where}: a numeric group must be [lo, hi) with lo < hi.")
            if any(a[1] != b[0] for a, b in pairwise(level)):
                raise SchemaError(f"{where}: intervals must follow one another without gaps.")


def _taxonomies(values: Mapping[str, Taxonomy]) -> dict[str, Taxonomy]:
    return dict(values)


@attrs.frozen
class Schema:
    """The public description of a table.

    Args:
        attributes: in column order.
        target: the class attribute; at least two values.
        ignored: columns that may stand in the data and are not used.
        taxonomies: by attribute name.
        title: one line for people.
        missing_tokens: texts that mean a missing cell.

    Raises:
        SchemaError: for repeated names, no attributes, fewer than two classes, or a wrong taxonomy.
    """

    attributes: tuple[Attribute, ...] = attrs.field(converter=_attributes)
    target: Nominal
    ignored: tuple[str, ...] = attrs.field(default=(), converter=_texts)
    taxonomies: Mapping[str, Taxonomy] = attrs.field(factory=dict, converter=_taxonomies)
    title: str = ""
    missing_tokens: tuple[str, ...] = attrs.field(default=MISSING_TOKENS, converter=_texts)

    def __attrs_post_init__(self) -> None:
        if not self.attributes:
            raise SchemaError("a schema needs at least one attribute.")
        if len(self.target.values) < 2:
            raise SchemaError(f"the class {self.target.name!r} needs at least two values.")
        names = [*self.names, self.target.name, *self.ignored]
        if not all(names):
            raise SchemaError("every attribute and the class need a 'name'.")
        _check_text("a schema", (self.title, *self.ignored, *self.missing_tokens))
        if twice := _twice(names):
            raise SchemaError(f"these columns stand twice in the schema: {', '.join(twice)}.")
        for name, taxonomy in self.taxonomies.items():
            if name not in self._by_name:
                raise SchemaError(f"there is a taxonomy for {name!r}, which is not an attribute.")
            taxonomy.check(self[name])

    def __hash__(self) -> int:
        return hash((self.attributes, self.target, self.ignored))

    @property
    def names(self) -> tuple[str, ...]:
        """The attributes' names, in column order."""
        return tuple(a.name for a in self.attributes)

    @property
    def classes(self) -> tuple[str, ...]:
        """The class values."""
        return self.target.values

    def __getitem__(self, name: str) -> Attribute:
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, Attribute]:
        return {a.name: a for a in self.attributes}

    def numeric(self) -> tuple[Numeric, ...]:
        """The numeric attributes."""
        return tuple(a for a in self.attributes if isinstance(a, Numeric))

    def nominal(self) -> tuple[Nominal, ...]:
        """The nominal attributes, without the class."""
        return tuple(a for a in self.attributes if isinstance(a, Nominal))

    # -- JSON ---------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a schema from a JSON file.

        Raises:
            SchemaError: if the file is missing, is not JSON, or is not a schema.
        """
        from dpcore.schema_json import read

        return read(path)

    @classmethod
    def from_json(cls, data: Any) -> Schema:
        """Build a schema from parsed JSON (the form of `to_json`; other keys are ignored).

        Raises:
            SchemaError: if it is not a schema.
        """
        from dpcore.schema_json import parse

        return parse(data)

    def to_json(self) -> dict[str, Any]:
        """The schema as plain JSON data; `Schema.from_json` gives it back."""
        from dpcore.schema_json import plain

        return plain(self)


def _check_text(what: str, texts: Iterable[str]) -> None:
    """Refuse half a surrogate pair: no file can hold it, so no row and no terminal could."""
    texts = tuple(texts)
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        raise SchemaError(f"{what}: a text is not valid Unicode.") from None


def _twice(texts: Iterable[str]) -> list[str]:
    """The texts that stand more than once, each in one short line, sorted."""
    found = sorted(text for text, n in Counter(texts).items() if n > 1)
    shown = [(t if t.isprintable() else repr(t))[:40] for t in found[:_MOST]]
    return [*shown, "…"] if len(found) > _MOST else shown
