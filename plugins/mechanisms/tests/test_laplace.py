"""Laplace noise on a grid loses no more than its cost, and is what its density and calibration say."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcore.accounting import gdp_delta
from dpcore.bound import Bound
from dpcore.errors import InputError
from dpcore.noise import ExactNoise, SeededNoise
from dpcore.privacy import GDP, ZCDP, Cost, Pure, in_terms_of
from dpcore_mechanisms.laplace import Geometric, Laplace

ALPHA = 1e-6
EPSILONS = [1e-3, 0.1, 1.0, 5.0, 20.0]
# value, grid: counts (add-remove, replace-one), an L2-like value, half a range on a fine grid
BOUNDS = [(1.0, 1.0), (2.0, 1.0), (math.sqrt(2), 1.0), (0.15, 2.0**-27), (3.7e4, 2.0**-9)]
ORDERS = [1.01, 1.5, 2.0, 3.0, 8.0, 32.0, 200.0]
KINDS = [Laplace(), Geometric()]


def shift(bound: Bound, out: float) -> int:
    """The most steps of the released grid between two answers within the bound."""
    moved = math.floor(Fraction(bound.scalar()) / Fraction(bound.grid))
    return moved * round(bound.grid / out)


def log_sum(*terms: float) -> float:
    return float(np.logaddexp.reduce(np.array(terms)))


def renyi(scale: float, k: int, order: float) -> float:
    """Renyi divergence of two discrete Laplace distributions k steps apart: three geometric series."""
    a = -1 / scale
    ends = -math.log(-math.expm1(a))
    left, right = a * k * (1 - order), a * k * order
    # middle: x = 1 … k − 1 with log-terms a (k (1 − order) + x (2 order − 1)), summed from its larger end
    step = a * (2 * order - 1)
    first = left + step
    middle = -math.inf if k < 2 else first + math.log(math.expm1(step * (k - 1)) / math.expm1(step))
    normal = math.log(math.tanh(-a / 2))
    return (normal + log_sum(left + ends, right + ends, middle)) / (order - 1)


def test_the_renyi_formula_is_a_sum_over_the_grid() -> None:
    x = np.arange(-400, 407)
    p, q = (stats.dlaplace.logpmf(x - s, 1 / 2.5) for s in (0, 7))
    for order in ORDERS[:5]:
        direct = np.logaddexp.reduce(order * p + (1 - order) * q) / (order - 1)
        assert renyi(2.5, 7, order) == pytest.approx(direct, rel=1e-9)


@pytest.mark.parametrize("mechanism", KINDS)
@pytest.mark.parametrize(("value", "grid"), BOUNDS)
@pytest.mark.parametrize("epsilon", EPSILONS)
class TestLoss:
    def test_the_log_density_never_differs_by_more_than_epsilon(
        self, mechanism: Any, value: float, grid: float, epsilon: float
    ) -> None:
        bound, cost = Bound(value, "l1", grid=grid), Pure(epsilon)
        size = mechanism.calibrate(bound, cost)
        k = math.floor(Fraction(value) / Fraction(grid))
        far = 5 * max(k, math.ceil(size.scale / grid))
        outputs = np.array([-far, -1, 0, 1, k // 2, k - 1, k, k + 1, far]) * grid
        worst = 0.0
        for split in {k, k // 2, 0}:
            one, two = np.array([0, 3]), np.array([split, 3 + (k - split)])
            for y in outputs:
                for z in outputs:
                    loss = [mechanism.log_density(np.array([y, z]), e, bound, cost) for e in (one, two)]
                    worst = max(worst, abs(loss[0] - loss[1]))
        assert worst <= epsilon * (1 + 1e-9) + 1e-12
        assert worst >= epsilon * (k * grid / value) * (1 - 1e-6) - 1e-9

    def test_the_steps_are_never_fewer_than_the_exact_ratio(
        self, mechanism: Any, value: float, grid: float, epsilon: float
    ) -> None:
        scale, out = mechanism.steps(value, Pure(epsilon), grid)
        assert scale * Fraction(out) * Fraction(epsilon) >= Fraction(value)
        assert shift(Bound(value, "l1", grid=grid), out) / scale <= Fraction(epsilon)

    def test_renyi_divergences_stay_within_rho(self, mechanism: Any, value: float, grid: float, epsilon: float) -> None:
        bound, rho = Bound(value, "l1", grid=grid), epsilon**2 / 2
        scale, out = mechanism.steps(value, ZCDP(rho), grid)
        k = shift(bound, out)
        for order in ORDERS:
            # the series cancel to about 1e-9 where the noise spans millions of steps
            assert renyi(float(scale), k, order) <= order * rho * (1 + 1e-9) + 1e-8 / (order - 1)

    def test_hockey_sticks_stay_under_the_gaussian_curve(
        self, mechanism: Any, value: float, grid: float, epsilon: float
    ) -> None:
        cost = in_terms_of(Pure(epsilon), GDP)
        assert isinstance(cost, GDP)
        scale, out = mechanism.steps(value, cost, grid)
        loss = float(shift(Bound(value, "l1", grid=grid), out) / scale)
        assert loss <= epsilon * (1 + 1e-6)
        for other in np.linspace(0, loss, 50, endpoint=False):
            # randomised response is the worst of all mechanisms with this pure epsilon
            delta = -math.exp(other) * math.expm1(loss - other) / -(1 + math.exp(loss))
            assert delta <= gdp_delta(cost.square, float(other)) * (1 + 1e-6) + 1e-12


@given(st.floats(1e-3, 20), st.floats(1e-3, 1e3), st.integers(-30, 3))
def test_the_scale_is_linear_in_the_bound_and_inverse_in_epsilon(e: float, value: float, log: int) -> None:
    for mechanism in KINDS:
        size = mechanism.calibrate(Bound(value, "l1", grid=2.0**log), Pure(e))
        double = mechanism.calibrate(Bound(2 * value, "l1", grid=2.0**log), Pure(e))
        half = mechanism.calibrate(Bound(value, "l1", grid=2.0**log), Pure(e / 2))
        assert value / e <= size.scale <= value / e * (1 + 1e-11)
        assert double.scale == pytest.approx(2 * size.scale, rel=1e-11)
        assert half.scale == pytest.approx(2 * size.scale, rel=1e-11)


@pytest.mark.parametrize("scale", [0.05, 0.3, 1.0, 7.0, 90.0])
def test_the_expected_error_is_the_mean_absolute_noise(scale: float) -> None:
    x = np.arange(1, math.ceil(60 * scale) + 3)
    mean = 2 * np.sum(x * stats.dlaplace.pmf(x, 1 / scale))
    bound = Bound(2.0, "l1", grid=2.0)
    assert Geometric().calibrate(bound, Pure(1 / scale)).expected_error == pytest.approx(2 * mean, rel=1e-9)
    assert Laplace().calibrate(bound, Pure(1 / scale)).expected_error == pytest.approx(2 * scale, rel=1e-9)


@pytest.mark.parametrize("noise", [ExactNoise(), SeededNoise(3)])
@pytest.mark.parametrize("cost", [Pure(0.7), ZCDP(0.3), GDP(0.5)])
def test_whole_steps_are_released_with_the_probabilities_of_the_density(noise: Any, cost: Cost) -> None:
    bound, exact = Bound(2.0, "l1", grid=0.5), np.array([3])
    drawn = Geometric().release(np.full(20_000, 3), bound, cost, noise)
    steps = drawn / 0.5
    assert (steps == np.rint(steps)).all()
    grid = np.arange(-400, 401)
    logs = np.array([Geometric().log_density(np.array([g * 0.5]), exact, bound, cost) for g in grid])
    p = np.exp(logs - np.logaddexp.reduce(logs))
    seen = np.bincount(steps.astype(int) + 400, minlength=len(grid))
    keep = p * len(drawn) > 10
    rest = [seen[~keep].sum()], [p[~keep].sum() * len(drawn)]
    counts, wanted = np.append(seen[keep], rest[0]), np.append(p[keep] * len(drawn), rest[1])
    assert stats.chisquare(counts, wanted).pvalue > ALPHA


@pytest.mark.parametrize("noise", [ExactNoise(), SeededNoise(4)])
def test_fine_noise_follows_the_density_and_lies_on_the_public_grid(noise: Any) -> None:
    bound, cost = Bound(1.3, "l1", grid=2.0**-10), Pure(0.4)
    drawn = Laplace().release(np.full(20_000, 2**11), bound, cost, noise)
    size = Laplace().calibrate(bound, cost)
    assert (drawn / size.grid == np.rint(drawn / size.grid)).all()
    assert stats.kstest(drawn - 2.0, stats.laplace(scale=size.scale).cdf).pvalue > ALPHA
    logs = [Laplace().log_density(np.array([y]), np.array([2**11]), bound, cost) for y in (2.0, 2 + size.scale)]
    assert logs[0] - logs[1] == pytest.approx(1.0, rel=1e-9)


@settings(max_examples=30)
@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=4), st.floats(1e-6, 1e3))
def test_the_grid_does_not_depend_on_the_rows(exact: list[int], epsilon: float) -> None:
    bound = Bound(0.75, "l1", grid=2.0**-20)
    for mechanism in KINDS:
        out = mechanism.calibrate(bound, Pure(epsilon)).grid
        numbers = mechanism.release(np.array(exact), bound, Pure(epsilon), SeededNoise(1))
        assert all((Fraction(n) / Fraction(out)).denominator == 1 for n in numbers.tolist())


@pytest.mark.parametrize("mechanism", KINDS)
@pytest.mark.parametrize("noise", [ExactNoise(), SeededNoise(1)])
@pytest.mark.parametrize("epsilon", [1e-300, 1e-12, 1e6, 1e300])
@pytest.mark.parametrize(("value", "grid"), [(1.0, 1.0), (1.7, 2.0**-24), (1e11, 2.0**10)])
def test_extreme_epsilons_give_finite_numbers_or_a_clear_refusal(
    mechanism: Any, noise: Any, epsilon: float, value: float, grid: float
) -> None:
    bound = Bound(value, "l1", grid=grid)
    try:
        size = mechanism.calibrate(bound, Pure(epsilon))
    except InputError:
        assert value / epsilon > 2.0**990
        return
    numbers = mechanism.release(np.array([10**6, 0, -5]), bound, Pure(epsilon), noise)
    assert np.isfinite([*numbers, size.scale, size.expected_error]).all()
    assert epsilon < 1 or numbers == pytest.approx(np.array([10**6, 0, -5]) * grid, abs=60 * value / epsilon)


def test_each_cell_gets_its_own_scale_where_the_bound_has_one_each() -> None:
    bound = Bound(np.array([0.5, 50.0]), "l1", "local", grid=2.0**-20)
    drawn = [Laplace().release(np.array([0, 0]), bound, Pure(1.0), SeededNoise(s)) for s in range(2000)]
    for column, scale in zip(np.array(drawn).T, (0.5, 50.0), strict=True):
        assert stats.kstest(column, stats.laplace(scale=scale).cdf).pvalue > ALPHA
