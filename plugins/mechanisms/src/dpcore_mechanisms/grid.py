"""Public grids: exact answers and noise are whole numbers in units of a power of two, so that no low bit of
a float tells anything (Mironov 2012; Casacuberta et al. 2022)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from dpcore.errors import InputError
from dpcore.query import power_of_two

_BITS = 40
"""Scales keep this many significant bits, rounded up: noise is never smaller than asked for."""
FINE = 2.0**-20
"""How much finer than its scale the grid of a fine mechanism is."""
_FINEST = 2.0**-200
_LARGEST = Fraction(2) ** 1000
"""No noise may be larger, in the answer's units or in steps: its draws must stay floats."""


def round_up(value: Fraction) -> Fraction:
    """The smallest number with `_BITS` significant bits that is ≥ value > 0."""
    shift = _BITS - (value.numerator.bit_length() - value.denominator.bit_length())
    scaled = value * Fraction(2) ** shift
    return Fraction(math.ceil(scaled)) / Fraction(2) ** shift


def ratio(sensitivity: float, cost: float) -> Fraction:
    """sensitivity / cost, exactly: the scale of the noise.

    Raises:
        InputError: if it is too large for floating point, or the cost is 0.
    """
    if cost > 0 and math.isfinite(sensitivity):
        scale = Fraction(sensitivity) / Fraction(cost)
        if scale <= _LARGEST:
            return scale
    raise InputError(f"a budget of {cost:.3g} is too small for a sensitivity of {sensitivity:.3g}: no finite noise.")


def in_steps(scale: Fraction, out: float) -> Fraction:
    """A scale in steps of the released grid, rounded up.

    Raises:
        InputError: if it is too large for floating point.
    """
    steps = round_up(scale / Fraction(out))
    if steps > _LARGEST:
        raise InputError(f"noise of scale {float(scale):.3g} is too large for a grid of {out:.3g}.")
    return steps


def fine_grid(scale: Fraction, grid: float) -> float:
    """A power of two that is at most the exact answers' grid and much less than the noise's scale (but not
    so fine that whole numbers of it leave floating point)."""
    return min(grid, max(power_of_two(float(scale)) * FINE, grid * _FINEST))


def add(exact: npt.NDArray[Any], noise: npt.NDArray[Any], grid: float, out: float) -> npt.NDArray[np.float64]:
    """Exact answer (units of `grid`) plus noise (units of `out`), as numbers.

    The sum is taken in whole numbers; turning it into a float afterwards is post-processing.
    """
    finer = round(grid / out)
    # 2^61 leaves room for the noise and the sum
    small = noise.dtype != object and finer * max(1, int(np.abs(exact).max(initial=0))) < 2**61
    if small and int(np.abs(noise).max(initial=0)) < 2**61:
        total: npt.NDArray[Any] = exact.ravel().astype(np.int64) * finer + noise
    else:
        total = exact.ravel().astype(object) * finer + noise.astype(object)
    return (total.astype(np.float64) * out).reshape(exact.shape)


def whole(output: npt.NDArray[Any], grid: float, out: float) -> npt.NDArray[np.float64]:
    """Released numbers back in units of the grid that they were released on."""
    return np.rint(np.asarray(output, dtype=np.float64) / min(grid, out))
