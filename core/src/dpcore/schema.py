"""What is public before any row is read: attributes, their domains, the class and its values.

Everything that decides noise comes from here (or is itself noisy): bounds, categories, cut points.
A schema is read from JSON, from an ARFF header, or built in Python.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import attrs

from dpcore.errors import SchemaError

MISSING_TOKENS = ("?", "")
_LARGEST = 1e100
"""No bound and no value of a numeric attribute may be larger: sums of squares must stay finite."""


def floats(values: Iterable[Any]) -> tuple[float, ...]:
    """Numbers as a tuple of floats."""
    return tuple(float(value) for value in values)


def _texts(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(_text(value) for value in values)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else str(value)


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
        if len(set(self.values)) != len(self.values):
            twice = sorted({v for v in self.values if self.values.count(v) > 1})
            raise SchemaError(f"attribute {self.name!r}: these values stand twice: {', '.join(twice)}.")

    @property
    def cells(self) -> int:
        """How many cells its values make, the missing cell included."""
        return len(self.values) + self.missing


Attribute = Numeric | Nominal


def _attributes(values: Iterable[Attribute]) -> tuple[Attribute, ...]:
    return tuple(values)


def _usable(end: Any) -> bool:
    """Whether it is a number that a float can hold."""
    return isinstance(end, float) or (isinstance(end, int) and abs(end) < 2**1000)


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
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise SchemaError(f"these columns stand twice in the schema: {', '.join(twice)}.")
        for name, taxonomy in self.taxonomies.items():
            if name not in self.names:
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
        for attribute in self.attributes:
            if attribute.name == name:
                return attribute
        raise KeyError(name)

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
        try:
            text = Path(path).read_text(encoding="utf-8")
        except OSError as error:
            raise SchemaError(f"cannot read the schema {str(path)!r}: {error.strerror}.") from None
        except UnicodeDecodeError:
            raise SchemaError(f"the schema {str(path)!r} is not UTF-8 text.") from None
        try:
            data = json.loads(text)
        except (json.JSONDecodeError, RecursionError) as error:
            raise SchemaError(f"the schema {str(path)!r} is not JSON: {error}.") from None
        try:
            return cls.from_json(data)
        except SchemaError as error:
            raise SchemaError(f"schema {str(path)!r}: {error}") from None

    @classmethod
    def from_json(cls, data: Any) -> Schema:
        """Build a schema from parsed JSON (the form of `to_json`; other keys are ignored)."""
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
            str(name): Taxonomy(str(name), _levels(str(name), value))
            for name, value in _mapping(data.get("taxonomies", {}), "'taxonomies'").items()
            if not str(name).startswith("_")  # notes
        }
        missing = data.get("missing") or {}
        token = missing.get("token") if isinstance(missing, Mapping) else None
        return cls(
            attributes=tuple(used),
            target=Nominal(_name(target), _values(target)),
            ignored=tuple(ignored),
            taxonomies=taxonomies,
            title=_text(data.get("title", "")),
            missing_tokens=MISSING_TOKENS if token is None else tuple(dict.fromkeys([_text(token), ""])),
        )

    def to_json(self) -> dict[str, Any]:
        """The schema as plain JSON data; `Schema.from_json` gives it back."""
        attributes: list[dict[str, Any]] = []
        for a in self.attributes:
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
        attributes += [{"name": name, "role": "ignore"} for name in self.ignored]
        data: dict[str, Any] = {"title": self.title, "attributes": attributes}
        data["class"] = {"name": self.target.name, "values": list(self.target.values)}
        if self.missing_tokens != MISSING_TOKENS:
            data["missing"] = {"token": self.missing_tokens[0]}
        if self.taxonomies:
            data["taxonomies"] = {
                name: {"levels": [[list(g) for g in level] for level in t.levels]}
                for name, t in self.taxonomies.items()
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


def _name(entry: Mapping[str, Any]) -> str:
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise SchemaError("every attribute and the class need a 'name'.")
    return name


def _values(entry: Mapping[str, Any]) -> Iterable[str]:
    values = _list(entry.get("values"), f"'values' of {_name(entry)!r}")
    if any(isinstance(v, (list, dict)) or v is None for v in values):
        raise SchemaError(f"'values' of {_name(entry)!r} must be texts.")
    return tuple(_text(v) for v in values)


def _attribute(entry: Mapping[str, Any]) -> Attribute:
    name = _name(entry)
    missing = bool(entry.get("has_missing", False))
    kind = entry.get("type")
    if kind == "nominal":
        return Nominal(name, _values(entry), missing=missing)
    if kind != "numeric":
        raise SchemaError(f"attribute {name!r}: type must be 'numeric' or 'nominal'. Got {kind!r}.")
    bounds = []
    for side in ("lower", "upper"):
        value = entry.get(side)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise SchemaError(f"attribute {name!r}: {side} must be a number. Got {value!r}.")
        bounds.append(_float(name, value))
    cuts = [_float(name, c) for c in _list(entry.get("cuts", []), f"'cuts' of {name!r}")]
    lower, upper = bounds
    return Numeric(name, lower, upper, integer=bool(entry.get("integer", False)), missing=missing, cuts=cuts)


def _float(name: str, value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise SchemaError(f"attribute {name!r}: {value!r:.40} is not a usable number.") from None


def _levels(name: str, data: Any) -> tuple[tuple[tuple[Any, ...], ...], ...]:
    levels = data.get("levels") if isinstance(data, Mapping) else data
    try:
        return tuple(tuple(tuple(group) for group in level) for level in _list(levels, "levels"))
    except TypeError:
        raise SchemaError(f"taxonomy of {name!r}: a level is a list of groups.") from None
