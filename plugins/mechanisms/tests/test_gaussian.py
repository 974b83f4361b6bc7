"""Gaussian noise loses no more than its zCDP or GDP cost, and is what its density and calibration say."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpcore.accounting import gdp_delta
from dpcore.bound import Bound
from dpcore.errors import InputError
from dpcore.noise import ExactNoise, SeededNoise
from dpcore.privacy import GDP, ZCDP, Cost, Pure
from dpcore_mechanisms.gaussian import DiscreteGaussian, Gaussian, mean_absolute, sigma

ALPHA = 1e-6
RHOS = [1e-4, 0.01, 0.5, 3.0, 50.0]
ORDERS = [1.01, 1.5, 2.0, 5.0, 30.0, 200.0]
BOTH = [Gaussian(), DiscreteGaussian()]


def log_pmf(bound: Bound, cost: Cost, answer: int, reach: int) -> Any:
    """The discrete Gaussian's log-probabilities on −reach … reach, from its log_density."""
    at = np.arange(-reach, reach + 1)
    # one cell: the sum in log_density has one term, so differences to 0 give the whole function
    logs = [DiscreteGaussian().log_density(np.array([x * bound.grid]), np.array([answer]), bound, cost) for x in at]
    return np.array(logs) - np.logaddexp.reduce(logs)


@pytest.mark.parametrize("rho", RHOS)
@pytest.mark.parametrize(("value", "grid", "moves"), [
    (1.0, 1.0, (1,)), (2.0, 1.0, (2,)), (math.sqrt(2), 1.0, (1, 1)), (0.15, 2.0**-4, (2,)),
])  # fmt: skip
def test_renyi_divergences_of_discrete_noise_stay_within_rho(
    rho: float, value: float, grid: float, moves: tuple[int, ...]
) -> None:
    bound, cost = Bound(value, "l2", grid=grid), ZCDP(rho)
    reach = math.ceil(14 * float(sigma(bound, cost)) / grid) + 8
    reach = min(reach + 420, 2500)  # the tilted distribution of order alpha sits alpha · move away
    zero = log_pmf(bound, cost, 0, reach)
    for order in ORDERS:
        total = 0.0
        for move in moves:
            other = log_pmf(bound, cost, move, reach)
            total += np.logaddexp.reduce(order * zero + (1 - order) * other) / (order - 1)
        assert total <= order * rho * (1 + 1e-9) + 1e-9 / (order - 1)
        if rho < 0.1 and order <= 30 and grid == 1.0:
            assert total >= order * rho * 0.98  # and no noise is wasted


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("rho", [1e-12, *RHOS, 1e6])
@pytest.mark.parametrize(("value", "grid"), [(1.0, 1.0), (math.sqrt(2), 1.0), (1.7e3, 2.0**-14)])
def test_the_noise_is_never_smaller_than_asked_for(mechanism: Any, rho: float, value: float, grid: float) -> None:
    size = mechanism.calibrate(Bound(value, "l2", grid=grid), ZCDP(rho))
    assert (Fraction(value) / Fraction(size.scale)) ** 2 / 2 <= Fraction(rho) * (1 + Fraction(1, 2**50))
    assert size.scale <= value / math.sqrt(2 * rho) * (1 + 1e-11)


@pytest.mark.parametrize("square", [1e-6, 0.01, 1.0, 9.0, 40.0])
@pytest.mark.parametrize("value", [1.0, 2.0, math.sqrt(2), 0.15])
def test_hockey_sticks_of_gaussian_noise_are_those_of_its_gdp_cost(square: float, value: float) -> None:
    bound, cost = Bound(value, "l2", grid=value * 2.0**-20), GDP(square)
    size = Gaussian().calibrate(bound, cost)
    y = np.linspace(-12, 12, 4001) * size.scale + value / 2
    y = np.rint(y / size.grid) * size.grid
    p, q = (
        np.array([Gaussian().log_density(np.array([x]), np.array([e]), bound, cost) for x in y]) for e in (2**20, 0)
    )
    width = np.gradient(y)
    p, q = (np.exp(d) * width / np.sum(np.exp(d) * width) for d in (p, q))
    for epsilon in (0.0, 0.01, 0.1, 0.5, 1.0, 3.0, 8.0):
        delta = float(np.maximum(p - math.exp(epsilon) * q, 0).sum())
        assert delta == pytest.approx(gdp_delta(square, epsilon), rel=2e-2, abs=2e-6)
    assert value / size.scale <= math.sqrt(square) * (1 + 1e-15)


@pytest.mark.parametrize("deviation", [0.05, 0.2, 0.5, 1.0, 4.0, 19.0, 25.0])
def test_the_expected_error_is_the_mean_absolute_noise(deviation: float) -> None:
    x = np.arange(-2000, 2001)
    weight = np.exp(-0.5 * (x / deviation) ** 2)
    mean = float((np.abs(x) * weight).sum() / weight.sum())
    assert mean_absolute(deviation) == pytest.approx(mean, rel=1e-3)
    cost = ZCDP(0.5 / deviation**2)
    assert DiscreteGaussian().calibrate(Bound(1.0, "l2"), cost).expected_error == pytest.approx(mean, rel=1e-3)
    assert Gaussian().calibrate(Bound(1.0, "l2"), cost).expected_error == pytest.approx(
        deviation * math.sqrt(2 / math.pi), rel=1e-9
    )


@pytest.mark.parametrize("noise", [ExactNoise(), SeededNoise(8)])
def test_discrete_noise_is_released_with_the_probabilities_of_its_density(noise: Any) -> None:
    bound, cost = Bound(1.0, "l2", grid=0.25), ZCDP(0.8)
    drawn = DiscreteGaussian().release(np.full((10_000, 2), 5), bound, cost, noise)
    assert drawn.shape == (10_000, 2)
    steps = drawn.ravel() / 0.25
    assert (steps == np.rint(steps)).all()
    p = np.exp(log_pmf(bound, cost, 5, 60))
    seen = np.bincount(steps.astype(int) + 60, minlength=len(p))
    keep = p * len(steps) > 10
    counts = np.append(seen[keep], seen[~keep].sum())
    assert stats.chisquare(counts, np.append(p[keep], p[~keep].sum()) * len(steps)).pvalue > ALPHA


@pytest.mark.parametrize("noise", [ExactNoise(), SeededNoise(9)])
@pytest.mark.parametrize("cost", [ZCDP(0.1), GDP(0.7)])
def test_fine_noise_follows_the_density_and_lies_on_the_public_grid(noise: Any, cost: Cost) -> None:
    bound = Bound(1.5, "l2", grid=2.0**-6)
    size = Gaussian().calibrate(bound, cost)
    drawn = Gaussian().release(np.full(10_000, -64), bound, cost, noise)
    assert (drawn / size.grid == np.rint(drawn / size.grid)).all()
    assert stats.kstest(drawn + 1.0, stats.norm(scale=size.scale).cdf).pvalue > ALPHA
    at = [Gaussian().log_density(np.array([y]), np.array([-64]), bound, cost) for y in (-1.0, -1 + size.scale)]
    assert at[0] - at[1] == pytest.approx(0.5, rel=1e-9)


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("noise", [ExactNoise(), SeededNoise(1)])
@pytest.mark.parametrize("rho", [1e-320, 1e-300, 1e-24, 1e12, 1e300])
@pytest.mark.parametrize(("value", "grid"), [(1.0, 1.0), (1e200, 2.0**600)])
def test_extreme_costs_give_finite_numbers_or_a_clear_refusal(
    mechanism: Any, noise: Any, rho: float, value: float, grid: float
) -> None:
    bound = Bound(value, "l2", grid=grid)
    try:
        size = mechanism.calibrate(bound, ZCDP(rho))
    except InputError:
        assert rho < 1e-200
        assert value > 1
        return
    numbers = mechanism.release(np.array([7, 0, -5]), bound, ZCDP(rho), noise)
    assert np.isfinite([*numbers, size.scale, size.expected_error]).all()


def test_gaussian_noise_refuses_a_pure_cost() -> None:
    for mechanism in BOTH:
        assert not mechanism.fits(Bound(1.0, "l2"), Pure(1.0))
    assert not DiscreteGaussian().fits(Bound(1.0, "l2"), GDP(1.0))
    with pytest.raises(TypeError, match="no pure epsilon"):
        sigma(Bound(1.0, "l2"), Pure(1.0))
