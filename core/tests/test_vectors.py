"""Rows in memory become the same vectors, counted as often, however they are grouped, cut up and kept."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore import vectors
from dpcore.features import FeatureMap, Lookup, OneHot, Scaled
from dpcore.partition import EqualBins, Values
from dpcore.risk import Design
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows

COLOUR = Nominal("colour", ("r", "g", "b"), missing=True)
AGE = Numeric("age", 0.0, 10.0, missing=True)
TARGET = Nominal("class", ("x", "y", "z"))
SCHEMA = Schema((COLOUR, AGE), TARGET)
MAPS = {
    "one-hot": FeatureMap([OneHot(Values(COLOUR)), OneHot(EqualBins(AGE, 4))]),
    "scaled": FeatureMap([OneHot(Values(COLOUR)), Scaled(AGE)], 1.0),
    "dense": FeatureMap([Lookup(Values(COLOUR), [0.5, 0.5, -2.0, 0.0]), Scaled(AGE)], 0.7),
    "constant alone": FeatureMap([]),
}
ROW = st.tuples(st.integers(0, 3), st.sampled_from([0.0, 2.5, 9.9, 12.0, math.nan, -0.0, math.inf]), st.integers(0, 2))


def table(rows: list[tuple[int, float, int]]) -> Rows:
    colour, age, label = (np.array(c) for c in zip(*rows, strict=True)) if rows else (np.empty(0),) * 3
    columns = {"colour": colour.astype(np.uint8), "age": age.astype(np.float64), "class": label.astype(np.uint8)}
    return Rows(SCHEMA, columns, len(rows))


def expected(features: FeatureMap, rows: Rows) -> Counter[tuple[Any, ...]]:
    """How many rows of each class have each vector, row by row."""
    places, numbers = features.encode(rows.columns, rows.size)
    found: Counter[tuple[Any, ...]] = Counter()
    for at, values, label in zip(places, numbers, rows.columns["class"].tolist(), strict=True):
        vector = np.zeros(features.width)
        vector[at] = values
        found[*(vector + 0.0).tolist(), label] += 1
    return found


def counted(found: vectors.RowVectors) -> Counter[tuple[Any, ...]]:
    """The same from the blocks."""
    total: Counter[tuple[Any, ...]] = Counter()
    for matrix, counts in found.blocks():
        whole = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        assert len(whole) == len(counts)
        for vector, many in zip(whole + 0.0, counts, strict=True):
            total += Counter({(*vector.tolist(), label): int(n) for label, n in enumerate(many)})
    return total


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("kept", [True, False])
@settings(deadline=None, max_examples=60)
@given(rows=st.lists(ROW, max_size=40) | st.lists(st.sampled_from([(0, 2.5, 1), (3, math.nan, 0)]), max_size=60))
def test_vectors_and_counts_are_those_of_the_rows(name: str, kept: bool, rows: list[tuple[int, float, int]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectors, "_BLOCK", 7)
        patch.setattr(vectors, "_KEPT", 2**20 if kept else -1)
        whole = table(rows)
        found = vectors.RowVectors(whole, Design(MAPS[name], TARGET))
        assert found.kept == kept
        assert counted(found) == counted(found) == expected(MAPS[name], whole)


def test_equal_rows_are_counted_instead_of_repeated() -> None:
    whole = table([(i % 4, 2.5, i % 3) for i in range(1000)])
    found = vectors.RowVectors(whole, Design(MAPS["one-hot"], TARGET))
    assert sum(len(counts) for _, counts in found.blocks()) == 4
    assert sum(counts.sum() for _, counts in found.blocks()) == 1000


def test_a_sparse_block_has_one_entry_a_part() -> None:
    whole = table([(i % 4, i / 100, i % 3) for i in range(1000)])
    for name in ("one-hot", "scaled"):
        for matrix, _ in vectors.RowVectors(whole, Design(MAPS[name], TARGET)).blocks():
            assert matrix.nnz == 3 * matrix.shape[0]


def test_a_table_remembers_its_vectors() -> None:
    asked = Design(MAPS["dense"], TARGET)
    memory = MemoryTable(table([(0, 1.0, 0), (1, 2.0, 1)]))
    assert memory.answer(asked).item() is memory.answer(Design(MAPS["dense"], TARGET)).item()
    assert memory.answer(asked).shape == asked.shape == ()
