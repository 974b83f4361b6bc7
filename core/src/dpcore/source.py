"""Where the rows of a command come from: a file, or a named data set."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.encode import encode
from dpcore.errors import InputError, PluginError
from dpcore.partition import Values
from dpcore.query import Counts
from dpcore.readers import arff_schema, read_frame
from dpcore.schema import Schema
from dpcore.table import MemoryTable, Rows, Table, TableOpener

if TYPE_CHECKING:
    from dpcore.dataset import Dataset
    from dpcore.registry import Registry


def dataset(name: str, registry: Registry) -> Dataset | None:
    """The data set of that name, or None if the text is a path.

    Raises:
        PluginError: if it is neither a known data set nor a file.
    """
    if Path(name).suffix or "/" in name or os.path.exists(name):  # which answers for any text, unlike Path.exists
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


def open_table(data: str, schema: Schema, registry: Registry) -> Table:
    """The rows to learn from: a file or data set in memory, a URI through the plugin that opens its scheme.

    Raises:
        InputError: for rows that cannot be had or do not fit the schema, or a scheme that no plugin opens.
    """
    scheme, sign, _ = data.partition("://")
    if not sign:
        return MemoryTable(read_rows(data, schema, registry))
    known: list[str] = []
    for name in registry.names("table"):
        opener: TableOpener = registry.get("table", name)()
        if scheme in opener.schemes:
            return opener.open(data, schema)
        known += opener.schemes
    raise InputError(f"no installed plugin opens {scheme}:// tables; known are: {', '.join(known) or 'none'}.")


def check_classes(table: Table) -> None:
    """Refuse rows of one class only: nothing could be learned, and budget would be spent on it.

    Raises:
        InputError: naming the class column.
    """
    target = table.schema.target
    if (table.answer(Counts(Values(target))) > 0).sum() < 2:
        raise InputError(f"all rows have the same class: {target.name!r} must take at least two values.")


def read_rows(data: str, schema: Schema, registry: Registry) -> Rows:
    """Encoded rows to learn from.

    Raises:
        InputError: for rows that cannot be read or do not fit the schema.
    """
    named = dataset(data, registry)
    return encode(read_frame(data, schema) if named is None else named.frame(), schema)


def read_new_rows(data: str, schema: Schema, registry: Registry) -> Rows:
    """Encoded rows to predict; the class column may be missing."""
    named = dataset(data, registry)
    frame = read_frame(data, schema, target=False) if named is None else named.frame()
    return encode(frame, schema, strict=False, target=False)
