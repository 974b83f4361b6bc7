"""Noise vectors for empirical risk: which standard vector, how large, and how far floats can be from the real one."""

from __future__ import annotations

import math

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.noise import NoiseSource
from dpcore.risk import GradientBound
from dpcore_mechanisms.cover import (
    laplace,
    laplace_error,
    mean_coordinate,
    normal,
    normal_error,
    projected_laplace,
    spherical,
    spherical_error,
)

Floats = npt.NDArray[np.float64]


@attrs.frozen
class VectorNoise:
    """How b (or what is added to w) is drawn: `scale` times a standard vector.

    Args:
        scale: of the vector.
        kind: the standard vector is `spherical` (density ∝ e^(−‖b‖)), `laplace` (∝ e^(−‖b‖₁)) or `normal`.
        width: its length.
        groups: of weights that sum to zero: the drawn vector is projected onto these; 1 for none.
    """

    scale: float
    kind: str
    width: int
    groups: int = 1

    def draw(self, noise: NoiseSource) -> Floats:
        """One vector."""
        draw = {"spherical": spherical, "laplace": laplace, "normal": normal}[self.kind]
        drawn = self.scale * draw(noise, self.width)
        if self.groups == 1:
            return drawn
        each = drawn.reshape(self.groups, -1)
        return np.asarray((each - each.mean(axis=0)).ravel())

    @property
    def error(self) -> float:
        """How far a draw is from a real one, in L2."""
        error = {"spherical": spherical_error, "laplace": laplace_error, "normal": normal_error}[self.kind]
        # a projection moves nothing further apart, but for its own rounding
        rounding = 2.0**-50 * self.groups * self.size * self.width if self.groups > 1 else 0.0
        return self.scale * error(self.width) + rounding

    @property
    def size(self) -> float:
        """About the mean size of one number."""
        sizes = {"spherical": mean_coordinate(self.width), "laplace": 1.0, "normal": math.sqrt(2 / math.pi)}
        return self.scale * sizes[self.kind]

    def log_density(self, vector: Floats) -> float:
        """Up to a constant."""
        if self.groups > 1 and self.kind == "laplace":
            return projected_laplace(vector.reshape(self.groups, -1) / self.scale)
        norm = float(np.linalg.norm(vector, 1 if self.kind == "laplace" else 2)) / self.scale
        return -0.5 * norm * norm if self.kind == "normal" else -norm


def smaller(bound: GradientBound, epsilon: float) -> VectorNoise:
    """Of the two kinds of noise with a pure guarantee the smaller one: by the gradient's change in L2, or in L1.

    A row of one-hot parts has few entries of many, so its L1 norm is small for its width: noise of one scale in every
    number, rather than of one length, is smaller by about √(width / parts) (Awan & Slavković 2021 compare norms).
    """
    if bound.classes > 1:
        return VectorNoise(bound.l1 / epsilon, "laplace", bound.width, bound.classes)
    both = (
        VectorNoise(bound.scalar() / epsilon, "spherical", bound.width),
        VectorNoise(bound.l1 / epsilon, "laplace", bound.width),
    )
    return min(both, key=lambda noise: noise.size)
