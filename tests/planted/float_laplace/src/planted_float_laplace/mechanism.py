"""Laplace noise in floating point.

The mistake: the textbook's Laplace mechanism, with the generator at hand. Over the real numbers it is epsilon-DP.

What it costs: everything, to whoever looks at the last bits (Mironov 2012). The floats that exact + noise can give
differ from one exact answer to the next, so many an answer is possible on one table only. NumPy's own generator also
draws outside the curator's noise: a fit cannot be repeated from its seed, and its numbers can be predicted.
"""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.mechanism import Answer, Calibration
from dpcore.noise import NoiseSource
from dpcore.privacy import Cost
from planted_float_laplace.noise import Noise


@attrs.frozen
class FloatLaplace(Noise):
    """Laplace noise from NumPy's generator."""

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        found = super().calibrate(bound, cost)
        return attrs.evolve(found, grid=0.0, expected_error=found.scale)

    def noise(self, scale: float, size: int, noise: NoiseSource) -> npt.NDArray[np.float64]:
        """The draws."""
        return np.random.default_rng().laplace(0.0, scale, size)

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        scale = float(self.scale(bound, cost)) * bound.grid
        return np.asarray(exact * bound.grid + self.noise(scale, exact.size, noise).reshape(exact.shape))


@attrs.frozen
class FloatLaplaceInverted(FloatLaplace):
    """The logarithm of a uniform number from the curator's noise: repeatable, and as bad in its last bits."""

    def noise(self, scale: float, size: int, noise: NoiseSource) -> npt.NDArray[np.float64]:
        u = (noise.integers(2**53 - 1, size) + 1) * 2.0**-53 - 0.5
        return np.asarray(-scale * np.sign(u) * np.log1p(-2 * np.abs(u)))
