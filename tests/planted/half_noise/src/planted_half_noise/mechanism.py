"""Noise of half the scale.

The mistake: the author takes the mean distance between two draws, about twice the scale, for the scale. The noise is
Laplace of scale bound / (2 epsilon).

What it costs: 2 epsilon.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import attrs
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.mechanism import Answer
from dpcore.noise import NoiseSource
from dpcore.privacy import Cost
from planted_half_noise.noise import Noise


@attrs.frozen
class HalfNoise(Noise):
    """Half the noise, and a density that says so."""

    def scale(self, bound: Bound, cost: Cost) -> Fraction:
        return super().scale(bound, cost) / 2


@attrs.frozen
class HalfNoiseBelieved(Noise):
    """Half the noise, and a density that speaks of the whole."""

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        return HalfNoise().release(exact, bound, cost, noise)
