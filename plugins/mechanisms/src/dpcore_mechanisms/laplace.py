"""Laplace noise: the discrete Laplace distribution on a public grid, drawn exactly.

P(x) ∝ exp(−|x| / t) on the integers. Two exact answers on the grid that differ by k steps in L1 give
log-probabilities that differ by at most k / t, so t = Delta / epsilon (in steps) is exactly epsilon-DP (Ghosh,
Roughgarden & Sundararajan 2012; Dwork, McSherry, Nissim & Smith 2006).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.mechanism import Answer, Calibration, Mechanism
from dpcore.noise import NoiseSource
from dpcore.privacy import GDP, ZCDP, Cost, Pure, pure_epsilon
from dpcore_mechanisms.grid import add, fine_grid, in_steps, ratio


class _DiscreteLaplace(Mechanism):
    """Discrete Laplace noise; subclasses choose the grid."""

    accepts: ClassVar[tuple[str, ...]] = ("l1",)
    costs: ClassVar[tuple[type[Cost], ...]] = (Pure, ZCDP, GDP)

    @abstractmethod
    def grid(self, scale: Fraction, grid: float) -> float:
        """The spacing of what is released."""

    @lru_cache(maxsize=4096)  # noqa: B019 (instances without parameters are all equal)
    def steps(self, sensitivity: float, cost: Cost, grid: float) -> tuple[Fraction, float]:
        """The scale in steps of the released grid, and that grid.

        Raises:
            InputError: if the noise would be too large for floating point.
        """
        scale = ratio(sensitivity, pure_epsilon(cost))
        out = self.grid(scale, grid)
        return in_steps(scale, out), out

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        if bound.value is None:
            return Calibration(None, bound.grid, None)
        scale, out = self.steps(float(np.max(bound.value)), cost, bound.grid)
        return Calibration(float(scale) * out, out, mean_absolute(float(scale)) * out)

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        if isinstance(bound.value, np.ndarray):
            return self._each(exact, bound, cost, noise)
        scale, out = self.steps(bound.scalar(), cost, bound.grid)
        return add(exact, noise.discrete_laplace(scale, exact.size), bound.grid, out)

    def _each(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        """One scale a cell."""
        values = np.broadcast_to(np.asarray(bound.value, dtype=np.float64), exact.shape).ravel()
        numbers = np.empty(exact.size)
        for i, value in enumerate(values):
            scale, out = self.steps(float(value), cost, bound.grid)
            drawn = noise.discrete_laplace(scale, 1)
            numbers[i] = add(exact.ravel()[i : i + 1], drawn, bound.grid, out)[0]
        return numbers.reshape(exact.shape)

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        epsilon = pure_epsilon(cost)
        distance = np.abs(np.asarray(output) - np.asarray(exact, dtype=np.float64) * bound.grid)
        if isinstance(bound.value, np.ndarray):
            scale = np.broadcast_to(bound.value, exact.shape) / epsilon
            return float(np.sum(-distance / scale - np.log(scale)))
        steps, out = self.steps(bound.scalar(), cost, bound.grid)
        return float(-np.sum(distance) / (float(steps) * out))


def mean_absolute(scale: float) -> float:
    """E|x| of the discrete Laplace distribution with this scale: 2a / (1 − a²), a = exp(−1/scale)."""
    return 1 / math.sinh(1 / scale) if scale > 1e-2 else 2 * math.exp(-1 / scale)


@attrs.frozen
class Laplace(_DiscreteLaplace):
    """Laplace noise on a grid 2^20 times finer than its scale (or as fine as the exact answers, if that is
    finer)."""

    citation: ClassVar[Citation | None] = Citation(
        key="dwork2006calibrating",
        author="Dwork, C. and McSherry, F. and Nissim, K. and Smith, A.",
        title="Calibrating noise to sensitivity in private data analysis",
        year=2006,
        venue="Theory of Cryptography",
        doi="10.1007/11681878_14",
    )
    notes: ClassVar[str] = "Drawn exactly as discrete Laplace on the grid: no float decides anything."

    def grid(self, scale: Fraction, grid: float) -> float:
        return fine_grid(scale, grid)


@attrs.frozen
class Geometric(_DiscreteLaplace):
    """Laplace noise in whole steps of the exact answers' grid: integer noise for counts."""

    citation: ClassVar[Citation | None] = Citation(
        key="ghosh2012universally",
        author="Ghosh, A. and Roughgarden, T. and Sundararajan, M.",
        title="Universally utility-maximizing privacy mechanisms",
        year=2012,
        venue="SIAM Journal on Computing",
        doi="10.1137/09076828X",
        type="article",
    )
    notes: ClassVar[str] = "Of all epsilon-DP mechanisms for one count, the most useful one for any loss."

    def grid(self, scale: Fraction, grid: float) -> float:
        return grid
