"""Drawing again until the answer is not negative: what the mechanism charges for it, and what it costs as published."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcore.bound import Bound
from dpcore.errors import InputError
from dpcore.noise import ExactNoise, SeededNoise
from dpcore.privacy import ZCDP, Pure
from dpcore_mechanisms.laplace import Laplace
from dpcore_mechanisms.resampled import LaplaceResampled

ALPHA = 1e-6
EPSILONS = [1e-3, 0.1, 0.5, 1.0, 5.0, 20.0]


def published_loss(epsilon: float) -> float:
    """What one redrawn count costs when its noise is set for epsilon: ln(2 e^epsilon - 1)."""
    return epsilon + math.log(2 - math.exp(-epsilon))


def worst(moves: list[tuple[Any, Any]], bound: Bound, cost: Pure) -> float:
    """The largest loss over pairs and outputs; the loss is piecewise linear with corners at the answers."""
    found = 0.0
    for one, two in moves:
        corners = [sorted({0.0, float(a), float(b), 50.0 + a + b}) for a, b in zip(one, two, strict=True)]
        for output in itertools.product(*corners):
            y = np.array(output) * bound.grid
            p, q = (LaplaceResampled().log_density(y, np.array(e), bound, cost) for e in (one, two))
            found = max(found, abs(p - q))
    return found


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_histogram_under_add_remove_costs_what_is_charged(epsilon: float) -> None:
    bound = Bound(1.0, "l1", rises=1)
    moves = [((n,), (n + 1,)) for n in (0, 1, 2, 10, 1000)]
    loss = worst(moves, bound, Pure(epsilon))
    assert loss <= epsilon * (1 + 1e-9)
    assert loss >= epsilon * (1 - 1e-4)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_a_histogram_under_replace_one_costs_what_is_charged(epsilon: float) -> None:
    bound = Bound(2.0, "l1", rises=1)
    moves = [((a, b + 1), (a + 1, b)) for a in (0, 1, 5) for b in (0, 1, 300)]
    assert 0.5 * epsilon <= worst(moves, bound, Pure(epsilon)) <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_many_numbers_that_rise_together_cost_what_is_charged(epsilon: float) -> None:
    bound = Bound(1.0, "l1", grid=2.0**-8)
    unit = 2**8
    moves: list[tuple[Any, Any]] = []
    for n in (1, 2, 4):
        for start in (0, unit // 8, 10 * unit):
            moves.append(((start,) * n, (start + unit // n,) * n))
    moves += [((0, unit // 2), (unit // 2, 0)), ((0, 0, unit), (unit // 4, unit // 4, unit // 2))]
    loss = worst(moves, bound, Pure(epsilon))
    assert loss <= epsilon * (1 + 1e-9)


def test_so_many_numbers_that_rise_by_little_each_nearly_use_up_the_cost() -> None:
    n, epsilon, bound = 64, 1.0, Bound(1.0, "l1", grid=2.0**-8)
    zero, risen = np.zeros(n, dtype=int), np.full(n, 4)
    logs = [LaplaceResampled().log_density(np.zeros(n), e, bound, Pure(epsilon)) for e in (zero, risen)]
    high = [LaplaceResampled().log_density(np.full(n, 1.0), e, bound, Pure(epsilon)) for e in (zero, risen)]
    assert max(abs(logs[0] - logs[1]), abs(high[0] - high[1])) == pytest.approx(epsilon, rel=0.01)
    assert max(abs(logs[0] - logs[1]), abs(high[0] - high[1])) <= epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_published_claim_is_exceeded_at_an_empty_cell(epsilon: float) -> None:
    """Noise set for epsilon, counts 0 and 1: the loss reaches ln(2 e^epsilon − 1), nearly twice a small epsilon."""
    bound = Bound(1.0, "l1", rises=1)
    cost = Pure(published_loss(epsilon))
    assert LaplaceResampled().inner(bound, cost).epsilon == pytest.approx(epsilon)
    assert LaplaceResampled().calibrate(bound, cost).scale == pytest.approx(1 / epsilon)
    loss = worst([((0,), (1,))], bound, cost)
    assert loss == pytest.approx(math.log(2 * math.exp(epsilon) - 1), rel=1e-4)
    assert loss > epsilon * 1.03
    assert epsilon > 0.2 or loss > 1.8 * epsilon


@settings(max_examples=50)
@given(st.floats(1e-9, 2000), st.booleans())
def test_the_inner_epsilon_inverts_the_loss(epsilon: float, histogram: bool) -> None:
    inner = LaplaceResampled().inner(Bound(1.0, "l1", rises=1 if histogram else None), Pure(epsilon)).epsilon
    assert inner <= epsilon
    assert (published_loss(inner) if histogram else 2 * inner) == pytest.approx(epsilon, rel=1e-6)


@pytest.mark.parametrize("noise", [ExactNoise(), SeededNoise(5)])
@pytest.mark.parametrize("exact", [0, 1, 3])
def test_answers_follow_the_density_and_are_never_negative(noise: Any, exact: int) -> None:
    bound, cost = Bound(1.0, "l1", rises=1), Pure(1.0)
    size = LaplaceResampled().calibrate(bound, cost)
    drawn = LaplaceResampled().release(np.full(8000, exact), bound, cost, noise)
    assert (drawn >= 0).all()
    assert (drawn / size.grid == np.rint(drawn / size.grid)).all()
    y = np.linspace(0, exact + 40 * size.scale, 20_001)
    density = np.exp([LaplaceResampled().log_density(np.array([v]), np.array([exact]), bound, cost) for v in y])
    assert np.trapezoid(density, y) == pytest.approx(2 * size.scale, rel=1e-4)  # one constant for all answers
    below = stats.laplace(loc=exact, scale=size.scale)
    start = below.cdf(0)
    assert stats.kstest(drawn, lambda v: (below.cdf(v) - start) / (1 - start)).pvalue > ALPHA


def test_negative_answers_count_as_zero_and_raise_nothing() -> None:
    """An error would tell that the exact answer is negative."""
    bound, cost = Bound(1.0, "l1", grid=0.5), Pure(1.0)
    at = [LaplaceResampled().release(np.array([e, 4]), bound, cost, SeededNoise(3)).tolist() for e in (-9, 0)]
    assert at[0] == at[1]
    logs = [LaplaceResampled().log_density(np.array([2.0]), np.array([e]), bound, cost) for e in (-9, 0)]
    assert logs[0] == logs[1]
    assert worst([((-3, 1), (-1, 1)), ((-1, 0), (1, 0))], Bound(1.0, "l1", grid=0.5), cost) <= 1.0


def test_each_cell_has_its_own_scale_where_the_bound_has_one_each() -> None:
    bound, exact = Bound(np.array([0.5, 40.0]), "l1", "local", grid=2.0**-8), np.array([100, 300])
    drawn = np.array([LaplaceResampled().release(exact, bound, Pure(2.0), SeededNoise(s)) for s in range(1500)])
    whole = LaplaceResampled().log_density(np.array([1.0, 2.0]), exact, bound, Pure(2.0))
    parts = 0.0
    for i, scale in enumerate((0.5, 40.0)):
        one = Bound(scale, "l1", grid=2.0**-8)
        parts += LaplaceResampled().log_density(np.array([i + 1.0]), exact[i : i + 1], one, Pure(2.0)) - math.log(scale)
        below = stats.laplace(loc=exact[i] * 2.0**-8, scale=scale)
        start = below.cdf(0)
        test = stats.kstest(drawn[:, i], lambda v, d=below, s=start: (d.cdf(v) - s) / (1 - s))
        assert test.pvalue > ALPHA
    assert whole == pytest.approx(parts, rel=1e-9)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-12, 1e6])
@pytest.mark.parametrize("rises", [1, None])
def test_extreme_epsilons_work(epsilon: float, rises: int | None) -> None:
    bound = Bound(1.0, "l1", rises=rises)
    drawn = LaplaceResampled().release(np.array([0, 3]), bound, Pure(epsilon), ExactNoise())
    assert np.isfinite(drawn).all()
    assert math.isfinite(LaplaceResampled().log_density(drawn, np.array([0, 3]), bound, Pure(epsilon)))


def test_only_a_pure_cost_is_taken() -> None:
    assert not LaplaceResampled().fits(Bound(1.0, "l1"), ZCDP(1.0))
    with pytest.raises(InputError, match="pure epsilon"):
        LaplaceResampled().inner(Bound(1.0, "l1"), ZCDP(1.0))
    assert Laplace().fits(Bound(1.0, "l1"), ZCDP(1.0))
