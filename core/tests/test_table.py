"""A table answers exactly, once, read-only; and its errors never hold a value."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.errors import InputError
from dpcore.partition import EqualBins, Values
from dpcore.query import CellCount, Choice, Counts, Means, Query, Sums, Variances
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows, nominal_codes, smallest_unsigned

COLOUR = Nominal("colour", ("red", "green", "blue"), missing=True)
AGE = Numeric("age", 0, 99.7, missing=True)
TARGET = Nominal("class", ("no", "yes"))
SCHEMA = Schema((COLOUR, AGE), TARGET)
BY = Values(COLOUR) * Values(TARGET)
QUERIES: list[Query] = [
    Counts(BY),
    Counts(EqualBins(AGE, 7) * Values(TARGET)),
    Sums(AGE, BY),
    Sums(AGE, Values(TARGET), power=2),
    Means(AGE, Values(TARGET)),
    Variances(AGE, BY),
    Choice(Counts(BY), CellCount()),
]


def rows(size: int = 50, seed: int = 0) -> Rows:
    """Random rows with missing cells."""
    rng = np.random.default_rng(seed)
    age = np.where(rng.random(size) < 0.1, np.nan, rng.uniform(-20, 130, size))
    columns = {"colour": rng.integers(0, 4, size, np.uint8), "age": age, "class": rng.integers(0, 2, size, np.uint8)}
    return Rows(SCHEMA, columns, size)


class Small(Rows):
    """Rows that come in blocks of another size."""

    def blocks(self, block: int = 7) -> Any:
        return super().blocks(7)


class Counting(MemoryTable):
    """A table that notes each pass over its rows."""

    def __init__(self, of: Rows) -> None:
        super().__init__(of)
        self.passes: list[list[Query]] = []

    def aggregate(self, queries: Any) -> Any:
        self.passes.append(list(queries))
        return super().aggregate(queries)


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 60), st.integers(0, 10**6))
def test_answers_equal_a_group_by(size: int, seed: int) -> None:
    made = rows(size, seed)
    table = MemoryTable(made)
    frame = pd.DataFrame(dict(made.columns))
    frame["z"] = Sums(AGE, BY).terms(frame["age"].to_numpy())
    groups = frame.groupby(["colour", "class"])
    counts, sums = np.zeros((4, 2), int), np.zeros((4, 2), int)
    for (colour, label), group in groups:
        counts[colour, label], sums[colour, label] = len(group), int(group["z"].sum())
    assert table.answer(Counts(BY)).tolist() == counts.tolist()
    assert table.answer(Sums(AGE, BY)).tolist() == sums.tolist()
    edges = EqualBins(AGE, 4).edges()
    cells = np.where(frame["age"].isna(), 4, np.clip(np.searchsorted(edges, frame["age"], "right") - 1, 0, 3))
    assert table.answer(Counts(EqualBins(AGE, 4))).tolist() == np.bincount(cells.astype(int), minlength=5).tolist()


@pytest.mark.parametrize("size", [0, 1, 6, 7, 8, 8191, 8192, 8193, 20_000])
def test_the_block_size_does_not_matter(size: int) -> None:
    made = rows(size)
    one, other = MemoryTable(made), MemoryTable(Small(made.schema, made.columns, made.size))
    for query in QUERIES:
        assert (one.answer(query) == other.answer(query)).all()
        assert one.answer(query).dtype == other.answer(query).dtype


def test_strided_columns_give_the_same_answers() -> None:
    made = rows(100)
    wide = {name: np.repeat(column, 3)[::3] for name, column in made.columns.items()}
    assert not wide["age"].flags.c_contiguous
    for query in QUERIES:
        expected = MemoryTable(made).answer(query)
        assert (MemoryTable(attrs.evolve(made, columns=wide)).answer(query) == expected).all()


def test_warming_takes_one_pass_and_no_answer_takes_another() -> None:
    made = rows()
    expected = [MemoryTable(made).answer(query) for query in QUERIES]
    table = Counting(made)
    table.warm(QUERIES)
    assert len(table.passes) == 1
    assert len({*table.passes[0]}) == len(table.passes[0])
    for column in made.columns.values():  # whatever reads the rows again, now gets something else
        column[:] = 0
    table.warm(QUERIES)
    for query, exact in zip(QUERIES, expected, strict=True):
        assert (table.answer(query) == exact).all()
        assert table.answer(query) is table.answer(query)
    assert len(table.passes) == 1


def test_a_second_ask_without_warming_does_not_touch_the_rows() -> None:
    table = Counting(rows())
    first = [table.answer(query) for query in QUERIES]
    passes = len(table.passes)
    assert all(again is exact for again, exact in zip(map(table.answer, QUERIES), first, strict=True))
    assert len(table.passes) == passes


@pytest.mark.parametrize("warm", [True, False])
@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.describe())
def test_answers_cannot_be_written_to(query: Query, warm: bool) -> None:
    table = MemoryTable(rows())
    if warm:
        table.warm([query])
    with pytest.raises(ValueError, match="read-only"):
        table.answer(query)[...] = 0


@attrs.frozen
class Unheard(Query):
    """A kind that no table knows."""

    kind = "unheard"
    shape = ()

    def describe(self) -> str:
        return "something else"


def test_an_unknown_kind_is_refused_and_nothing_is_remembered() -> None:
    table = MemoryTable(rows())
    for ask in (lambda: table.answer(Unheard()), lambda: table.warm([Counts(BY), Unheard()])):
        with pytest.raises(InputError, match="'unheard'"):
            ask()
    assert table.answer(Counts(BY)).sum() == 50


def test_a_table_needs_the_class_column() -> None:
    made = rows()
    with pytest.raises(InputError, match="'class'"):
        MemoryTable(Rows(SCHEMA, {n: c for n, c in made.columns.items() if n != "class"}, made.size))


def test_taking_rows_keeps_their_order() -> None:
    made = rows()
    taken = made.take(np.array([3, 1, 1]))
    assert taken.size == 3
    assert taken.columns["colour"].tolist() == made.columns["colour"][[3, 1, 1]].tolist()


DIGITS = Nominal("digit", ("1", "2", "30"), missing=True)


@pytest.mark.parametrize(
    "values",
    [
        ["1", "30", "2", None],
        [1.0, 30.0, 2.0, np.nan],
        pd.Series([1, 30, 2, pd.NA], dtype="Int64"),
        pd.Series([1.0, 30.0, 2.0, None], dtype="Float64"),
        pd.Series([1.0, 30, "2", None], dtype=object),
        pd.Series(["1", "30", "2", None], dtype="category"),
        pd.Series([1, 30, 2, None], dtype="category"),
        pd.Series(["1", "30", "2", None], dtype="string"),
        np.array([1, 30, 2, 77]),
        np.array([1, 30, 2, np.inf]),
        np.array([1, 30, 2, 2.5], dtype=np.float32),
    ],
    ids=lambda values: f"{type(values).__name__} {getattr(values, 'dtype', '')}",
)
def test_a_category_is_known_by_its_text_whatever_its_type(values: Any) -> None:
    for strict in (True, False):
        assert nominal_codes(values, DIGITS, strict=strict).tolist() == [0, 2, 1, 3]


def test_truth_values_are_known_by_their_text() -> None:
    flag = Nominal("flag", ("False", "True"))
    for values in ([True, False], np.array([True, False]), pd.Series([True, False], dtype="boolean")):
        assert nominal_codes(values, flag, strict=True).tolist() == [1, 0]


def test_an_unknown_category_is_refused_by_name_and_number_never_by_value() -> None:
    canary = "CANARY-73519"
    lettered = Nominal("letter", ("a", "b"))
    values = pd.Series(["a", canary, "b", canary, None])
    with pytest.raises(InputError) as caught:
        nominal_codes(values, lettered, strict=True)
    assert "'letter'" in str(caught.value)
    assert "3 cells" in str(caught.value)
    assert canary not in f"{caught.value}{caught.value.__cause__}{caught.value.__context__}"
    assert nominal_codes(values, lettered, strict=False).tolist() == [0, 2, 1, 2, 2]


@pytest.mark.parametrize("cells", [1, 254, 255, 256, 65535, 65536])
def test_the_code_type_holds_every_cell_and_nothing_known(cells: int) -> None:
    assert np.iinfo(smallest_unsigned(cells)).max >= cells


def test_parts_that_queries_share_are_coded_once_a_block_and_dear_ones_once_a_table() -> None:
    counted: list[str] = []

    @attrs.frozen
    class Cheap(Values):
        def codes(self, view: Any) -> Any:
            counted.append("cheap")
            return super().codes(view)

    @attrs.frozen
    class Dear(Values):
        keeps = True

        def codes(self, view: Any) -> Any:
            counted.append("dear")
            return super().codes(view)

    table = MemoryTable(rows(10_000))  # two blocks
    cheap, dear, ages = Cheap(COLOUR), Dear(TARGET), EqualBins(AGE, 3)
    first, second = Counts(cheap * dear), Counts(cheap * ages * dear)
    table.warm([first, second])
    assert (counted.count("cheap"), counted.count("dear")) == (2, 2)
    again = table.answer(Counts(ages * dear))
    assert counted.count("dear") == 2
    plain = MemoryTable(rows(10_000))
    assert (again == plain.answer(Counts(ages * Values(TARGET)))).all()
    assert (table.answer(first) == plain.answer(Counts(BY))).all()
    assert (table.answer(second) == plain.answer(Counts(Values(COLOUR) * ages * Values(TARGET)))).all()


def test_answers_that_were_not_used_for_long_are_forgotten_and_found_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcore.table._MOST", 8 * 25)
    table = MemoryTable(rows())
    small, large = Counts(Values(COLOUR)), [Counts(EqualBins(AGE, bins)) for bins in (15, 16)]
    kept = table.answer(small)
    before = table.answer(large[0])
    assert table.answer(small) is kept
    table.answer(large[1])  # takes the place of the first large one
    assert table.answer(small) is kept
    after = table.answer(large[0])
    assert after is not before
    assert (after == before).all()
