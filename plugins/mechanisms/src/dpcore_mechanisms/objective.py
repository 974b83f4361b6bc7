"""Private empirical risk: the minimiser of a perturbed objective.

J(w) = Σ l(y_i w·x_i) + (lam/2) ‖w − centre‖² + b·w, in sum form, so that the number of rows is not needed.

**Objective perturbation.** b has density ∝ e^(−beta ‖b‖). At the minimum b = −∇J0(w), J0 = J − b·w, a bijection: the
density of w is that of b there, times |det ∇²J0(w)|. A row more adds one vector of norm at most 1 to the gradient and
one term of rank 1 and size at most c to a Hessian that is at least lam: the loss is at most beta + ln(1 + c/lam). A
replaced row moves the gradient by at most 2; of its two terms in the Hessian one goes and one comes, so the
determinant's ratio stays within 1 + c/lam. Hence beta = (epsilon − ln(1 + c/lam)) / (1 or 2). Chaudhuri, Monteleoni &
Sarwate (2011) pay the logarithm twice.

**With delta**, b is normal with deviation sigma, and a row x more gives L ≤ d + |<b, x>| / sigma² + 1 / (2 sigma²), d
= ln(1 + c/lam), since its gradient is a multiple s x, |s| ≤ 1, whatever w is. <b, x> / sigma is normal, so E[max(0, 1
− e^(epsilon − L))] is at most twice the delta of one Gaussian release with mu = 1 / sigma at epsilon − d, if that is
at least 1 / (2 sigma²) (Redberg, Koskela & Wang 2023, Theorem 3.1). Replacing is removing and adding: (epsilon / 2,
delta / (1 + e^(epsilon/2))) for each.

The proof is about the exact minimum and real b. The gradient at what is released is certified to be at most a public
tolerance t, b is within a public distance e of a real one, and J is lam-strongly convex: so w is within (t + e) / lam
of the real minimum, and `cover` pays for that.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from functools import lru_cache
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.accounting import gdp_delta, smallest
from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.errors import InputError
from dpcore.mechanism import Answer, Calibration, Mechanism
from dpcore.noise import NoiseSource
from dpcore.privacy import GDP, ZCDP, Approximate, Cost, Pure, pure_epsilon
from dpcore.risk import GradientBound, Risk
from dpcore_mechanisms.cover import SHARE, cover, grid
from dpcore_mechanisms.newton import Objective, minimise
from dpcore_mechanisms.vector import VectorNoise, smaller

Floats = npt.NDArray[np.float64]
TOLERANCE = 2.0**-19
_RELATIVE = 2.0**-44
_ENOUGH = 20.0
_LARGEST = 5.0
_CALM = 1.0
"""The regularisation of what is compared with, without noise."""
CHAUDHURI = Citation(
    key="chaudhuri2011differentially",
    author="Chaudhuri, K. and Monteleoni, C. and Sarwate, A.",
    title="Differentially private empirical risk minimization",
    year=2011,
    venue="Journal of Machine Learning Research",
    type="article",
)


def spendable(cost: Cost) -> float:
    """What is spent of a cost. With more, lam would be so small that weights which no row decides grow until the error
    of their margins cannot be certified."""
    return min(pure_epsilon(cost), _ENOUGH)


def determinant(bound: GradientBound, lam: float) -> float:
    """The most that one row's term in the Hessian can add to ln of its determinant: of a given trace, that is when
    its eigenvalues are equal."""
    rank = max(1, bound.classes - 1)
    return rank * math.log1p(bound.curvature / rank / lam)


def least_lam(bound: GradientBound, spent: float) -> float:
    """The lam whose determinant costs so much."""
    rank = max(1, bound.classes - 1)
    return bound.curvature / rank / math.expm1(spent / rank)


class Empirical(Mechanism):
    """What both mechanisms share."""

    accepts: ClassVar[tuple[str, ...]] = ("gradient",)
    costs: ClassVar[tuple[type[Cost], ...]] = (Pure, Approximate, ZCDP, GDP)
    guarantee: ClassVar[str] = "pure epsilon, or (epsilon, delta)"

    def fits(self, bound: Bound, cost: Cost) -> bool:
        return isinstance(bound, GradientBound) and super().fits(bound, cost)

    def lam(self, bound: GradientBound, cost: Cost) -> float:
        """The regularisation, from the cost and public facts: `strength` times what lets ln(1 + c/lam) be a quarter of
        epsilon, or what the query says; but never less than what lets it be half, or `_LARGEST`."""
        epsilon = spendable(cost)
        wished = bound.lam or bound.strength * least_lam(bound, epsilon / 4)
        # with delta a replaced row is two rows, each of which costs the logarithm out of its half
        most = epsilon / 4 if isinstance(cost, Approximate) and bound.scalar() > 1 else epsilon / 2
        return max(wished, least_lam(bound, min(most, _LARGEST)))

    @abstractmethod
    def noise(self, bound: GradientBound, cost: Cost) -> VectorNoise:
        """What is drawn, with what the cover leaves of epsilon."""

    def tolerance(self, bound: GradientBound, noise: VectorNoise) -> float:
        """What the gradient may be at most: a public number."""
        return max(TOLERANCE, _RELATIVE * bound.width * noise.scale)

    def solved(self, risk: Risk, lam: float, push: Floats, tolerance: float) -> Floats:
        """The minimum for one b."""
        return minimise(Objective(risk, lam, push), tolerance)

    def without_noise(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> Answer:
        risk = exact.item()
        return self.solved(risk, _CALM, np.zeros(risk.width), 1e-4)


@attrs.frozen
class ObjectivePerturbation(Empirical):
    """The minimiser of an objective with a random linear term."""

    citation: ClassVar[Citation | None] = CHAUDHURI
    notes: ClassVar[str] = (
        "lam = strength · c / (e^(epsilon/4) − 1), c the loss's largest second derivative; the minimum is certified, "
        "and 1/250 of epsilon covers what is left of its error. With delta, Gaussian noise (Redberg et al. 2023). "
        "An epsilon above 20 is charged whole and used as 20."
    )

    def noise(self, bound: GradientBound, cost: Cost) -> VectorNoise:
        epsilon = spendable(cost) * (1 - 2 * SHARE)
        spent = self.determinant(bound, cost)
        if isinstance(cost, Approximate) and cost.delta > 0 and bound.classes == 1:
            sigma = _sigma(epsilon, cost.delta * math.exp(-SHARE * spendable(cost)), spent, bound.scalar() > 1)
            return VectorNoise(sigma, "normal", bound.width)
        return smaller(bound, epsilon - spent)

    def determinant(self, bound: GradientBound, cost: Cost) -> float:
        """What of epsilon the change of variables costs."""
        return determinant(bound, self.lam(bound, cost))

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        bound = gradient_bound(bound)
        noise, lam = self.noise(bound, cost), self.lam(bound, cost)
        distance = (self.tolerance(bound, noise) + noise.error) / lam
        # without rows the minimiser is −b / lam; rows only pull it closer
        return Calibration(noise.scale / lam, grid(distance, bound.width), noise.size / lam)

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        bound = gradient_bound(bound)
        drawn, lam = self.noise(bound, cost), self.lam(bound, cost)
        tolerance = self.tolerance(bound, drawn)
        w = self.solved(exact.item(), lam, drawn.draw(noise), tolerance)
        return cover(w, (tolerance + drawn.error) / lam, SHARE * spendable(cost), noise)

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        bound, w = gradient_bound(bound), np.asarray(output, dtype=np.float64)
        risk, lam = exact.item(), self.lam(bound, cost)
        w = risk.projected(w)
        push = Objective(risk, lam, np.zeros(bound.width)).gradient(w)
        return float(self.noise(bound, cost).log_density(push) + risk.log_determinant(w, lam))


@attrs.frozen
class Chaudhuri2011(ObjectivePerturbation):
    """Objective perturbation with the constants of its paper: safe, and far more noise than it needs."""

    costs: ClassVar[tuple[type[Cost], ...]] = (Pure,)
    guarantee: ClassVar[str] = "pure epsilon"
    notes: ClassVar[str] = (
        "Charges ln(1 + 2c/lam + c²/lam²) where ln(1 + c/lam) is spent, and takes half of the rest under either "
        "adjacency."
    )

    def fits(self, bound: Bound, cost: Cost) -> bool:
        # its constants are for one row's gradient of length 1 and a Hessian term of rank 1
        return isinstance(bound, GradientBound) and bound.classes == 1 and super().fits(bound, cost)

    def lam(self, bound: GradientBound, cost: Cost) -> float:
        least = bound.curvature / math.expm1(spendable(cost) / 4)
        wished = bound.lam or bound.strength * least
        return wished if self._left(bound.curvature, wished, cost) > 0 else max(wished, least)

    @staticmethod
    def _left(curvature: float, lam: float, cost: Cost) -> float:
        """epsilon' of the paper, after the cover."""
        return spendable(cost) * (1 - 2 * SHARE) - 2 * math.log1p(curvature / lam)

    def noise(self, bound: GradientBound, cost: Cost) -> VectorNoise:
        left = self._left(bound.curvature, self.lam(bound, cost), cost)
        return VectorNoise(2 / left, "spherical", bound.width)


def gradient_bound(bound: Bound) -> GradientBound:
    if not isinstance(bound, GradientBound):
        raise InputError("a perturbed objective needs the bound of a gradient.")
    return bound


@lru_cache(maxsize=1024)
def _sigma(epsilon: float, delta: float, spent: float, replace: bool) -> float:
    """The least sigma of objective perturbation with delta."""
    if replace:
        epsilon, delta = epsilon / 2, delta / (1 + math.exp(epsilon / 2))
    left = epsilon - spent

    def enough(sigma: float) -> bool:
        return left >= 1 / (2 * sigma * sigma) and 2 * gdp_delta(1 / (sigma * sigma), left) <= delta

    top = 1.0
    while not enough(top):
        top *= 2
    return smallest(enough, top)
