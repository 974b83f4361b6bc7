"""Comma- and tab-separated text.

The file is read twice: once by the csv module, which sees rows of a wrong length that pandas would fill
up in silence, and once by pandas' C parser for speed. A file with bare carriage returns is read by the csv
module alone: where one ends a blank line, pandas takes the row behind it to begin with its second cell.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.errors import InputError
from dpcore.readers.columns import Wanted
from dpcore.readers.files import lines, opened

if TYPE_CHECKING:
    import pandas as pd


def read_delimited(path: Path, wanted: Wanted, separator: str) -> pd.DataFrame:
    """The wanted columns of a CSV or TSV file."""
    import pandas as pd

    names, rows, bare = _scan(path, separator)
    chosen = wanted.columns(names)
    if rows == 0:
        raise wanted.no_rows()
    numeric = [n for n in chosen if wanted.is_numeric(n)]
    try:
        if bare:
            frame = _plainly(path, separator, names, chosen)
        else:
            frame = _parse(path, separator, names, chosen, dict.fromkeys(numeric, wanted.tokens))
            if any(frame[n].dtype.kind not in "iuf" for n in numeric):  # a cell that is no number, or a blank
                frame = _parse(path, separator, names, chosen, {})
        if len(frame) != rows:
            raise pd.errors.ParserError
    except pd.errors.ParserError:
        raise InputError(f"{str(path)!r} is not well-formed: are all quotes closed?") from None

    def place(row: int) -> str:
        return f"line {_line(path, separator, row)}"

    columns: dict[str, Any] = {}
    for name in chosen:
        cells = frame[name]
        columns[name] = wanted.numbers(name, cells, place) if name in numeric else _stripped(cells)
    return pd.DataFrame(columns, columns=chosen)


def _parse(
    path: Path, separator: str, names: list[str], chosen: list[str], numeric: dict[str, tuple[str, ...]]
) -> pd.DataFrame:
    """The chosen columns: text as written, and numeric ones of whatever type pandas finds in them."""
    import pandas as pd

    types: Any = {n: object for n in chosen if n not in numeric}
    return pd.read_csv(
        path,
        sep=separator,
        names=names,
        header=0,
        usecols=chosen,
        dtype=types,
        keep_default_na=False,
        na_values={n: list(tokens) for n, tokens in numeric.items()},
        skipinitialspace=True,
        index_col=False,
        encoding="utf-8-sig",
        engine="c",
        low_memory=False,
    )


def _plainly(path: Path, separator: str, names: list[str], chosen: list[str]) -> pd.DataFrame:
    """The chosen columns as text, by the csv module."""
    import pandas as pd

    places = [names.index(name) for name in chosen]
    with opened(path) as stream:
        records = _records(lines(path, stream), separator)
        next(records)
        cells = [[record[at] for at in places] for _, record in records]
    return pd.DataFrame(cells, columns=chosen, dtype=object)


def _stripped(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Text without surrounding blanks; only the different values are looked at."""
    import numpy as np
    import pandas as pd

    codes, values = pd.factorize(cells.to_numpy(dtype=object))
    words = np.array([v.strip() for v in values], dtype=object)
    return pd.Series(words.take(codes), name=cells.name, dtype=object)


def _records(text: Iterator[str], separator: str) -> Iterator[tuple[int, list[str]]]:
    """The rows that are not blank, each with the line on which it starts."""
    reader = csv.reader(text, delimiter=separator, skipinitialspace=True)
    start = 1
    for record in reader:
        if record and (len(record) > 1 or record[0].strip()):
            yield start, record
        start = reader.line_num + 1


def _scan(path: Path, separator: str) -> tuple[list[str], int, bool]:
    """The header's names, the number of rows (all as long as the header), and whether carriage returns stand alone."""
    with opened(path) as stream:
        records = _records(lines(path, stream), separator)
        try:
            _, header = next(records)
        except StopIteration:
            raise InputError(f"{str(path)!r} is empty.") from None
        rows, width = 0, len(header)
        for line, record in records:
            if len(record) != width:
                raise InputError(f"{str(path)!r}: line {line} has {len(record)} cells, the header has {width}.")
            rows += 1
        ends = stream.newlines or ()
    return [name.strip() for name in header], rows, "\r" in ((ends,) if isinstance(ends, str) else ends)


def _line(path: Path, separator: str, row: int) -> int:
    with opened(path) as stream:
        for index, (line, _) in enumerate(_records(lines(path, stream), separator)):
            if index == row + 1:  # the header is the first record
                return line
    raise AssertionError("the row was there a moment ago")
