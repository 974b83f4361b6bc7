"""Gaussian noise: continuous and exactly rounded to a fine grid, or discrete on the exact answers' grid.

Under zCDP both have rho = (Delta_2 / sigma)² / 2 (Bun & Steinke 2016; Canonne, Kamath & Steinke 2020). Under GDP the
continuous one has mu = Delta_2 / sigma (Dong, Roth & Su 2022), which for one release is the analytic calibration
of Balle & Wang (2018). Rounding it to a grid on which the exact answer lies is post-processing: round(f + Z) =
f + round(Z).
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.mechanism import Answer, Calibration, Mechanism
from dpcore.noise import NoiseSource
from dpcore.privacy import GDP, ZCDP, Cost
from dpcore_mechanisms.grid import add, fine_grid, in_steps, ratio, whole

_EXPECTED = math.sqrt(2 / math.pi)


def sigma(bound: Bound, cost: Cost) -> Fraction:
    """The standard deviation for a bound in L2 and a cost in zCDP or GDP.

    Raises:
        InputError: if it is too large for floating point.
    """
    if isinstance(cost, ZCDP):
        return ratio(bound.scalar(), math.sqrt(2 * cost.rho))
    if isinstance(cost, GDP):
        return ratio(bound.scalar(), math.sqrt(cost.square))
    raise TypeError("Gaussian noise has no pure epsilon")


class _OneDeviation(Mechanism):
    """Noise of one standard deviation in all numbers of an answer."""

    accepts: ClassVar[tuple[str, ...]] = ("l2",)

    def fits(self, bound: Bound, cost: Cost) -> bool:
        return not isinstance(bound.value, np.ndarray) and super().fits(bound, cost)


@attrs.frozen
class Gaussian(_OneDeviation):
    """Continuous Gaussian noise, exactly rounded to a grid 2^20 times finer than its standard deviation."""

    costs: ClassVar[tuple[type[Cost], ...]] = (ZCDP, GDP)
    guarantee: ClassVar[str] = "(epsilon, delta), zCDP and GDP"
    citation: ClassVar[Citation | None] = Citation(
        key="balle2018improving",
        author="Balle, B. and Wang, Y.-X.",
        title="Improving the Gaussian mechanism for differential privacy: analytical calibration and optimal denoising",
        year=2018,
        venue="ICML",
    )
    notes: ClassVar[str] = "Composed by GDP the whole plan is one Gaussian mechanism, analytically calibrated."

    def _steps(self, bound: Bound, cost: Cost) -> tuple[Fraction, float]:
        deviation = sigma(bound, cost)
        out = fine_grid(deviation, bound.grid)
        return in_steps(deviation, out), out

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        if bound.value is None:
            return Calibration(None, bound.grid, None)
        steps, out = self._steps(bound, cost)
        return Calibration(float(steps) * out, out, float(steps) * out * _EXPECTED)

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        steps, out = self._steps(bound, cost)
        return add(exact, noise.gaussian(steps, exact.size), bound.grid, out)

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        # On a grid this fine the density stands for the probability of a grid point: the ratio of two
        # probabilities is a mean of density ratios over one cell.
        deviation = float(sigma(bound, cost))
        distance = np.asarray(output) - np.asarray(exact, dtype=np.float64) * bound.grid
        return float(-0.5 * np.sum((distance / deviation) ** 2))


@attrs.frozen
class DiscreteGaussian(_OneDeviation):
    """Discrete Gaussian noise in whole steps of the exact answers' grid: P(x) ∝ exp(−x² / (2 sigma²))."""

    costs: ClassVar[tuple[type[Cost], ...]] = (ZCDP,)
    guarantee: ClassVar[str] = "(epsilon, delta) and zCDP"
    citation: ClassVar[Citation | None] = Citation(
        key="canonne2020discrete",
        author="Canonne, C. and Kamath, G. and Steinke, T.",
        title="The discrete Gaussian for differential privacy",
        year=2020,
        venue="NeurIPS",
        url="https://arxiv.org/abs/2004.00010",
    )
    notes: ClassVar[str] = "Integer noise for counts; the same zCDP as continuous Gaussian noise, slightly less of it."

    def _steps(self, bound: Bound, cost: Cost) -> Fraction:
        return in_steps(sigma(bound, cost), bound.grid)

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        if bound.value is None:
            return Calibration(None, bound.grid, None)
        steps = float(self._steps(bound, cost))
        return Calibration(steps * bound.grid, bound.grid, mean_absolute(steps) * bound.grid)

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        drawn = noise.discrete_gaussian(self._steps(bound, cost) ** 2, exact.size)
        return add(exact, drawn, bound.grid, bound.grid)

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        distance = whole(np.asarray(output), bound.grid, bound.grid) - np.asarray(exact, dtype=np.float64)
        return float(-0.5 * np.sum((distance / float(self._steps(bound, cost))) ** 2))


def mean_absolute(deviation: float) -> float:
    """E|x| of the discrete Gaussian distribution; beyond sigma = 20 that of the continuous one to 1e-3."""
    if deviation > 20:
        return deviation * _EXPECTED
    x = np.arange(1, math.ceil(40 * deviation) + 2)
    weight = np.exp(-0.5 * (x / deviation) ** 2)
    return float(2 * np.sum(x * weight) / (1 + 2 * np.sum(weight)))
