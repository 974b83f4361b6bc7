"""Vectors of noise that depend on their length alone, and the small noise that covers what floats get wrong.

Neither the minimum of an objective nor a point drawn on a sphere can be computed exactly. What is computed stands
within a known public distance t of a real vector whose distribution has the proof. Both are rounded to a grid, where
they are at most T = √p t / grid + p steps apart in L1, and discrete Laplace noise of scale T / a is added, drawn
exactly. For every real vector that changes the probability of any output by a factor within e^±a. So if the real
release is epsilon-DP, what is given out is (epsilon + 2a)-DP, and nothing is left in the low bits (Iyengar et al. 2019
cover an approximate minimum in the same way).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpcore.errors import NotConverged
from dpcore.noise import NoiseSource
from dpcore.noise.rounded import Quantile
from dpcore.query import power_of_two

Floats = npt.NDArray[np.float64]
SHARE = 1 / 500
"""Of a release's epsilon, for each side of the cover."""
_UNIT = 50
"""Normal numbers are drawn exactly rounded to multiples of 2^-50."""
_MOST = 256
"""No Laplace number is larger, with probability 1 − e^-256 each."""
LAPLACE = Quantile("laplace", lambda q: -np.log(q), lambda mp, z: mp.exp(-z), error=2.0**-46)


def normal(noise: NoiseSource, size: int) -> Floats:
    """Standard normal numbers, each near a real one: rounded once to a grid, 2^-51 at most, and once to a float.

    Raises:
        NotConverged: if they are longer than `_longest` says; the probability is below e^-128.
    """
    drawn: Floats = noise.gaussian(Fraction(2**_UNIT), size).astype(np.float64) * 2.0**-_UNIT
    if np.linalg.norm(drawn) > _longest(size):
        raise NotConverged("a draw of noise left the range that is provided for. Nothing is released.")
    return drawn


def _longest(size: int) -> float:
    return 2 * math.sqrt(size) + 16


def spherical(noise: NoiseSource, width: int) -> Floats:
    """A vector with density ∝ e^(−‖b‖), shape (width,).

    ‖h‖ g for independent standard normal vectors, h in one dimension more: ‖h‖² ~ 2 Gamma((p + 1)/2), and
    ∫ v^(-1/2) e^(−v/2 − r²/(2v)) dv = √(2π) e^(−r). Nothing is divided, so errors stay small.
    """
    return np.asarray(np.linalg.norm(normal(noise, width + 1)) * normal(noise, width))


def spherical_error(width: int) -> float:
    """How far `spherical` can be from the real vector that it stands for, in L2."""
    longest, coarse = _longest(width + 1), 2.0**-_UNIT * math.sqrt(width + 1)
    # a norm's sum of squares adds a rounding for each number
    return 2 * longest * coarse + (2.0**-48 + 2.0**-53 * width) * longest**2


def laplace(noise: NoiseSource, size: int) -> Floats:
    """A vector with density ∝ e^(−‖b‖₁), each number within 2^-50 (relative, above 1) of a real one."""
    drawn: Floats = noise.rounded(LAPLACE, Fraction(2**_UNIT), size).astype(np.float64) * 2.0**-_UNIT
    if np.abs(drawn).max() > _MOST:
        raise NotConverged("a draw of noise left the range that is provided for. Nothing is released.")
    return drawn


def laplace_error(width: int) -> float:
    """How far `laplace` can be from the real vector that it stands for, in L2."""
    return 2.0**-_UNIT * _MOST * math.sqrt(width)


def projected_laplace(vectors: Floats) -> float:
    """The log-density of `laplace` after each column's mean has been taken away, up to a constant.

    ∫ e^(−Σ_c |z_c + t|) dt, in each column z: between two breakpoints t = −z_c the exponent is linear.

    Args:
        vectors: shape (groups, numbers), columns summing to 0.
    """
    groups = len(vectors)
    breaks = np.sort(-vectors, axis=0)
    heights = -np.abs(breaks[:, None] - breaks[None, :]).sum(axis=0)
    top = heights.max(axis=0)
    area = np.exp(heights - top)
    total = (area[0] + area[-1]) / groups
    for i in range(1, groups):
        slope, length = groups - 2 * i, breaks[i] - breaks[i - 1]
        total += area[i] * length if slope == 0 else (area[i] - area[i - 1]) / slope
    return float((top + np.log(total)).sum())


def normal_error(width: int) -> float:
    """The same for `normal`, multiplied once in floats."""
    return 2.0**-_UNIT * math.sqrt(width) + 2.0**-51 * _longest(width)


def mean_coordinate(width: int) -> float:
    """About the mean of one coordinate's size, of a vector with density ∝ e^(−‖b‖)."""
    return math.sqrt(2 / math.pi * (width + 1))


def grid(distance: float, width: int) -> float:
    """The public grid for vectors that are known to within a distance."""
    return power_of_two(distance / math.sqrt(width))


def cover(vector: Floats, distance: float, epsilon: float, noise: NoiseSource) -> Floats:
    """A vector on the grid, for a release that is private at any real vector within the distance.

    Args:
        vector: shape (p,).
        distance: how far in L2 it can be from the real one, > 0: a public number.
        epsilon: a of this module's text.
    """
    step, width = grid(distance, len(vector)), len(vector)
    apart = math.ceil(math.sqrt(width) * distance / step) + width
    drawn = noise.discrete_laplace(Fraction(apart) / Fraction(epsilon), width)
    whole = np.array([round(v) for v in (vector / step).tolist()], dtype=object)
    return np.asarray((whole + drawn.astype(object)).astype(np.float64) * step)
