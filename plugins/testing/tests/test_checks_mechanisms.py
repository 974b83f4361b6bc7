"""The checks of mechanisms fail noise that is not what it is said to be, and pass ours; each fault is one override.

Bounds of a kind of their own are in test_checks_uses.py.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from scipy.optimize import brentq

from dpcore import load_plugins
from dpcore.accounting import gdp_delta
from dpcore.bound import Bound
from dpcore.mechanism import Calibration
from dpcore.privacy import GDP, ZCDP, Approximate, Pure
from dpcore_testing import checks

REGISTRY = load_plugins()
NAMES = [
    "laplace",
    "geometric",
    "laplace_resampled",
    "gaussian",
    "discrete_gaussian",
    "exponential",
    "permute_and_flip",
]
Geometric, Laplace, Gaussian, DiscreteGaussian, Exponential = (
    REGISTRY.get("mechanism", name) for name in ("geometric", "laplace", "gaussian", "discrete_gaussian", "exponential")
)


@pytest.mark.parametrize("name", NAMES)
def test_our_mechanisms_pass_every_check_but_the_audit(name: str) -> None:
    """The audit of them is in test_audit.py."""
    subject = checks.subject(REGISTRY, "mechanism", name)
    results = [checks.run_one(subject, c.name) for c in checks.checks_of("mechanism") if c.name != "audited"]
    assert [r for r in results if r.status == "failed"] == []
    tried = {r.check for r in results if r.status == "ok"}
    assert tried >= {"calibrates", "costs-what-it-charges", "draws-what-it-states", "draws-from-its-source"}


# -- calibrates, errs-as-expected ------------------------------------------------------------------------------------


class OneNumber(Geometric):
    def calibrate(self, bound: Any, cost: Any) -> Any:
        return super().calibrate(bound, cost).scale


class InfiniteError(Geometric):
    def calibrate(self, bound: Any, cost: Any) -> Calibration:
        return attrs.evolve(super().calibrate(bound, cost), expected_error=math.inf)


class UnknownScale(Geometric):
    def calibrate(self, bound: Any, cost: Any) -> Calibration:
        return attrs.evolve(super().calibrate(bound, cost), scale=None)


class NegativeGrid(Geometric):
    def calibrate(self, bound: Any, cost: Any) -> Calibration:
        return attrs.evolve(super().calibrate(bound, cost), grid=-1.0)


class IgnoresTheBound(Geometric):
    """The noise that counts need, whatever is asked."""

    def calibrate(self, bound: Any, cost: Any) -> Calibration:
        return super().calibrate(Bound(1.0, "l1"), cost)


class MultipliesByEpsilon(Geometric):
    """The scale is bound · epsilon where it must be bound / epsilon."""

    def calibrate(self, bound: Any, cost: Any) -> Calibration:
        return super().calibrate(bound, Pure(1 / cost.epsilon) if isinstance(cost, Pure) else cost)


class GuessesInThePlan(Geometric):
    """A bound that depends on the rows, shown in a plan as if it were 1."""

    def calibrate(self, bound: Any, cost: Any) -> Calibration:
        return super().calibrate(attrs.evolve(bound, value=1.0) if bound.value is None else bound, cost)


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (OneNumber, "calibrate gives a float, not a Calibration"),
        (InfiniteError, "the expected_error is inf"),
        (UnknownScale, "the bound is public, and the scale is not known"),
        (NegativeGrid, "the grid is -1.0"),
        (IgnoresTheBound, "in half the unit the scale is 4, not twice 4"),
        (MultipliesByEpsilon, "at four times the cost"),
        (GuessesInThePlan, "without a value of the bound, the scale must be None"),
    ],
)
def test_a_calibration_must_be_a_scale_that_fits_the_bound_and_the_cost(fails, cls: type, words: str) -> None:
    assert words in fails("calibrates", cls)


class StatesHalf(Geometric):
    def calibrate(self, bound: Any, cost: Any) -> Calibration:
        found = super().calibrate(bound, cost)
        return found if found.expected_error is None else attrs.evolve(found, expected_error=found.expected_error / 2)


def test_the_expected_error_must_be_that_of_the_draws(fails) -> None:
    assert "the mean absolute noise is " in fails("errs-as-expected", StatesHalf)


# -- costs-what-it-charges -------------------------------------------------------------------------------------------


class DoubleRho(DiscreteGaussian):
    """The author takes rho for the square of mu, not for a half of it: sigma is too small by the root of 2."""

    def _steps(self, bound: Any, cost: Any) -> Any:
        return super()._steps(bound, ZCDP(2 * cost.rho))


class DoubleMu(Gaussian):
    """Under zCDP it is right, and under GDP its standard deviation is half of what it must be."""

    def log_density(self, output: Any, exact: Any, bound: Any, cost: Any) -> float:
        return super().log_density(output, exact, bound, GDP(4 * cost.square) if isinstance(cost, GDP) else cost)


class NoiseByLength(DiscreteGaussian):
    """Less noise the more numbers there are."""

    def log_density(self, output: Any, exact: Any, bound: Any, cost: Any) -> float:
        smaller = attrs.evolve(bound, value=bound.scalar() / math.sqrt(np.size(exact)))
        return super().log_density(output, exact, smaller, cost)


class Analytic(Gaussian):
    """Sound: one Gaussian release that is exactly (epsilon, delta)-private (Balle & Wang 2018)."""

    costs = (Approximate,)
    times: ClassVar[float] = 1.0

    def _as_gdp(self, cost: Any) -> GDP:
        return GDP(self.times * _square(cost.epsilon, cost.delta))

    def calibrate(self, bound: Any, cost: Any) -> Calibration:
        return super().calibrate(bound, self._as_gdp(cost))

    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return super().release(exact, bound, self._as_gdp(cost), noise)

    def log_density(self, output: Any, exact: Any, bound: Any, cost: Any) -> float:
        return super().log_density(output, exact, bound, self._as_gdp(cost))


@lru_cache(maxsize=64)
def _square(epsilon: float, delta: float) -> float:
    return float(brentq(lambda square: gdp_delta(square, epsilon) - delta, 1e-6, 1e3, xtol=1e-15))


class AnalyticByATenth(Analytic):
    """A tenth less noise than it needs: 1.21 times mu²."""

    times = 1.21


class LaplaceInTwo(Laplace):
    """Laplace noise for a bound in L2: what moves several numbers costs more."""

    accepts = ("l2",)
    costs = (Pure,)


class ForgetsTheHalf(Exponential):
    """Scores that move in both directions cost twice as much."""

    def rate(self, bound: Any, cost: Any) -> float:
        return super().rate(attrs.evolve(bound, monotone=True), cost)


class NoDensity(Geometric):
    def log_density(self, output: Any, exact: Any, bound: Any, cost: Any) -> float:
        return math.nan


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (DoubleRho, "(in steps) have a Rényi divergence of order 1.25 of "),
        (DoubleMu, "(in steps) show delta = "),
        (AnalyticByATenth, "(in steps) show delta = "),
        (NoiseByLength, "exact answers [0, 0] and "),
        (LaplaceInTwo, "exact answers [0, 0, 0] and [4, 4, 0] (in steps) show a loss of 0.3333"),
        (ForgetsTheHalf, "scores that change by "),
        (NoDensity, "log_density gives nan"),
    ],
)
def test_densities_must_not_be_further_apart_than_the_cost(fails, cls: type, words: str) -> None:
    assert words in fails("costs-what-it-charges", cls)


def test_a_sound_mechanism_for_epsilon_and_delta_passes(judge) -> None:
    for check in ("calibrates", "costs-what-it-charges", "draws-what-it-states", "keeps-the-form"):
        assert judge(check, Analytic).status == "ok"


# -- draws-what-it-states, draws-independently -----------------------------------------------------------------------


class OneTooMany(Geometric):
    """The noise is right, and added to the wrong number."""

    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return super().release(exact + 1, bound, cost, noise)


class TooSure(Exponential):
    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return super().release(2 * exact, bound, cost, noise)


class OutOfRange(Exponential):
    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return super().release(exact, bound, cost, noise) + 1


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (OneTooMany, "away from log_density (at most "),
        (TooSure, " times where log_density says "),
        (OutOfRange, "a choice among 1 must be one of 0 … 0"),
    ],
)
def test_draws_must_follow_the_density(fails, cls: type, words: str) -> None:
    assert words in fails("draws-what-it-states", cls)


class Mirrored(Laplace):
    """Every second number gets the noise of the one before it, turned round."""

    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        centre = exact * bound.grid
        drawn = (super().release(exact, bound, cost, noise) - centre).ravel()
        drawn[1::2] = -drawn[: len(drawn) // 2 * 2 : 2]
        return centre + drawn.reshape(exact.shape)


class OneSize(Laplace):
    """Signs of their own, and one size of the noise for all numbers of an answer."""

    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        centre = exact * bound.grid
        drawn = super().release(exact, bound, cost, noise) - centre
        return centre + np.sign(drawn) * np.abs(drawn).ravel()[:1].sum()


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (Mirrored, "the noise of two numbers has a rank correlation of -1.00"),
        (OneSize, "the size of the noise of two numbers has a rank correlation of 1.00"),
    ],
)
def test_numbers_must_get_noise_of_their_own(fails, cls: type, words: str) -> None:
    assert words in fails("draws-independently", cls)


# -- draws-from-its-source, keeps-the-form ---------------------------------------------------------------------------


class FromElsewhere(Geometric):
    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return (exact + np.rint(np.random.laplace(size=exact.shape))) * bound.grid  # noqa: NPY002


class NoNoise(Geometric):
    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return exact * bound.grid


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (FromElsewhere, "it draws from the global random generators"),
        (NoNoise, "40 noise sources give one answer: there is no noise in it"),
    ],
)
def test_randomness_must_come_from_the_source_that_it_is_given(fails, cls: type, words: str) -> None:
    assert words in fails("draws-from-its-source", cls)


class Flat(Geometric):
    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return super().release(exact, bound, cost, noise).ravel()


class Whole(Geometric):
    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return super().release(exact, bound, cost, noise).astype(np.int64)


class InPlace(Geometric):
    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        released = super().release(exact, bound, cost, noise)
        if exact.flags.writeable:
            exact += 1
        return released


class Overflows(Geometric):
    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        released = super().release(exact, bound, cost, noise)
        return np.where(np.abs(released) > 2**20, np.inf, released)


class Single(Geometric):
    """Sums in single precision: large answers swallow the noise."""

    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        drawn = super().release(np.zeros_like(exact), bound, cost, noise)
        return np.asarray((exact * bound.grid).astype(np.float32) + drawn.astype(np.float32), dtype=np.float64)


class HalfSteps(Geometric):
    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return np.asarray(super().release(exact, bound, cost, noise) / 2)


class Bare(Geometric):
    """Arithmetic on an array without dimensions gives a number, which is no array."""

    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return super().release(exact, bound, cost, noise) + 0.0


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (Flat, "released is float64 of shape (1,); it must be a float64 array of the same shape"),
        (Bare, "released is a float64, not an array"),
        (Whole, "released is int64 of shape ()"),
        (InPlace, "releasing changes the exact answer"),
        (Overflows, "an exact answer of 1099511627776 steps gives numbers that are not finite"),
        (Single, "the noise on an exact answer of 1099511627776 steps is not that on "),
        (HalfSteps, "not multiples of the stated grid, 1"),
    ],
)
def test_what_is_released_must_have_the_form_of_the_answer(fails, cls: type, words: str) -> None:
    assert words in fails("keeps-the-form", cls)


class FinerThanStated(Laplace):
    """The grid that it states is four times as wide as the one on which it releases."""

    def calibrate(self, bound: Any, cost: Any) -> Calibration:
        found = super().calibrate(bound, cost)
        return attrs.evolve(found, grid=4 * found.grid)


def test_the_last_bits_must_lie_on_the_stated_grid(fails) -> None:
    assert "are no multiples of" in fails("hides-in-every-bit", FinerThanStated)
