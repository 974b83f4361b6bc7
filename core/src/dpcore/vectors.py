"""Rows in memory as vectors for a linear model: equal rows counted once, in blocks that stay in cache.

A vector of one-hot parts has as many entries as there are parts, whatever its width, so blocks are sparse (SciPy's CSR,
with one entry a part). Where rows are too many to keep them all that way, blocks are made again for each pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dpcore.features import FeatureMap
from dpcore.partition import View
from dpcore.risk import Design, Vectors

if TYPE_CHECKING:
    from dpcore.table import Rows

_BLOCK = 8192
_KEPT = 2**25
"""Entries, of 12 bytes each, that are kept instead of being made again."""


class RowVectors(Vectors):
    """The vectors of some rows.

    Args:
        rows: encoded rows with the class column.
        design: how they become vectors.
    """

    def __init__(self, rows: Rows, design: Design) -> None:
        super().__init__()
        self._features = design.features
        self._classes = design.target.cells
        labels = rows.columns[design.target.name].astype(np.intp)
        first, place = _distinct(rows, design.features)
        if first is None:
            self._rows, self._counts = rows, None
            self._labels = labels
        else:
            many = len(first)
            cells = np.bincount(place * self._classes + labels, minlength=many * self._classes)
            self._rows, self._counts = rows.take(first), cells.reshape(many, self._classes)
        entries = self._rows.size * design.features.entries
        self._blocks: list[tuple[Any, npt.NDArray[np.int64]]] | None = None
        self.kept = entries <= _KEPT
        if self.kept:
            self._blocks = list(self._made())

    def blocks(self) -> Iterator[tuple[Any, npt.NDArray[np.int64]]]:
        return self._made() if self._blocks is None else iter(self._blocks)

    def _made(self) -> Iterator[tuple[Any, npt.NDArray[np.int64]]]:
        for where, view in self._rows.blocks(_BLOCK):
            size = where.stop - where.start
            if self._counts is not None:
                counts = self._counts[where]
            else:
                counts = np.zeros((size, self._classes), dtype=np.int64)
                counts[np.arange(size), self._labels[where]] = 1
            yield matrix(self._features, view, size), counts


def matrix(features: FeatureMap, view: View, size: int) -> Any:
    """A block of vectors: dense where every part has one place, otherwise CSR."""
    places, numbers = features.encode(view, size)
    if features.dense:
        return numbers
    from scipy.sparse import csr_array

    ends = np.arange(0, places.size + 1, places.shape[1], dtype=np.int32)
    return csr_array((numbers.ravel(), places.ravel(), ends), shape=(size, features.width))


def _distinct(rows: Rows, features: FeatureMap) -> tuple[npt.NDArray[np.intp] | None, npt.NDArray[np.intp]]:
    """One row for each distinct vector, and which of them every row has; None where few rows are equal."""
    import pandas as pd

    place = np.zeros(rows.size, dtype=np.intp)
    many = min(1, rows.size)
    for part in features.parts:
        found = [part.telling(view) for _, view in rows.blocks()]
        telling, values = pd.factorize(np.concatenate(found) if found else np.empty(0))
        place, distinct = pd.factorize(place * max(1, len(values)) + telling)
        many = len(distinct)
        if many > rows.size // 2:
            return None, place
    first = np.empty(many, dtype=np.intp)
    first[place[::-1]] = np.arange(rows.size - 1, -1, -1)
    return first, place
