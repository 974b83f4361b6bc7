"""The tests agree with their formulas, worked out again by hand, and with their sources."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.errors import InputError
from dpcore_experiments.stats import Test, corrected_t, interval, ranking, signed_rank

FIGURES = st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=2, max_size=15)


def test_a_worked_example() -> None:
    # d = .02 .04 .00 .02 .02: mean .02, variance .0002; 1/5 + 1/4 of it is .00009
    found = corrected_t([0.82, 0.84, 0.80, 0.82, 0.82], [0.80] * 5, 0.25)
    assert found.difference == pytest.approx(0.02)
    assert found.statistic == pytest.approx(0.02 / math.sqrt(0.00009))
    # from a table of Student's t with 4 degrees of freedom: 2.108185 … two-sided p = 0.1027
    assert found.p == pytest.approx(2 * (1 - student_cdf(0.02 / math.sqrt(0.00009), 4)), rel=1e-9)
    assert found.mark == ""


def student_cdf(t: float, freedom: int) -> float:
    """Student's distribution for an even number of degrees of freedom, by its finite sum."""
    angle = math.atan(t / math.sqrt(freedom))
    term, total = 1.0, 1.0
    for i in range(1, freedom // 2):
        term *= (2 * i - 1) / (2 * i) * math.cos(angle) ** 2
        total += term
    return 0.5 + math.sin(angle) * total / 2


@settings(deadline=None)
@given(FIGURES, st.floats(0.01, 2.0))
def test_the_corrected_test_is_antisymmetric_and_never_finds_more_than_the_plain_one(
    pairs: list[tuple[int, int]], ratio: float
) -> None:
    from scipy.stats import ttest_rel

    x, y = (np.array(side) / 1000 for side in zip(*pairs, strict=True))
    found, other = corrected_t(x, y, ratio), corrected_t(y, x, ratio)
    assert (found.p, found.statistic) == (other.p, -other.statistic)
    if np.ptp(x - y) > 0:
        plain = ttest_rel(x, y)
        assert found.p >= plain.pvalue - 1e-12
        # t shrinks by exactly √((1/k + ratio) / (1/k))
        assert found.statistic * math.sqrt(1 + len(x) * ratio) == pytest.approx(plain.statistic)


def test_equal_folds_are_a_tie_and_a_constant_difference_is_none() -> None:
    assert corrected_t([0.5, 0.6], [0.5, 0.6], 0.1) == Test(0.0, 0.0, 1.0)
    better = corrected_t([0.7, 0.8], [0.5, 0.6], 0.1)
    assert (better.p, better.mark) == (0.0, "v")
    assert corrected_t([0.5, 0.6], [0.7, 0.8], 0.1).mark == "*"


@pytest.mark.parametrize("ratio", [0.0, -1.0, math.nan, math.inf])
def test_sizes_are_required(ratio: float) -> None:
    with pytest.raises(InputError, match="test rows over training rows"):
        corrected_t([0.1, 0.2], [0.2, 0.4], ratio)


def test_unequal_or_too_few_folds_are_refused() -> None:
    with pytest.raises(InputError, match="the same folds"):
        corrected_t([0.1, 0.2], [0.2], 0.1)
    with pytest.raises(InputError, match="at least two"):
        corrected_t([0.1], [0.2], 0.1)
    with pytest.raises(InputError, match="at least two folds"):
        interval([0.1], 0.1)


def test_the_interval_holds_what_the_test_does_not_reject() -> None:
    values = np.array([0.70, 0.74, 0.69, 0.75, 0.72])
    low, high = interval(values, 0.25)
    for point, p in ((low, 0.05), (high, 0.05)):
        assert corrected_t(values, np.full(5, point), 0.25).p == pytest.approx(p)


def by_hand(x: np.ndarray, y: np.ndarray) -> float:
    """Equations (20) to (22) of Lopuhaä-Zwakenberg et al., with 1/24 in the variance and its correction for ties."""
    d = x - y
    size = np.abs(d)
    rank = np.array([(size < s).sum() + ((size == s).sum() + 1) / 2 for s in size])
    plus = rank[d > 0].sum() + rank[d == 0].sum() / 2
    minus = rank[d < 0].sum() + rank[d == 0].sum() / 2
    n = len(d)
    ties = sum(c**3 - c for c in np.unique(size, return_counts=True)[1])
    z = (min(plus, minus) - n * (n + 1) / 4) / math.sqrt(n * (n + 1) * (2 * n + 1) / 24 - ties / 48)
    return math.erfc(-z / math.sqrt(2))


@settings(deadline=None)
@given(FIGURES)
def test_the_signed_rank_test_is_that_of_the_paper(pairs: list[tuple[int, int]]) -> None:
    x, y = (np.array(side) / 1024 for side in zip(*pairs, strict=True))
    found = signed_rank(x, y)
    if not (x - y).any():
        assert found.p == 1.0
        return
    # the zero differences' own ties count no less than others in the paper; SciPy's correction leaves them out
    if (x != y).all():
        assert found.p == pytest.approx(by_hand(x, y), abs=1e-9)
    assert found.p == signed_rank(y, x).p


def test_the_signed_rank_test_needs_pairs() -> None:
    with pytest.raises(InputError, match="the same cases"):
        signed_rank([0.1], [0.1, 0.2])


def test_the_ranking_counts_wins_and_losses_as_weka_does() -> None:
    win, lose, tie = Test(0.1, 3.0, 0.01), Test(-0.1, -3.0, 0.01), Test(0.1, 1.0, 0.3)
    found = ranking(["a", "b", "c"], [("a", "b", lose), ("a", "c", win), ("b", "c", win), ("a", "b", tie)])
    assert [(s.method, s.balance, s.wins, s.losses) for s in found] == [
        ("b", 2, 2, 0), ("a", 0, 1, 1), ("c", -2, 0, 2),
    ]  # fmt: skip
