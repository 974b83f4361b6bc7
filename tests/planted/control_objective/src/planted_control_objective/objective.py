"""Objective perturbation of a logistic regression (Chaudhuri, Monteleoni & Sarwate 2011), in sum form.

J(w) = Σ n_i log(1 + e^(−v_i·w)) + (lam/2) ‖w‖² + b·w, with b of density ∝ e^(−beta ‖b‖). At the minimiser
b = −∇J0(w), J0 = J − b·w, so the density of w is that of b there times |det ∇²J0(w)|. A row more adds one vector of
norm at most 1 to the gradient and one term of size at most c = 1/4 to the Hessian: the loss is at most
beta + ln(1 + c/lam). A row that is replaced moves the gradient by 2; one term goes and one comes, so the determinant
changes by no more. Hence beta = (epsilon − ln(1 + c/lam)) / (1 or 2).

A fixture: b is made of floats, and what is released is rounded to a grid to hide most of that. Not for production.
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
from dpcore.errors import InputError
from dpcore.mechanism import Answer, Calibration, Mechanism
from dpcore.noise import NoiseSource
from dpcore.privacy import Cost, Pure, pure_epsilon

from .risk import CHAUDHURI, Floats, GradientBound

GRID = 2.0**-30
_CURVATURE = 0.25
_PRECISE = 1e-10


@attrs.frozen(eq=False)
class Problem:
    """J0 over some counted vectors."""

    counts: npt.NDArray[Any]
    vectors: Floats
    lam: float

    def gradient(self, w: Floats) -> Floats:
        """∇J0(w)."""
        weight = -self.counts * _logistic(-self.vectors @ w)
        return np.asarray(self.vectors.T @ weight + self.lam * w)

    def hessian(self, w: Floats) -> Floats:
        """∇²J0(w)."""
        margin = self.vectors @ w
        weight = self.counts * _logistic(margin) * _logistic(-margin)
        return np.asarray((self.vectors.T * weight) @ self.vectors + self.lam * np.eye(len(w)))

    def minimiser(self, b: Floats) -> Floats:
        """Where ∇J0(w) = −b, by damped Newton steps.

        Raises:
            InputError: if the gradient does not vanish.
        """
        w = np.zeros(self.vectors.shape[1])
        for _ in range(500):
            slope = self.gradient(w) + b
            size = np.linalg.norm(slope)
            if size <= _PRECISE * (1 + np.linalg.norm(b) + self.counts.sum()):
                return w
            way = np.linalg.solve(self.hessian(w), slope)
            length = 1.0
            # some shorter step always makes the slope smaller: its derivative along the way is −slope
            while length > _PRECISE and np.linalg.norm(self.gradient(w - length * way) + b) >= size:
                length /= 2
            w = w - length * way
        raise InputError("the objective has no minimum that Newton's method finds.")


def _logistic(z: Floats) -> Floats:
    return np.asarray(np.exp(-np.logaddexp(0.0, -z)))


@attrs.frozen
class Objective(Mechanism):
    """The minimiser of a perturbed objective."""

    accepts: ClassVar[tuple[str, ...]] = ("l2",)
    costs: ClassVar[tuple[type[Cost], ...]] = (Pure,)
    citation: ClassVar[Citation | None] = CHAUDHURI
    notes: ClassVar[str] = "Made for tests."

    def fits(self, bound: Bound, cost: Cost) -> bool:
        return isinstance(bound, GradientBound) and super().fits(bound, cost)

    def lam(self, cost: Cost) -> float:
        """Ten times what lets the determinant cost a quarter of epsilon: a public number."""
        return 10 * _CURVATURE / math.expm1(pure_epsilon(cost) / 4)

    def beta(self, bound: Bound, cost: Cost) -> float:
        """The rate of the noise, by what the determinant leaves of epsilon."""
        return (pure_epsilon(cost) - math.log1p(_CURVATURE / self.lam(cost))) / bound.scalar()

    def problem(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> Problem:
        """The objective without its noise."""
        if not isinstance(bound, GradientBound):
            raise InputError("objective perturbation takes the bound of a gradient.")
        return Problem(exact, bound.vectors, self.lam(cost))

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        # the minimiser of no rows at all is −b / lam
        return Calibration(1 / (self.beta(bound, cost) * self.lam(cost)), GRID, None)

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        b = draw(noise, self.beta(bound, cost))
        return np.rint(self.solve(self.problem(exact, bound, cost), b) / GRID) * GRID

    def solve(self, problem: Problem, b: Floats) -> Floats:
        """The answer for one draw of b."""
        return problem.minimiser(b)

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        w = np.asarray(output, dtype=np.float64)
        problem = self.problem(exact, bound, cost)
        _, log_determinant = np.linalg.slogdet(problem.hessian(w))
        return float(-self.beta(bound, cost) * np.linalg.norm(problem.gradient(w)) + log_determinant)


def draw(noise: NoiseSource, beta: float) -> Floats:
    """b in two dimensions: a Gamma(2, 1/beta) norm, the sum of two exponentials, and a uniform direction."""
    norm = -np.log((noise.integers(2**53, 2) + 1) * 2.0**-53).sum() / beta
    way = noise.gaussian(Fraction(2**40), 2).astype(np.float64)
    return np.asarray(norm * way / np.linalg.norm(way))
