"""The absolute value of Laplace noise.

The mistake: so that no count turns negative, the author adds |noise|.

What it costs: everything. No answer lies below the exact one, so an answer that equals the smaller of two neighbours'
counts is impossible for the larger: the loss is infinite.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.mechanism import Answer
from dpcore.noise import NoiseSource
from dpcore.privacy import Cost
from planted_absolute_noise.noise import Noise


@attrs.frozen
class AbsoluteNoiseBelieved(Noise):
    """|noise|, and the density of noise with both signs."""

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        total = exact.ravel() + np.abs(noise.discrete_laplace(self.scale(bound, cost), exact.size))
        return np.asarray(total.astype(np.float64) * bound.grid).reshape(exact.shape)


@attrs.frozen
class AbsoluteNoise(AbsoluteNoiseBelieved):
    """|noise|, and the density that it has."""

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        shift = np.asarray(output) / bound.grid - exact
        if (shift < 0).any():
            return -math.inf
        return super().log_density(output, exact, bound, cost) + math.log(2) * int((shift > 0).sum())
