"""Where the rows of a command come from: a file, or a named data set."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.encode import encode
from dpcore.errors import InputError, PluginError
from dpcore.readers import arff_schema, read_frame
from dpcore.schema import Schema
from dpcore.table import Rows

if TYPE_CHECKING:
    from dpcore.dataset import Dataset
    from dpcore.registry import Registry


def dataset(name: str, registry: Registry) -> Dataset | None:
    """The data set of that name, or None if the text is a path.

    Raises:
        PluginError: if it is neither a known data set nor a file.
    """
    if Path(name).suffix or Path(name).exists() or "/" in name:
        return None
    try:
        found = registry.get("dataset", name)
    except PluginError as error:
        raise InputError(f"{name!r} is neither a file nor a data set: {error}") from None
    made: Dataset = found() if isinstance(found, type) else found
    return made


def find_schema(data: str | None, schema: str | None, registry: Registry) -> Schema:
    """The schema that was given (a JSON file, an ARFF header, a data set's name), or the data set's own.

    Raises:
        InputError: if there is none.
    """
    if schema is not None:
        named = dataset(schema, registry)
        if named is not None:
            return named.schema()
        return arff_schema(schema) if schema.lower().endswith((".arff", ".arff.gz")) else Schema.load(schema)
    named = dataset(data, registry) if data is not None else None
    if named is None:
        raise InputError(
            "a schema is needed: --schema FILE.json. Bounds and categories must be public; "
            "`dpcore schema draft` writes a draft to be reviewed."
        )
    return named.schema()


def read_rows(data: str, schema: Schema, registry: Registry) -> Rows:
    """Encoded rows to learn from.

    Raises:
        InputError: for rows that cannot be read or do not fit the schema, or too few classes.
    """
    named = dataset(data, registry)
    rows = encode(read_frame(data, schema) if named is None else named.frame(), schema)
    return rows


def read_new_rows(data: str, schema: Schema, registry: Registry) -> Rows:
    """Encoded rows to predict; the class column may be missing."""
    named = dataset(data, registry)
    frame = read_frame(data, schema, target=False) if named is None else named.frame()
    return encode(frame, schema, strict=False, target=False)
