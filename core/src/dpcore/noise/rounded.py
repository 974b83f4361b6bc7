"""Any symmetric continuous distribution, rounded to the nearest integer without error.

The absolute value is Q(U), where Q is the quantile of the upper tail and U a uniform number known to as many
bits as needed. Floats bracket the rounded value; where the bracket holds more than one integer, comparisons
of U with tail probabilities, in arithmetic of growing precision, settle it. scipy and mpmath are imported
only here, when used.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import attrs
import numpy as np

from dpcore.noise.bernoulli import Floats
from dpcore.noise.entropy import WORD, Entropy, LazyUniform
from dpcore.noise.source import Array
from dpcore.noise.uniform import CHUNK, objects, signs

_GUARD = 64
_FLOAT_UP_TO = 2.0**500
_INT64_UP_TO = 2.0**62
_LARGEST = 1e300


@attrs.frozen
class Quantile:
    """A continuous distribution symmetric about 0, given by the tails of its absolute value.

    Args:
        name: what it is called.
        upper: for float64 q in (0, 1], shape (n,), float64 z with P(|Z| > z) = q. Without warnings, and
            decreasing.
        tail: `tail(mp, z)` = P(|Z| > z) for an mpmath number z >= 0, in the precision of the mpmath context
            `mp`, to all but its last 40 bits; or 0 where it is below 2**-(2**20).
        error: `upper(q)` is within `error * (1 + z)` of every true quantile z of a probability within q (1 ±
            2**-52). At least 2**-48.
    """

    name: str
    upper: Callable[[Floats], Floats]
    tail: Callable[[Any, Any], Any]
    error: float = 2.0**-36


def _gaussian_upper(q: Floats) -> Floats:
    from scipy.special import ndtri

    z: Floats = -ndtri(q / 2.0)
    return z


def _gaussian_tail(mp: Any, z: Any) -> Any:
    # Beyond 2**32 the tail is below 2**-(2**62), and mpmath's exponents overflow.
    return mp.erfc(z / mp.sqrt(2)) if z < 2**32 else mp.zero


GAUSSIAN = Quantile("gaussian", _gaussian_upper, _gaussian_tail, error=2.0**-42)
"""The standard normal distribution. ndtri errs by some 2**-51 (1 + z), as compared with mpmath."""


def rounded(entropy: Entropy, distribution: Quantile, scale: Fraction, size: int) -> Array:
    """Draws of `scale` times Z, rounded to the nearest integer, shape (size,).

    Ties have probability 0, so rounding and sign commute: P(0) = P(scale |Z| < 1/2). Int64 if every draw is
    below 2**62, otherwise Python ints.
    """
    parts = [_chunk(entropy, distribution, scale, min(CHUNK, size - start)) for start in range(0, size, CHUNK)]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _chunk(entropy: Entropy, distribution: Quantile, scale: Fraction, size: int) -> Array:
    words = entropy.words(size)
    # U lies in [word, word + 1) 2**-64, so |Z| between the quantiles of the two ends; a word 0 leaves the
    # upper one open.
    ends = words.astype(np.float64)
    least = _step(distribution, (ends + 1.0) * 2.0**-WORD, -1.0)
    most = _step(distribution, np.maximum(ends, 0.5) * 2.0**-WORD, 1.0)
    if scale < _FLOAT_UP_TO:
        # Rounding here is below 2**-51 (x + 1/2), less than the margin near any half-integer.
        factor = float(scale)
        with np.errstate(over="ignore"):
            low = np.floor(least * factor + 0.5)
            high = np.floor(most * factor + 0.5)
        sure = (low == high) & (words > 0) & (most < _LARGEST) & (high < _INT64_UP_TO)
    else:
        low = np.zeros(size)
        sure = np.zeros(size, dtype=bool)
    result: Array = np.where(sure, low, 0.0).astype(np.int64)
    unsure = np.flatnonzero(~sure)
    if len(unsure):
        settled = [
            _settle(
                LazyUniform(entropy, int(words[i])),
                distribution,
                scale,
                float(least[i]),
                float(most[i]) if words[i] else math.inf,
            )
            for i in unsure.tolist()
        ]
        if max(settled) >= _INT64_UP_TO:
            result = result.astype(object)
        result[unsure] = objects(settled)
    return np.where(signs(entropy, size), -result, result)


def _step(distribution: Quantile, q: Floats, side: float) -> Floats:
    z = np.minimum(distribution.upper(np.minimum(q, 1.0)), _LARGEST)
    moved: Floats = np.maximum(z + side * distribution.error * (1.0 + z), 0.0)
    return moved


def _settle(u: LazyUniform, distribution: Quantile, scale: Fraction, least: float, most: float) -> int:
    """The integer nearest to scale * Q(u), given that Q(u) lies in [least, most]."""

    def beyond(n: int) -> bool:
        z = (n + Fraction(1, 2)) / scale
        return u.below(lambda bits: _tail_bounds(distribution, z, bits))

    half = Fraction(1, 2)
    low = math.floor(Fraction(least) * scale + half)
    if most < _LARGEST:
        high = math.floor(Fraction(most) * scale + half)
    else:
        high = 2 * low + 1
        while beyond(high):
            low, high = high + 1, 2 * high + 1
    while low < high:
        middle = (low + high) // 2
        if beyond(middle):
            low = middle + 1
        else:
            high = middle
    return low


def _tail_bounds(distribution: Quantile, z: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    mp = _context()
    mp.prec = bits + _GUARD
    tail = mp.mpf(distribution.tail(mp, mp.mpf(z.numerator) / z.denominator))
    if mp.mag(tail) < -mp.prec:
        # Too small to matter, and perhaps too small to write down as a fraction.
        return Fraction(0), Fraction(1, 1 << (bits + _GUARD))
    p = Fraction(int(tail.man)) * Fraction(2) ** int(tail.exp)
    slack = p / (1 << (bits + 16))
    return p - slack, p + slack


class _Local(threading.local):
    context: Any = None


_local = _Local()


def _context() -> Any:
    """This thread's own mpmath context: the precision of `mpmath.mp` is everyone's."""
    if _local.context is None:
        import mpmath

        _local.context = mpmath.MPContext()
    return _local.context
