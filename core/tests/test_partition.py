"""Every row falls in exactly one cell; so one person moves a histogram by 1 (add-remove) or 2 (replace-one)."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.errors import SchemaError
from dpcore.partition import CutBins, EqualBins, Groups, Partition, Product, Values, level
from dpcore.query import Counts
from dpcore.schema import Nominal, Numeric, Schema, Taxonomy
from dpcore.table import MemoryTable, Rows

LETTERS = "abcdefg"


@st.composite
def parts(draw: st.DrawFn, name: str) -> Partition:
    """A partition of one attribute."""
    missing = draw(st.booleans())
    if draw(st.booleans()):
        nominal = Nominal(name, tuple(LETTERS[: draw(st.integers(1, 7))]), missing)
        if draw(st.booleans()):
            return Values(nominal)
        place = [draw(st.integers(0, 2)) for _ in nominal.values]
        groups = [tuple(v for v, g in zip(nominal.values, place, strict=True) if g == k) for k in range(3)]
        return Groups(nominal, tuple(g for g in groups if g))
    lower = draw(st.floats(-1e6, 1e6))
    numeric = Numeric(name, lower, lower + draw(st.floats(0.1, 1e6)), missing=missing)
    if draw(st.booleans()):
        return EqualBins(numeric, draw(st.integers(1, 9)))
    return CutBins(numeric, sorted({numeric.lower + numeric.width * draw(st.floats(0, 1)) for _ in range(3)}))


@st.composite
def views(draw: st.DrawFn, part: Any, *, unknown: bool = False) -> np.ndarray:
    """Rows of the domain of one attribute; with `unknown`, some of which nothing is known."""
    a = part.attribute
    if isinstance(a, Nominal):
        code = st.integers(0, a.cells - (0 if unknown else 1))
        return np.array(draw(st.lists(code, min_size=5, max_size=5)), np.uint8)
    number = st.floats(-1e100, 1e100) | st.sampled_from([a.lower, a.upper, a.middle, -0.0, math.inf, -math.inf])
    if unknown or a.missing:
        number |= st.just(math.nan)
    return np.array(draw(st.lists(number, min_size=5, max_size=5)))


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_every_row_of_the_domain_falls_in_exactly_one_cell_and_products_are_ravelled(data: st.DataObject) -> None:
    several = [data.draw(parts(str(i))) for i in range(3)]
    view = {str(i): data.draw(views(part)) for i, part in enumerate(several)}
    codes = [part.codes(view) for part in several]
    for part, cells in zip(several, codes, strict=True):
        assert cells.shape == (5,)
        assert np.issubdtype(cells.dtype, np.integer)
        assert ((cells >= 0) & (cells < part.size)).all()
        assert len(part.labels()) == part.size
    flat = Product(several)
    expected = np.ravel_multi_index(codes, flat.shape)
    assert flat.shape == tuple(part.size for part in several)
    for product in (flat, several[0] * several[1] * several[2], several[0] * (several[1] * several[2])):
        assert (product.codes(view) == expected).all()
        assert product.size == math.prod(product.shape) == len(product.labels())
    assert flat.attributes == ("0", "1", "2")


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_a_row_of_which_nothing_is_known_falls_outside_and_the_missing_cell_is_last(data: st.DataObject) -> None:
    several = [data.draw(parts(str(i))) for i in range(2)]
    view = {str(i): data.draw(views(part, unknown=True)) for i, part in enumerate(several)}
    lost = np.zeros(5, bool)
    for part in several:
        a, column, cells = part.attribute, view[part.attribute.name], part.codes(view)
        missing = column == len(a.values) if isinstance(a, Nominal) else np.isnan(column)
        if a.missing:
            assert ((cells == part.size - 1) == missing).all()
            assert part.labels()[-1] == "(missing)"
            outside = column > len(a.values) if isinstance(a, Nominal) else np.zeros(5, bool)
        else:
            outside = missing
        assert ((cells >= part.size) == outside).all()
        lost |= outside
    product = Product(several)
    assert ((product.codes(view) >= product.size) == lost).all()


@settings(deadline=None, max_examples=300)
@given(st.floats(-1e6, 1e6), st.floats(0.1, 1e6), st.integers(1, 100), st.floats(0, 1))
def test_equal_bins_agree_with_their_edges_up_to_rounding_at_an_edge(
    lower: float, width: float, bins: int, where: float
) -> None:
    a = Numeric("x", lower, lower + width)
    part = EqualBins(a, bins)
    x = min(a.lower + a.width * where, a.upper)
    (cell,) = part.codes({"x": np.array([x])})
    edges, slack = part.edges(), 1e-12 * (abs(lower) + width)
    assert len(edges) == bins + 1
    assert edges[cell] - slack <= x <= edges[cell + 1] + slack
    outside = part.codes({"x": np.array([a.lower - 1, a.upper, a.upper + 1])})
    assert outside.tolist() == [0, bins - 1, bins - 1]


@given(st.integers(-(10**6), 10**6), st.integers(1, 300), st.sampled_from([np.int64, np.float64, np.float32]))
def test_a_bin_a_whole_number_holds_that_number_alone(lower: int, width: int, dtype: type) -> None:
    a = Numeric("x", lower, lower + width, integer=True)
    x = np.arange(lower, lower + width + 1).astype(dtype)
    assert EqualBins(a, width + 1).codes({"x": x}).tolist() == list(range(width + 1))


@given(st.lists(st.floats(-10, 10), max_size=5, unique=True).map(sorted), st.lists(st.floats(-20, 20), min_size=1))
def test_the_cell_between_cut_points_is_how_many_are_not_above(cuts: list[float], x: list[float]) -> None:
    part = CutBins(Numeric("x", -10, 10, missing=True), cuts)
    expected = [sum(c <= value for c in cuts) for value in x]
    assert part.codes({"x": np.array([*x, math.nan])}).tolist() == [*expected, len(cuts) + 1]


@pytest.mark.parametrize("cuts", [(1, 1), (2, 1), (math.nan, 1), (0, math.nan)])
def test_cut_points_that_do_not_increase_are_refused(cuts: tuple[float, ...]) -> None:
    with pytest.raises(SchemaError, match="increase"):
        CutBins(Numeric("x", 0, 10), cuts)


def test_a_taxonomy_level_puts_rows_where_its_groups_say() -> None:
    colour = Nominal("colour", ("red", "green", "blue"), missing=True)
    tree = Taxonomy("colour", ((("blue", "red"), ("green",)), (("red",), ("green",), ("blue",))))
    codes = np.array([0, 1, 2, 3, 4], np.uint8)  # 3 is missing, 4 unknown
    assert level(colour, tree, 1).codes({"colour": codes}).tolist() == [0, 1, 0, 2, 3]
    assert level(colour, tree, 2).codes({"colour": codes}).tolist() == [0, 1, 2, 3, 4]
    assert level(colour, tree, 1).labels() == ["blue|red", "green", "(missing)"]
    age = Numeric("age", 0, 100)
    tree = Taxonomy("age", (((0, 30), (30, 60), (60, 101)),))
    x = np.array([-5, 0, 29.99, 30, 59, 60, 100, 500])
    assert level(age, tree, 1).codes({"age": x}).tolist() == [0, 0, 0, 1, 1, 2, 2, 2]
    for depth in (0, 2):
        with pytest.raises(SchemaError, match="levels 1 to 1"):
            level(age, tree, depth)
    with pytest.raises(SchemaError, match="exactly one group"):
        Groups(colour, (("red",),))


NOMINAL = Nominal("n", ("p", "q"), missing=True)
NUMERIC = Numeric("x", 0, 3, missing=True)
TARGET = Nominal("c", ("no", "yes"))
SCHEMA = Schema((NOMINAL, NUMERIC), TARGET)
DOMAIN = list(itertools.product((0, 1, 2), (0.0, 3.0, math.nan), (0, 1)))
TREES = Taxonomy("n", ((("p", "q"),),)), Taxonomy("x", (((0, 1), (1, 4)),))
PARTITIONS = {
    "nominal": Values(NOMINAL),
    "binned": EqualBins(NUMERIC, 3),
    "product": Values(NOMINAL) * EqualBins(NUMERIC, 2) * Values(TARGET),
    "taxonomy": level(NOMINAL, TREES[0], 1) * level(NUMERIC, TREES[1], 1),
    "one attribute twice": Values(TARGET) * Values(TARGET),
}


@pytest.mark.parametrize("part", PARTITIONS.values(), ids=PARTITIONS)
def test_one_person_moves_a_histogram_by_one_or_by_two_over_all_small_tables(part: Partition) -> None:
    known: dict[tuple[int, ...], np.ndarray] = {}
    for size in range(4):
        for rows in itertools.combinations_with_replacement(range(len(DOMAIN)), size):
            n, x, c = (np.array([DOMAIN[r][i] for r in rows]) for i in range(3))
            columns = {"n": n.astype(np.uint8), "x": x.astype(float), "c": c.astype(np.uint8)}
            known[rows] = MemoryTable(Rows(SCHEMA, columns, size)).answer(Counts(part))
            assert known[rows].sum() == size
    add_remove: Counter[int] = Counter()
    replace_one: Counter[int] = Counter()
    for rows, counts in known.items():
        for i in range(len(rows)):
            rest = rows[:i] + rows[i + 1 :]
            add_remove[int(np.abs(counts - known[rest]).sum())] += 1
            for new in range(len(DOMAIN)):
                other = known[tuple(sorted((*rest, new)))]
                replace_one[int(np.abs(counts - other).sum())] += 1
    assert set(add_remove) == {1}
    assert set(replace_one) == {0, 2}
