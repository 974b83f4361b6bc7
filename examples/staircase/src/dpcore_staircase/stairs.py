"""The staircase distribution on the integers, and how it is drawn.

P(x) ∝ e^(−eps' j(x)), j(x) = 0 for |x| < r, otherwise 1 + ⌊(|x| − r) / w⌋: flat on a centre and on blocks of width w.

With w = 1 it is discrete Laplace. Otherwise a coin says whether x is in the tail; the centre is uniform; the tail is
r + w G + U, G geometric with ratio e^(−eps'), U uniform on a block, with a fair sign. The coin's probability is that
of floats times 1 + 2^−40, which covers their error: the tail gets a hair more than its due, so the ratio of centre to
first block only falls below e^eps' (and stays above 1, for eps' ≥ 1). All other ratios are exact.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.noise import NoiseSource

_COIN = 1 << 62


@attrs.frozen
class Stairs:
    """Noise with blocks of `width` w beyond the centre |x| < `radius` r; `scale` is 1/eps', exactly."""

    width: int
    radius: int
    scale: Fraction

    @property
    def tail(self) -> float:
        """P(|x| ≥ r)."""
        outer = 2 * self.width * math.exp(-1 / self.scale)
        return outer / (outer - (2 * self.radius - 1) * math.expm1(-1 / self.scale))

    @property
    def coin(self) -> int:
        """The tail's probability as it is drawn, in units of 2^−62; at least 1."""
        return max(1, math.ceil(Fraction(self.tail) * (1 + Fraction(1, 1 << 40)) * _COIN))

    @property
    def expected_error(self) -> float:
        """E|x|."""
        r, w = self.radius, self.width
        outside = r + (w - 1) / 2 - w * (1 / math.expm1(-1 / self.scale) + 1)
        return (1 - self.tail) * r * (r - 1) / (2 * r - 1) + self.tail * outside

    def log_mass(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """log P(x), as drawn, up to a constant."""
        edges = np.where(np.abs(x) < self.radius, 0.0, 1 + np.floor((np.abs(x) - self.radius) / self.width))
        if self.width == 1:
            return np.asarray(-edges / float(self.scale))
        p = self.coin / _COIN
        outer = p * -math.expm1(-1 / self.scale) / (2 * self.width)
        first = math.log(outer) - math.log((1 - p) / (2 * self.radius - 1))
        return np.where(edges == 0, 0.0, first - (edges - 1) / float(self.scale))

    def draw(self, noise: NoiseSource, size: int) -> npt.NDArray[Any]:
        """`size` draws."""
        if self.width == 1:
            return noise.discrete_laplace(self.scale, size)
        blocks = np.empty(0, dtype=object)
        while len(blocks) < size:  # a discrete Laplace draw that is not negative is geometric; most are
            drawn = noise.discrete_laplace(self.scale, 2 * size + 8)
            blocks = np.concatenate([blocks, drawn[drawn >= 0].astype(object)])
        outer = self.radius + self.width * blocks[:size] + noise.integers(self.width, size)
        centre = noise.integers(2 * self.radius - 1, size).astype(object) - (self.radius - 1)
        outside = noise.integers(_COIN, size) < self.coin
        return np.where(outside, outer * (1 - 2 * noise.integers(2, size)), centre)
