"""Parquet, through pyarrow."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.errors import InputError
from dpcore.readers.columns import Wanted

if TYPE_CHECKING:
    import pandas as pd


def read_parquet(path: Path, wanted: Wanted) -> pd.DataFrame:
    """The wanted columns of a Parquet file; a null in a nominal column becomes the first missing token."""
    import pandas as pd

    try:
        importlib.import_module("pyarrow")
    except ImportError:
        raise InputError("reading Parquet needs pyarrow: pip install dpcore[parquet].") from None
    try:
        frame = pd.read_parquet(path, engine="pyarrow", dtype_backend="numpy_nullable")
    except Exception as error:  # pandas trusts the notes that it leaves in a file, and fails over them in any way
        denied = isinstance(error, PermissionError)
        reason = "permission denied" if denied else "it is not a whole Parquet file of plain columns"
        raise InputError(f"cannot read {str(path)!r}: {reason}.") from None
    names = [str(name) for name in frame.columns]
    chosen = wanted.columns(names)
    if frame.empty:
        raise wanted.no_rows()
    frame = frame.set_axis(names, axis=1).reset_index(drop=True)
    columns: dict[str, Any] = {}
    for name in chosen:
        cells = frame[name]
        kind = pd.api.types.infer_dtype(cells, skipna=True)
        if kind not in _KINDS:
            raise InputError(f"{str(path)!r}: column {name!r} holds {kind} values; text or numbers are needed.")
        if kind == "boolean" and wanted.is_numeric(name):
            cells = cells.astype("Int64")
        numeric = kind in ("integer", "floating", "mixed-integer-float", "decimal")
        if wanted.is_numeric(name, unless_schema=numeric):
            columns[name] = wanted.numbers(name, cells, lambda row: f"row {row + 1}")
        else:
            columns[name] = _text(cells, wanted.tokens[0])
    return pd.DataFrame(columns, columns=chosen)


_KINDS = (
    "string",
    "integer",
    "floating",
    "mixed-integer-float",
    "decimal",
    "boolean",
    "categorical",
    "empty",
)


def _text(cells: pd.Series[Any], missing: str) -> pd.Series[Any]:
    """The cells as str objects; 2.0 is written '2', since pandas stores whole numbers with gaps as floats."""
    import pandas as pd

    def write(value: Any) -> str:
        if isinstance(value, str):
            return value.strip()
        whole = isinstance(value, float) and value.is_integer()
        return str(int(value)) if whole else str(value)

    plain = cells.astype(object)
    words = [missing if pd.isna(v) else write(v) for v in plain]
    return pd.Series(words, name=cells.name, dtype=object)
