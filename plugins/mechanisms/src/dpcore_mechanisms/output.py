"""Private empirical risk: the minimiser plus noise (Chaudhuri, Monteleoni & Sarwate 2011, Algorithm 1).

J is lam-strongly convex and one row moves its gradient by at most 1, so it moves the minimum by at most 1/lam, in L2.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.accounting import gdp_delta, smallest
from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.mechanism import Answer, Calibration
from dpcore.noise import NoiseSource
from dpcore.privacy import Approximate, Cost, Pure
from dpcore.risk import GradientBound
from dpcore_mechanisms.cover import SHARE, cover, grid
from dpcore_mechanisms.objective import CHAUDHURI, TOLERANCE, Empirical, gradient_bound, spendable
from dpcore_mechanisms.vector import VectorNoise


@attrs.frozen
class OutputPerturbation(Empirical):
    """The minimiser plus noise: one person moves it by at most 1/lam (2/lam for a replaced one)."""

    costs: ClassVar[tuple[type[Cost], ...]] = (Pure, Approximate)
    citation: ClassVar[Citation | None] = CHAUDHURI
    notes: ClassVar[str] = (
        "Needs no smooth loss; mostly worse than objective_perturbation. With delta, Gaussian noise. "
        "An epsilon above 20 is charged whole and used as 20."
    )

    def lam(self, bound: GradientBound, cost: Cost) -> float:
        """4c/epsilon, as for the perturbed objective where epsilon is small; but 4c/√epsilon where it is large, so that
        both the noise, of size 1 / (lam epsilon), and the pull to the centre fall."""
        epsilon = spendable(cost)
        return bound.lam or bound.strength * bound.curvature * 4 / (epsilon if epsilon < 1 else math.sqrt(epsilon))

    def noise(self, bound: GradientBound, cost: Cost) -> VectorNoise:
        moves = bound.scalar() / self.lam(bound, cost)
        epsilon = spendable(cost) * (1 - 2 * SHARE)
        if isinstance(cost, Approximate) and cost.delta > 0:
            return VectorNoise(
                moves / _mu(epsilon, cost.delta * math.exp(-SHARE * spendable(cost))), "normal", bound.width
            )
        # the gradient's change has few entries, but the inverse Hessian spreads it: nothing is known of it in L1
        return VectorNoise(moves / epsilon, "spherical", bound.width)

    def tolerance(self, bound: GradientBound, noise: VectorNoise) -> float:
        return TOLERANCE

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        bound = gradient_bound(bound)
        noise = self.noise(bound, cost)
        return Calibration(noise.scale, grid(self._distance(bound, cost, noise), bound.width), noise.size)

    def _distance(self, bound: GradientBound, cost: Cost, noise: VectorNoise) -> float:
        return TOLERANCE / self.lam(bound, cost) + noise.error

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        bound, risk = gradient_bound(bound), exact.item()
        drawn, lam = self.noise(bound, cost), self.lam(bound, cost)
        w = self.solved(risk, lam, np.zeros(bound.width), TOLERANCE) + drawn.draw(noise)
        return cover(w, self._distance(bound, cost, drawn), SHARE * spendable(cost), noise)

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        bound = gradient_bound(bound)
        centre = self.solved(exact.item(), self.lam(bound, cost), np.zeros(bound.width), TOLERANCE)
        return self.noise(bound, cost).log_density(np.asarray(output, dtype=np.float64) - centre)


@lru_cache(maxsize=1024)
def _mu(epsilon: float, delta: float) -> float:
    """The largest mu of one Gaussian release."""

    def enough(sigma: float) -> bool:
        return gdp_delta(1 / (sigma * sigma), epsilon) <= delta

    top = 1.0
    while not enough(top):
        top *= 2
    return 1 / smallest(enough, top)
