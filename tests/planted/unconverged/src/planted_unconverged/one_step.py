"""Objective perturbation that stops before the minimum.

The mistake: to save time the author starts at the minimiser without noise, which is near, and takes one gradient step
of 0.01 on the perturbed objective. (A single step from 0 would only be a noisy gradient, and private.)

What it costs: the answer is w0 − 0.01 b, the exact minimiser with a hundredth of the noise, so the loss is
100 beta ‖w0 − w0'‖. One row against none moves w0 by 0.055 where epsilon is 1: the loss is 5.3. Among rows that the
classes separate, more.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.mechanism import Answer
from dpcore.privacy import Cost
from planted_unconverged.objective import Objective, Problem
from planted_unconverged.risk import Floats

RATE = 0.01


@attrs.frozen
class OneStepBelieved(Objective):
    """One step, and the density of the minimiser."""

    def solve(self, problem: Problem, b: Floats) -> Floats:
        start = problem.minimiser(np.zeros_like(b))
        return start - RATE * (problem.gradient(start) + b)


@attrs.frozen
class OneStep(OneStepBelieved):
    """One step, and the density that it has."""

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        start = self.problem(exact, bound, cost).minimiser(np.zeros(2))
        return float(-self.beta(bound, cost) * np.linalg.norm(np.asarray(output) - start) / RATE)
