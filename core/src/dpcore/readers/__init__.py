"""Files of rows as pandas frames: CSV, TSV, ARFF and Parquet, checked against the public schema.

Nothing is guessed where a schema is given: what it calls nominal stays text exactly as written, what
it calls numeric must be numbers. Every failure is an `InputError` of one line that names the column
and never a row's value.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dpcore.errors import InputError
from dpcore.readers.arff import read_arff
from dpcore.readers.columns import Wanted
from dpcore.readers.delimited import read_delimited
from dpcore.readers.files import check
from dpcore.readers.header import arff_schema
from dpcore.readers.parquet import read_parquet

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.schema import Schema

__all__ = ["ENDINGS", "arff_schema", "read_frame"]

ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".arff", ".arff.gz", ".parquet")


def read_frame(path: str | Path, schema: Schema | None = None, *, target: bool = True) -> pd.DataFrame:
    """Read a file of rows.

    Args:
        path: a file whose name ends with one of `ENDINGS`.
        schema: which columns to take and of which type. Without one every column is taken, as text
            unless the file itself has types (ARFF, Parquet).
        target: whether the class column must be there and is returned, last. With False (prediction) it
            may stand in the file and is left out.

    Returns:
        Numeric attributes as float64 with NaN where the cell is one of `schema.missing_tokens`; nominal
        attributes and the class as objects that are str, stripped of surrounding blanks.

    Raises:
        InputError: if the file cannot be read, or its columns or cells do not fit the schema.
    """
    path = Path(path)
    ending = next((e for e in ENDINGS if path.name.lower().endswith(e)), None)
    if ending is None:
        raise InputError(f"{str(path)!r}: unknown ending; known are {', '.join(ENDINGS)}.")
    check(path)
    wanted = Wanted(str(path), schema, target)
    if ending == ".parquet":
        return read_parquet(path, wanted)
    if ending.startswith(".arff"):
        return read_arff(path, wanted)
    return read_delimited(path, wanted, "\t" if ending.startswith(".tsv") else ",")
