"""Noise that repeats itself for a seed: fast float samplers, for experiments only.

Its distributions are right to float precision, not exactly, and whoever knows the seed can take the noise
away.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from dpcore.noise.bernoulli import Floats
from dpcore.noise.rounded import Quantile
from dpcore.noise.source import Array, NoiseSource, count, finite_scores, positive
from dpcore.noise.uniform import collect, objects

_INT64_UP_TO = 2.0**62
_GEOMETRIC_UP_TO = 1 << 20
_TABLE_UP_TO = 1 << 10


class SeededNoise(NoiseSource):
    """The source for experiments: the same seed gives the same numbers.

    Threads may share one and draw different numbers. Forked processes that share one draw the same: each has a copy of
    the generator in the same state.

    Args:
        seed: a non-negative int; a `numpy.random.Generator`, which is used and advanced; a
            `numpy.random.RandomState`, from which a seed is drawn; or None for a seed nobody knows.

    Raises:
        ParameterError: if `seed` is none of these.
    """

    reproducible: ClassVar[bool] = True

    def __init__(self, seed: Any = None) -> None:
        self._rng = _generator(seed)

    def integers(self, high: int, size: int) -> Array:
        high, size = count("high", high, 1), count("size", size, 0)
        if high <= 1 << 63:
            return self._rng.integers(high - 1, size=size, dtype=np.int64, endpoint=True)
        bits = (high - 1).bit_length()
        width = -(-bits // 8)

        def propose(n: int) -> Array:
            raw = (int.from_bytes(self._rng.bytes(width), "little") >> (8 * width - bits) for _ in range(n))
            return objects([value for value in raw if value < high])

        return collect(size, propose, 2.0)

    def discrete_laplace(self, scale: Fraction, size: int) -> Array:
        scale, size = positive("scale", scale), count("size", size, 0)
        if scale >= _GEOMETRIC_UP_TO:
            return _nearest(self._rng.laplace(size=size), scale)
        p = -math.expm1(-1.0 / max(float(scale), 1e-3))
        pairs = self._rng.geometric(p, size=(2, size))
        difference: Array = pairs[0] - pairs[1]
        return difference

    def discrete_gaussian(self, variance: Fraction, size: int) -> Array:
        variance, size = positive("variance", variance), count("size", size, 0)
        if variance >= _TABLE_UP_TO**2:
            return _nearest(self._rng.standard_normal(size), _root(variance))
        first, cumulative = _table(variance)
        return np.searchsorted(cumulative, self._rng.random(size), side="right") + first

    def rounded(self, distribution: Quantile, scale: Fraction, size: int) -> Array:
        scale, size = positive("scale", scale), count("size", size, 0)
        z = distribution.upper(1.0 - self._rng.random(size))
        return _nearest(np.where(self._rng.random(size) < 0.5, -z, z), scale)

    def gaussian(self, sigma: Fraction, size: int) -> Array:
        sigma, size = positive("sigma", sigma), count("size", size, 0)
        return _nearest(self._rng.standard_normal(size), sigma)

    def exponential_choice(self, scores: Array, rate: Fraction) -> int:
        weights = _weights(finite_scores(scores), positive("rate", rate))
        return int(np.argmax(weights + self._rng.gumbel(size=len(weights))))

    def permute_and_flip(self, scores: Array, rate: Fraction) -> int:
        """Report-noisy-max with exponential noise, the same distribution: Ding et al. (2021)."""
        weights = _weights(finite_scores(scores), positive("rate", rate))
        return int(np.argmax(weights + self._rng.standard_exponential(len(weights))))


def _generator(seed: Any) -> np.random.Generator:
    if isinstance(seed, np.random.RandomState):
        seed = [int(word) for word in seed.randint(0, 1 << 32, size=4, dtype=np.uint32)]
    elif not (seed is None or isinstance(seed, np.random.Generator)):
        seed = count("random_state", seed, 0)
    return np.random.default_rng(seed)


def _nearest(z: Floats, scale: Fraction) -> Array:
    """`scale * z` rounded to the nearest integer: int64 if all are below 2**62, otherwise Python ints."""
    if scale < 2**900:
        with np.errstate(over="ignore"):
            x = np.rint(z * float(scale))
        if np.abs(x).max(initial=0.0) < _INT64_UP_TO:
            return x.astype(np.int64)
    return objects([round(Fraction(value) * scale) for value in z.tolist()])


def _root(variance: Fraction) -> Fraction:
    """The square root of a variance of at least 1, to 64 bits or more."""
    return Fraction(math.isqrt(math.floor(variance * (1 << 128))), 1 << 64)


@lru_cache(maxsize=64)
def _table(variance: Fraction) -> tuple[int, Floats]:
    """The smallest value and the cumulative probabilities of all but the largest, 12 sigma to either side."""
    width = math.ceil(12.0 * math.sqrt(variance)) + 1
    x = np.arange(-width, width + 1, dtype=np.float64)
    with np.errstate(under="ignore", over="ignore"):
        weights = np.exp(-(x**2) / max(2.0 * float(variance), 1e-300))
    cumulative = np.cumsum(weights)
    return -width, cumulative[:-1] / cumulative[-1]


def _weights(scores: Floats, rate: Fraction) -> Floats:
    with np.errstate(over="ignore", under="ignore"):
        gap = np.minimum(scores.max() - scores, 1e300)
        weights: Floats = -np.minimum(gap * float(min(rate, Fraction(10) ** 300)), 1e300)
    return weights
