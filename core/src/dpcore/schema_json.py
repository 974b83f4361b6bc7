"""Schemas as JSON: the form of `*.schema.json` files and of the schema inside a model file.

Whatever the text, the outcome is a schema or a `SchemaError` of one short line.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dpcore import strict_json
from dpcore.errors import SchemaError
from dpcore.schema import MISSING_TOKENS, Attribute, Nominal, Numeric, Schema, Taxonomy


def read(path: str | Path) -> Schema:
    """The schema in a JSON file.

    Raises:
        SchemaError: if the file is missing, is not JSON, or is not a schema.
    """
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SchemaError(f"cannot read the schema {str(path)!r}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SchemaError(f"the schema {str(path)!r} is not UTF-8 text.") from None
    except ValueError:  # a NUL in the name
        raise SchemaError(f"cannot read the schema {str(path)!r}: no file has such a name.") from None
    try:
        data = strict_json.loads(text)
    except ValueError as error:
        raise SchemaError(f"the schema {str(path)!r} is not JSON: {error}.") from None
    try:
        return parse(data)
    except SchemaError as error:
        raise SchemaError(f"schema {str(path)!r}: {error}") from None


def parse(data: Any) -> Schema:
    """The schema in parsed JSON (the form of `plain`; other keys are ignored).

    Raises:
        SchemaError: if it is not a schema.
    """
    data = _mapping(data, "a schema")
    if "class" not in data:
        raise SchemaError("a schema needs a 'class' with a 'name' and 'values'.")
    target = _mapping(data["class"], "'class'")
    rows = _list(data.get("attributes"), "'attributes'")
    used, ignored = [], []
    for row in rows:
        entry = _mapping(row, "an attribute")
        if entry.get("role") == "ignore":
            ignored.append(_name(entry))
        else:
            used.append(_attribute(entry))
    taxonomies = {
        name: Taxonomy(name, _levels(name, value))
        for name, value in _mapping(data.get("taxonomies", {}), "'taxonomies'").items()
        if not name.startswith("_")  # notes
    }
    missing = data.get("missing") or {}
    token = missing.get("token") if isinstance(missing, Mapping) else None
    title = data.get("title")
    return Schema(
        attributes=tuple(used),
        target=Nominal(_name(target), _values(target)),
        ignored=tuple(ignored),
        taxonomies=taxonomies,
        title="" if title is None else _text(title, "'title'"),
        missing_tokens=MISSING_TOKENS if token is None else tuple(dict.fromkeys([_text(token, "'token'"), ""])),
    )


def plain(schema: Schema) -> dict[str, Any]:
    """The schema as plain JSON data; `parse` gives it back."""
    attributes: list[dict[str, Any]] = []
    for a in schema.attributes:
        row: dict[str, Any] = {"name": a.name}
        if isinstance(a, Numeric):
            row |= {"type": "numeric", "lower": a.lower, "upper": a.upper, "integer": a.integer}
            if a.cuts:
                row["cuts"] = list(a.cuts)
        else:
            row |= {"type": "nominal", "values": list(a.values)}
        if a.missing:
            row["has_missing"] = True
        attributes.append(row)
    attributes += [{"name": name, "role": "ignore"} for name in schema.ignored]
    data: dict[str, Any] = {"title": schema.title, "attributes": attributes}
    data["class"] = {"name": schema.target.name, "values": list(schema.target.values)}
    if schema.missing_tokens != MISSING_TOKENS:
        data["missing"] = {"token": schema.missing_tokens[0]}
    if schema.taxonomies:
        data["taxonomies"] = {
            name: {"levels": [[list(g) for g in level] for level in t.levels]} for name, t in schema.taxonomies.items()
        }
    return data


def _mapping(data: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(data, Mapping):
        raise SchemaError(f"{what} must be a JSON object.")
    return data


def _list(data: Any, what: str) -> list[Any]:
    if not isinstance(data, list):
        raise SchemaError(f"{what} must be a JSON list.")
    return data


def _text(data: Any, what: str) -> str:
    if not isinstance(data, (str, int, float)):
        raise SchemaError(f"{what} must be a text. Got {_shown(data)}.")
    return data if isinstance(data, str) else str(data)


def _flag(entry: Mapping[str, Any], key: str) -> bool:
    value = entry.get(key, False)
    if not isinstance(value, bool):  # the text "false" would count as true
        raise SchemaError(f"attribute {_name(entry)!r}: {key} must be true or false. Got {_shown(value)}.")
    return value


def _name(entry: Mapping[str, Any]) -> str:
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise SchemaError("every attribute and the class need a 'name'.")
    return name


def _values(entry: Mapping[str, Any]) -> Iterable[str]:
    name = _name(entry)
    values = _list(entry.get("values"), f"'values' of {name!r}")
    if any(isinstance(v, (list, dict)) or v is None for v in values):
        raise SchemaError(f"'values' of {name!r} must be texts.")
    return tuple(v if isinstance(v, str) else str(v) for v in values)


def _attribute(entry: Mapping[str, Any]) -> Attribute:
    name = _name(entry)
    kind = entry.get("type")
    if kind == "nominal":
        return Nominal(name, _values(entry), missing=_flag(entry, "has_missing"))
    if kind != "numeric":
        raise SchemaError(f"attribute {name!r}: type must be 'numeric' or 'nominal'. Got {_shown(kind)}.")
    lower, upper = (_number(name, side, entry.get(side)) for side in ("lower", "upper"))
    cuts = [_number(name, "a cut point", c) for c in _list(entry.get("cuts", []), f"'cuts' of {name!r}")]
    return Numeric(
        name, lower, upper, integer=_flag(entry, "integer"), missing=_flag(entry, "has_missing"), cuts=tuple(cuts)
    )


def _number(name: str, what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise SchemaError(f"attribute {name!r}: {what} must be a number. Got {_shown(value)}.")
    try:
        return float(value)
    except OverflowError:
        raise SchemaError(f"attribute {name!r}: {what} is not a usable number: {_shown(value)}.") from None


def _levels(name: str, data: Any) -> tuple[tuple[tuple[Any, ...], ...], ...]:
    levels = data.get("levels") if isinstance(data, Mapping) else data
    try:
        return tuple(tuple(tuple(group) for group in level) for level in _list(levels, f"the levels of {name!r}"))
    except TypeError:
        raise SchemaError(f"taxonomy of {name!r}: a level is a list of groups.") from None


def _shown(value: Any) -> str:
    """A value for an error: one short line, however long or deep it is."""
    try:
        return reprlib.repr(value)
    except ValueError:
        return "a number of thousands of digits"
