"""The public schema that an ARFF header states, without reading a row."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from dpcore.errors import SchemaError
from dpcore.readers.arff import Column, failure, header
from dpcore.readers.files import check, lines, opened
from dpcore.schema import Attribute, Nominal, Numeric, Schema


def arff_schema(
    path: str | Path,
    target: str | None = None,
    *,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    missing: Collection[str] = (),
) -> Schema:
    """The public schema in an ARFF header; no row is read.

    Args:
        path: an `.arff` or `.arff.gz` file.
        target: the class attribute; the last one by default, as in Weka.
        bounds: public bounds of the numeric attributes, which an ARFF header does not state.
        missing: the attributes whose rows may lack a value, which it does not state either.

    Raises:
        InputError: if the file cannot be read.
        SchemaError: if the header does not state enough to make a schema.
    """
    path, bounds = Path(path), dict(bounds or {})
    check(path)
    with opened(path) as stream:
        title, columns = header(enumerate(lines(path, stream), start=1), failure(path))
    names = [c.name for c in columns]
    target = names[-1] if target is None else target
    for name in (target, *bounds, *missing):
        if name not in names:
            raise SchemaError(f"{str(path)!r} has no attribute {name!r}.")
    if not columns[names.index(target)].values:
        raise SchemaError(f"the class {target!r} must be nominal, with its values in the ARFF header.")
    unbounded = [c.name for c in columns if c.is_number and c.name not in bounds]
    if unbounded:
        raise SchemaError(
            f"an ARFF header has no bounds of numeric attributes ({', '.join(map(repr, unbounded))}): "
            "give them as `bounds`, or write a JSON schema."
        )
    attributes: Any = tuple(_attribute(c, bounds, c.name in missing) for c in columns if c.name != target)
    return Schema(attributes, Nominal(target, columns[names.index(target)].values), title=title)


def _attribute(column: Column, bounds: Mapping[str, tuple[float, float]], missing: bool) -> Attribute:
    if column.is_number:
        lower, upper = bounds[column.name]
        return Numeric(column.name, lower, upper, integer=column.kind == "integer", missing=missing)
    if column.kind == "string":
        raise SchemaError(f"attribute {column.name!r} is a string: an ARFF header does not list its values.")
    return Nominal(column.name, column.values, missing=missing)
