"""Exact answers are whole numbers on a public grid: sums in integer arithmetic, moments inside their ranges."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpcore.errors import InputError
from dpcore.partition import EqualBins, Values
from dpcore.privacy import Adjacency
from dpcore.query import CellCount, Choice, Choices, Counts, Deviations, Means, Score, Sums, Variances, power_of_two
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows

TARGET = Nominal("c", ("no", "yes", "maybe"))
CLASSES = Values(TARGET)
ODD = [0.0, -0.0, 1e99, -1e99, math.nan, math.inf, -math.inf]
AWKWARD = [1.0, 0.1, 1.9999, 3.3, 99.7, 1.2345, 7.77, 1e-6 / 3, 1e6 / 7]
"""Widths of which many are no whole number of grid steps."""


@st.composite
def columns(draw: st.DrawFn) -> tuple[Numeric, np.ndarray, np.ndarray]:
    """An attribute, its values (in, at and out of the bounds, missing) and classes."""
    lower = draw(st.floats(-1e6, 1e6) | st.sampled_from([0.0, -0.0]))
    upper = lower + draw(st.floats(1e-3, 1e6) | st.sampled_from(AWKWARD))
    assume(lower + (upper - lower) / 1e9 > lower)
    a = Numeric("x", lower, upper, missing=True)
    edge = [a.lower, a.upper, a.middle, math.nextafter(a.lower, -math.inf), math.nextafter(a.upper, 0)]
    number = st.floats(a.lower, a.upper) | st.sampled_from([*edge, *ODD]) | st.floats(-1e12, 1e12)
    x = draw(st.lists(number, max_size=30))
    c = draw(st.lists(st.integers(0, 1), min_size=len(x), max_size=len(x)))  # "maybe" stays empty
    return a, np.array(x, float), np.array(c, np.uint8)


def ask(query: Any, x: Any, c: Any) -> Any:
    """The exact answer of a table in memory."""
    schema = Schema((query.attribute,), TARGET)
    rows = Rows(schema, {"x": np.asarray(x, float), "c": np.asarray(c, np.uint8)}, len(x))
    return MemoryTable(rows).answer(query)


@settings(deadline=None, max_examples=300)
@given(columns(), st.sampled_from([1, 2]))
def test_terms_are_whole_numbers_close_to_the_clipped_values(case: Any, power: int) -> None:
    a, x, _ = case
    query = Sums(a, CLASSES, power)
    terms = query.terms(x)
    assert query.units < 2**25
    assert query.units * query.grid <= query.largest
    for value, term in zip(x.tolist(), terms.tolist(), strict=True):
        assert term == int(term)
        assert abs(term) <= query.units
        assert power == 1 or term >= 0
        if math.isnan(value):
            assert term == 0
            continue
        clipped = Fraction(min(max(value, a.lower), a.upper))
        true = (clipped - Fraction(a.middle)) ** power / Fraction(query.grid)
        at_bound = abs(true) > query.units - 1
        assert abs(true - int(term)) <= (1.01 if at_bound else 0.501)


@settings(deadline=None, max_examples=200)
@given(columns(), st.sampled_from([1, 2]), st.randoms(use_true_random=False))
def test_sums_are_integer_sums_in_any_order_of_the_rows(case: Any, power: int, random: Any) -> None:
    a, x, c = case
    query = Sums(a, CLASSES, power)
    exact = [0, 0, 0]
    for term, code in zip(query.terms(x).tolist(), c.tolist(), strict=True):
        exact[code] += int(term)
    assert ask(query, x, c).tolist() == exact
    order = list(range(len(x)))
    random.shuffle(order)
    assert ask(query, x[order], c[order]).tolist() == exact


def test_a_sum_over_many_blocks_of_extreme_values_is_exact() -> None:
    a = Numeric("x", -1.9999 / 2, 1.9999 / 2)
    rows = 100_003
    x = np.where(np.arange(rows) % 3 == 0, 1e99, -1e99)
    for power in (1, 2):
        query = Sums(a, CLASSES, power)
        ups = -(-rows // 3)
        net = ups - (rows - ups) if power == 1 else rows
        assert ask(query, x, np.zeros(rows)).tolist() == [int(query.terms(x[:1])[0]) * net, 0, 0]


def _exact(a: Numeric, x: np.ndarray, c: np.ndarray, code: int) -> tuple[int, Fraction, Fraction]:
    """Rows, mean and variance of the rounded terms of one class, in fractions."""
    inside = x[c == code]
    first, second = Sums(a, CLASSES), Sums(a, CLASSES, 2)
    m = max(len(inside), 1)
    mean = sum(int(t) for t in first.terms(inside)) * Fraction(first.grid) / m
    square = sum(int(t) for t in second.terms(inside)) * Fraction(second.grid) / m
    width = Fraction(a.width)
    return len(inside), mean, min(max(square - mean**2, Fraction(0)), width**2 / 4)


@settings(deadline=None, max_examples=300)
@given(columns())
def test_moments_agree_with_rational_arithmetic_to_a_grid_step(case: Any) -> None:
    a, x, c = case
    means, variances, deviations = (kind(a, CLASSES) for kind in (Means, Variances, Deviations))
    answers = [np.asarray(ask(q, x, c)) * q.grid for q in (means, variances, deviations)]
    for code in range(3):
        m, mean, variance = _exact(a, x, c, code)
        got = [float(answer[code]) for answer in answers]
        if m == 0:
            mean, variance = Fraction(0), Fraction(a.width) ** 2 / 12
        deviation = math.sqrt(variance)
        rounding = 2.0**-50 * variances.scale  # of second − mean² in floats
        assert abs(got[0] - mean) <= means.grid
        assert abs(got[1] - variance) <= variances.grid
        assert abs(got[2] - deviation) <= deviations.grid + rounding / max(deviation, math.sqrt(rounding))


@settings(deadline=None)
@given(columns())
def test_a_mean_is_that_of_the_clipped_values_to_half_a_step_of_the_sums(case: Any) -> None:
    a, x, c = case
    known = ~np.isnan(x)
    x, c = x[known], c[known]
    means = Means(a, CLASSES)
    answer = ask(means, x, c) * means.grid
    for code in {*c.tolist()}:
        clipped = [Fraction(v) for v in np.clip(x[c == code], a.lower, a.upper).tolist()]
        true = sum(clipped) / len(clipped) - Fraction(a.middle)
        assert abs(answer[code] - true) <= 1.01 * Sums(a, CLASSES).grid


@pytest.mark.parametrize("width", AWKWARD)
def test_over_all_small_tables_moments_stay_in_range_and_one_row_moves_them_no_further(width: float) -> None:
    a = Numeric("x", 0, width)
    values = [0.0, width / 3, width / 2, math.nextafter(width, 0), width]
    ranges = {Means: (-width / 2, width / 2), Variances: (0, width**2 / 4), Deviations: (0, width / 2)}
    for kind, (low, high) in ranges.items():
        query = kind(a, CLASSES)
        known = {}
        for size in range(5):
            for rows in itertools.combinations_with_replacement(range(len(values)), size):
                known[rows] = float(ask(query, [values[r] for r in rows], [0] * size)[0] * query.grid)
                assert low - query.grid / 2 <= known[rows] <= high + query.grid / 2
        steps = [abs(v - known[r[:i] + r[i + 1 :]]) for r, v in known.items() for i in range(len(r))]
        # the smallest public bound: R/2, R²/4, R/2, plus the rounding of two answers to the grid
        assert high - query.scale / 1000 <= max(steps) <= high + query.grid


@given(st.floats(1e-200, 1e200))
def test_the_power_of_two_is_the_largest_not_above(value: float) -> None:
    power = power_of_two(value)
    assert math.frexp(power)[0] == 0.5
    assert power <= value < 2 * power


@given(st.floats(1e-90, 1e100), st.sampled_from([Sums, Means, Variances, Deviations]))
def test_grids_are_powers_of_two_of_public_facts_and_fine_enough(width: float, kind: Any) -> None:
    query = kind(Numeric("x", 0, width), CLASSES)
    assert math.frexp(query.grid)[0] == 0.5
    scale = query.largest if isinstance(query, Sums) else query.scale
    assert query.grid <= scale * 2.0**-24


def test_queries_are_values_that_differ_by_kind_and_by_what_they_ask() -> None:
    a = Numeric("x", 0, 1)
    made = [Counts(CLASSES), Sums(a, CLASSES), Sums(a, CLASSES, 2), Means(a, CLASSES), Variances(a, CLASSES)]
    made += [Deviations(a, CLASSES), Means(a, EqualBins(a, 2)), Choice(Counts(CLASSES), CellCount())]
    assert len({*made, *made}) == len(made)
    assert {len(q.describe().splitlines()) for q in made} == {1}
    with pytest.raises(ValueError, match="power"):
        Sums(a, CLASSES, 3)


class Broken(CellCount):
    """A score that is not finite."""

    def evaluate(self, answer: Any) -> Any:
        return np.full(3, math.inf)


def test_a_choice_scores_every_candidate_with_a_finite_number() -> None:
    counts = np.array([3, 0, 5])
    choice = Choice(Counts(CLASSES), CellCount())
    assert choice.combine(counts).tolist() == [3.0, 0.0, 5.0]
    assert (choice.cells, choice.shape, choice.requires) == (3, (), (Counts(CLASSES),))
    with pytest.raises(InputError, match="finite"):
        Choice(Counts(CLASSES), Broken()).combine(counts)


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_stated_sensitivity_of_cell_counts_holds_over_all_small_tables(adjacency: Adjacency) -> None:
    score: Score = CellCount()
    stated, monotone = score.sensitivity(adjacency)
    moves = [np.eye(3)[i] - (0 if adjacency is Adjacency.ADD_REMOVE else np.eye(3)[j]) for i, j in np.ndindex(3, 3)]
    assert max(np.abs(move).max() for move in moves) == stated
    assert all((move >= 0).all() or (move <= 0).all() for move in moves) == monotone


class _BySign(Score):
    name = "each cell, and its negative"

    def candidates(self, source: Any) -> int:
        return 2

    def evaluate(self, answer: Any) -> Any:
        return np.stack([answer.ravel(), -answer.ravel()], axis=1).astype(float)

    def sensitivity(self, adjacency: Adjacency) -> tuple[float, bool]:
        return 1.0, False


def test_choices_have_one_row_of_scores_a_part() -> None:
    source = Counts(Values(Nominal("class", ("a", "b", "c"))))
    query = Choices(source, _BySign(), parts=3)
    assert (query.shape, query.cells, query.kind) == ((3,), 6, "choice")
    assert query.combine(np.array([4, 0, 2])).tolist() == [[4, -4], [0, 0], [2, -2]]
    assert query != Choice(source, _BySign())
    with pytest.raises(InputError, match="a part and candidate"):
        Choices(source, _BySign(), parts=2).combine(np.array([4, 0, 2]))
