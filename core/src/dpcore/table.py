"""Where rows live. A table answers queries exactly; only the curator holds one.

`MemoryTable` keeps nominal columns as small unsigned codes and numeric ones as they came (a view where it
can), reads them in blocks that stay in cache, and remembers exact answers: asking again for another
epsilon or repeat costs nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.errors import InputError
from dpcore.partition import Partition, codes_of
from dpcore.query import Counts, Exact, Query, Sums
from dpcore.risk import Design, boxed
from dpcore.schema import Nominal, Schema
from dpcore.vectors import RowVectors

if TYPE_CHECKING:
    import pandas as pd

_BLOCK = 8192
_MOST = 1 << 28
"""Bytes of exact answers that a table remembers; the longest unused are forgotten first."""

_Kept = dict[Partition, npt.NDArray[Any]]


@attrs.frozen(eq=False)
class Rows:
    """Encoded rows: one array a column, as `partition.View` describes.

    Args:
        schema: what the columns mean.
        columns: name -> array of length `size`; the class column may be absent.
        size: the number of rows.
    """

    schema: Schema
    columns: Mapping[str, npt.NDArray[Any]]
    size: int

    def blocks(self, block: int = _BLOCK) -> Iterator[tuple[slice, dict[str, npt.NDArray[Any]]]]:
        """The rows piece by piece: where a piece stands, and its columns."""
        for where in self.places(block):
            yield where, _Lazy(self.columns, where)

    def places(self, block: int = _BLOCK) -> Iterator[slice]:
        """Where the pieces stand."""
        for start in range(0, self.size, block):
            yield slice(start, min(start + block, self.size))

    def take(self, index: npt.NDArray[np.intp]) -> Rows:
        """These rows only, in this order."""
        return Rows(self.schema, {n: c[index] for n, c in self.columns.items()}, len(index))


class _Lazy(dict[str, npt.NDArray[Any]]):
    """A block's columns, made contiguous when first used, so that an unused column costs nothing."""

    def __init__(self, columns: Mapping[str, npt.NDArray[Any]], where: slice) -> None:
        self._columns, self._where = columns, where

    def __missing__(self, name: str) -> npt.NDArray[Any]:
        self[name] = block = np.ascontiguousarray(self._columns[name][self._where])
        return block


class _Block(_Lazy):
    """A block of a table: it remembers the codes of partitions while it is worked on.

    Args:
        kept: codes of all rows, from earlier passes.
        fresh: the same, being filled in this pass.
    """

    def __init__(
        self, columns: Mapping[str, npt.NDArray[Any]], where: slice, size: int, kept: _Kept, fresh: _Kept
    ) -> None:
        super().__init__(columns, where)
        self._size, self._kept, self._fresh = size, kept, fresh
        self._codes: dict[Partition, npt.NDArray[np.intp]] = {}

    def remembered(self, part: Partition) -> npt.NDArray[np.intp]:
        """See `partition.codes_of`."""
        if part not in self._codes:
            kept = self._kept.get(part)
            self._codes[part] = part.codes(self) if kept is None else kept[self._where].astype(np.intp)
            if kept is None and part.keeps:
                if part not in self._fresh:
                    self._fresh[part] = np.empty(self._size, smallest_unsigned(part.size))
                self._fresh[part][self._where] = self._codes[part]
        return self._codes[part]


class Table(ABC):
    """Rows that can be asked. The number of rows is private and is no part of the contract."""

    schema: Schema

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._memory: dict[Query, Exact] = {}
        self._bytes = 0

    def answer(self, query: Query) -> Exact:
        """The exact answer, whole numbers in units of `query.grid` (or scores for a choice).

        Raises:
            InputError: if the table cannot answer this kind.
        """
        if query in self._memory:
            self._memory[query] = exact = self._memory.pop(query)  # the last used stands last
            return exact
        if query.requires:
            exact = query.combine(*(self.answer(needed) for needed in query.requires))
        else:
            exact = self.aggregate([query])[0]
        if query.kept:
            self._remember(query, exact)
        return exact

    def warm(self, queries: Iterable[Query]) -> None:
        """Answer many queries in one pass, for `answer` to remember."""
        needed = dict.fromkeys(q for query in queries for q in _base(query) if q not in self._memory)
        for query, exact in zip(needed, self.aggregate(list(needed)) if needed else (), strict=True):
            self._remember(query, exact)

    def _remember(self, query: Query, exact: Exact) -> None:
        exact.setflags(write=False)
        self._memory[query] = exact
        self._bytes += exact.nbytes
        while self._bytes > _MOST and len(self._memory) > 1:
            self._bytes -= self._memory.pop(next(iter(self._memory))).nbytes

    @abstractmethod
    def aggregate(self, queries: Sequence[Query]) -> list[Exact]:
        """Exact answers to queries of the kinds that tables answer themselves, in one pass if it can."""


class TableOpener(ABC):
    """What the hook `dpcore_tables` names: opens rows that live elsewhere, by the scheme of a URI."""

    schemes: ClassVar[tuple[str, ...]]
    """What stands before `://`, for every form of URI that it opens."""

    @abstractmethod
    def open(self, uri: str, schema: Schema) -> Table:
        """The table at `uri`, checked against the schema.

        Raises:
            InputError: if it cannot be opened, or its rows do not fit the schema.
        """


def _base(query: Query) -> Iterator[Query]:
    if not query.requires:
        yield query
    for needed in query.requires:
        yield from _base(needed)


class MemoryTable(Table):
    """Rows in memory.

    Args:
        rows: encoded rows with the class column; all codes and values known or declared missing.
    """

    def __init__(self, rows: Rows) -> None:
        super().__init__(rows.schema)
        if rows.schema.target.name not in rows.columns:
            raise InputError(f"the rows lack the class column {rows.schema.target.name!r}.")
        self._rows = rows
        self._kept: _Kept = {}

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, schema: Schema) -> MemoryTable:
        """Rows of a frame whose columns, the class among them, are named as in the schema.

        Raises:
            InputError: for a missing column, or a value that the schema does not allow.
        """
        from dpcore.encode import encode

        return cls(encode(frame, schema))

    def aggregate(self, queries: Sequence[Query]) -> list[Exact]:
        designs = {query: boxed(RowVectors(self._rows, query)) for query in queries if isinstance(query, Design)}
        summed = iter(self._sum([query for query in queries if query not in designs]))
        return [designs[query] if isinstance(query, Design) else next(summed) for query in queries]

    def _sum(self, queries: Sequence[Query]) -> list[Exact]:
        for query in queries:
            if not isinstance(query, (Counts, Sums)):
                raise InputError(f"a table in memory cannot answer {query.kind!r} queries.")
        totals = [np.zeros(query.cells, dtype=np.int64) for query in queries]
        fresh: _Kept = {}
        for where in self._rows.places():
            view = _Block(self._rows.columns, where, self._rows.size, self._kept, fresh)
            for query, total in zip(queries, totals, strict=True):
                by = query.partition if isinstance(query, Counts) else query.by  # type: ignore[attr-defined]
                codes = codes_of(by, view)
                if isinstance(query, Counts):
                    np.add(total, np.bincount(codes, minlength=query.cells), out=total)
                elif isinstance(query, Sums):
                    terms = query.terms(view[query.attribute.name])
                    # below 2^25 · 8192 a float64 holds every whole number: the sum is exact
                    sums = np.bincount(codes, weights=terms, minlength=query.cells)
                    np.add(total, sums.astype(np.int64), out=total)
        self._kept |= fresh
        return [total.reshape(query.shape) for total, query in zip(totals, queries, strict=True)]


def smallest_unsigned(cells: int) -> type[np.unsignedinteger[Any]]:
    """The smallest unsigned type that holds the codes 0 … cells (`cells` itself is "nothing known")."""
    return np.uint8 if cells < 2**8 else np.uint16 if cells < 2**16 else np.uint32


def nominal_codes(values: Any, attribute: Nominal, *, strict: bool) -> npt.NDArray[Any]:
    """Codes of a nominal column.

    A missing cell, or a value outside the list, goes to the attribute's missing cell. Where it has none,
    `strict` refuses, and otherwise it becomes `attribute.cells`: nothing known.

    Raises:
        InputError: naming the attribute and how many cells are wrong, never a value.
    """
    try:
        codes = _places(values, attribute)
    except Exception:  # an object's own methods may do anything; what they say may hold its value
        raise InputError(f"attribute {attribute.name!r} holds objects that are neither texts nor numbers.") from None
    known = codes >= 0
    if not known.all():
        if strict and not attribute.missing:
            wrong = np.flatnonzero(~known)
            many = f"{len(wrong)} cells (the first in row {wrong[0] + 1}) hold"
            few = f"1 cell (row {wrong[0] + 1}) holds"
            raise InputError(
                f"attribute {attribute.name!r}: {many if len(wrong) > 1 else few} a value that its list of "
                f"{len(attribute.values)} values lacks."
            )
        codes[~known] = attribute.cells - 1 if attribute.missing else attribute.cells
    return codes.astype(smallest_unsigned(attribute.cells))


def _places(values: Any, attribute: Nominal) -> npt.NDArray[np.intp]:
    """Where each cell's text stands in the attribute's list, -1 for nowhere."""
    import pandas as pd

    series = values if isinstance(values, pd.Series) else pd.Series(values)
    with np.errstate(over="ignore"):
        # text is made of the distinct values only
        places, distinct = pd.factorize(series)
        found = pd.Index(attribute.values).get_indexer(pd.Index(_as_text(pd.Series(distinct))))
    return np.append(found, -1)[places]


def _as_text(series: pd.Series) -> pd.Series:
    """Values as text, whole floats without their '.0', so that 1, 1.0 and '1' are one category."""
    import pandas as pd

    if isinstance(series.dtype, pd.CategoricalDtype):
        series = series.astype(series.cat.categories.dtype)
    if pd.api.types.is_bool_dtype(series.dtype) or not pd.api.types.is_numeric_dtype(series.dtype):
        return series.map(_word, na_action="ignore")
    if pd.api.types.is_float_dtype(series.dtype):
        whole = series.notna() & (series % 1 == 0) & (series.abs() < 2**53)
        text = series.map(str, na_action="ignore").astype(object)
        text[whole] = series[whole].astype("int64").map(str)
        return text
    return series.map(str, na_action="ignore")


def _word(value: Any) -> str:
    """The text of one object; a whole float may stand among other things."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
