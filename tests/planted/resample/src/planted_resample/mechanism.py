"""Noise drawn again until the answer is positive.

The mistake: the author wants positive counts and takes the redraw for harmless. It divides the density by the
probability of a positive answer, which depends on the exact answer.

What it costs: ln(2 e^epsilon − 1) for one count that rises from 0 by the bound; 1.49 where epsilon is 1.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.mechanism import Answer, Calibration
from dpcore.noise import NoiseSource
from dpcore.privacy import Cost
from planted_resample.noise import Noise

FINE = 1024
"""Parts of a step of the exact answers' grid: the noise is as good as continuous."""


@attrs.frozen
class ResampleBelieved(Noise):
    """Redrawn noise, and the density of noise that is not."""

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        found = super().calibrate(bound, cost)
        return attrs.evolve(found, grid=bound.grid / FINE, expected_error=found.scale)

    def fine(self, bound: Bound, cost: Cost) -> Fraction:
        """The scale in fine steps."""
        return self.scale(bound, cost) * FINE

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        whole = np.maximum(exact.ravel(), 0) * FINE
        total = whole + noise.discrete_laplace(self.fine(bound, cost), whole.size)
        while (again := total <= 0).any():
            total[again] = whole[again] + noise.discrete_laplace(self.fine(bound, cost), int(again.sum()))
        return np.asarray(total.astype(np.float64) * (bound.grid / FINE)).reshape(exact.shape)

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        return super().log_density(output, np.maximum(exact, 0), bound, cost)


@attrs.frozen
class Resample(ResampleBelieved):
    """Redrawn noise, and the density that it has."""

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        if (np.asarray(output) <= 0).any():
            return -math.inf
        scale = float(self.fine(bound, cost))
        # P(noise > −m) = 1 − a^m / (1 + a), a = e^(−1/scale), m fine steps
        missed = np.exp(-np.maximum(exact, 0) * FINE / scale) / (1 + math.exp(-1 / scale))
        return super().log_density(output, exact, bound, cost) - float(np.log1p(-missed).sum())
