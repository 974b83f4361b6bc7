"""Exact coins: heads with probability p or exp(-gamma), vectorised.

A coin compares a uniform U with p. Floats decide only where a proved bound on their error lets them; the few
coins closer than that draw more bits of U and are decided in integer arithmetic. The bounds rest on IEEE 754
addition, multiplication and division being correctly rounded, and on nothing else: exp is our own polynomial.

After Canonne, Kamath & Steinke (2020), "The discrete Gaussian for differential privacy", Algorithm 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache, lru_cache, partial

import numpy as np
import numpy.typing as npt

from dpcore.noise.entropy import WORD, Bounds, Entropy, LazyUniform

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_FIRST = 53
_TAYLOR = tuple((-1.0) ** j / math.factorial(j) for j in range(19, -1, -1))
_TAYLOR_ERROR = 2.0**-45
_COARSE = 2.0**-20
_LAST = 45


def coins(entropy: Entropy, p: Floats, error: float | Floats, exact: Callable[[int], Bounds]) -> Bools:
    """Independent coins, heads where U < p.

    Args:
        p: approximate probabilities in [0, 1], shape (n,).
        error: proved bounds on the absolute error of `p`, a number or shape (n,).
        exact: for the coin with a given index, bounds on its true probability, to any precision.
    """
    words = entropy.words(len(p))
    # U lies in [u, u + 2**-53); the subtraction p - u is off by at most 2**-54.
    u = (words >> np.uint64(WORD - _FIRST)).view(np.int64) * 2.0**-_FIRST
    gap = p - u
    margin = error + 2.0**-51
    heads: Bools = gap > margin
    unsure = np.flatnonzero(np.abs(gap) <= margin)
    for i in unsure.tolist():
        heads[i] = LazyUniform(entropy, int(words[i])).below(exact(i))
    return heads


def unit_exp_coins(entropy: Entropy, gamma: Floats, error: float | Floats, exact: Callable[[int], Fraction]) -> Bools:
    """Independent coins, heads with probability exp(-gamma).

    Args:
        gamma: approximate exponents in [0, 1], shape (n,).
        error: proved bounds on the absolute error of `gamma`.
        exact: the true exponent with a given index, at least 0.
    """
    return coins(entropy, _exp(gamma), error + _TAYLOR_ERROR, lambda i: partial(exp_bounds, exact(i)))


def exp_coins(entropy: Entropy, gamma: Floats, error: Floats, exact: Callable[[int], Fraction]) -> Bools:
    """Independent coins, heads with probability exp(-gamma), for exponents of any size.

    exp(-gamma) = exp(-k) exp(-(gamma - k)) for any integer 0 <= k <= gamma: a run of at least k heads of an
    exp(-1) coin, then one coin with a small exponent.

    Args:
        gamma: approximate exponents, at least 0, shape (n,).
        error: proved bounds on the absolute error of `gamma`, with 2**-52 gamma to spare, shape (n,).
            Exponents of 2**60 and more may be given as 2**60.
        exact: the true exponent with a given index.
    """
    k = np.maximum(np.floor(gamma - error), 0.0)
    heads: Bools = runs(entropy, len(gamma)) >= k
    left = np.flatnonzero(heads)
    # The true gamma - k lies in [0, 1 + 2 error]; beyond a coarse error, nothing is left to floats.
    rest = np.clip(gamma[left] - k[left], 0.0, 1.0)
    slack = np.where(error[left] <= _COARSE, 4.0 * error[left], 2.0)
    heads[left] = unit_exp_coins(entropy, rest, slack, lambda j: exact(int(left[j])) - int(k[left[j]]))
    return heads


def runs(entropy: Entropy, size: int) -> npt.NDArray[np.int64]:
    """Lengths of runs of heads of an exp(-1) coin: P(run >= k) = exp(-k), shape (size,).

    The number of k >= 1 with U < exp(-k). A word decides it unless it equals the leading 64 bits of some
    exp(-k).
    """
    table = _powers()
    words = entropy.words(size)
    place = np.searchsorted(table, words, side="right")
    lengths = _LAST - place
    for i in np.flatnonzero(table[place - 1] == words).tolist():
        u = LazyUniform(entropy, int(words[i]))
        while u.below(partial(exp_bounds, Fraction(int(lengths[i]) + 1))):
            lengths[i] += 1
    return lengths


@cache
def _powers() -> npt.NDArray[np.uint64]:
    """floor(2**64 exp(-k)) for k = 45, ..., 1, ascending; the first is 0, which leaves the word 0 unsure."""
    return np.array([leading(k) for k in range(_LAST, 0, -1)], dtype=np.uint64)


@cache
def leading(k: int) -> int:
    """floor(2**64 exp(-k)), for integer k >= 1."""
    low, high = (math.floor(bound * (1 << WORD)) for bound in exp_bounds(Fraction(k), 4 * WORD))
    if low != high:
        raise ArithmeticError(f"256 bits do not settle the leading bits of exp(-{k})")
    return low


def _exp(x: Floats) -> Floats:
    """exp(-x) for x in [0, 1], with absolute error below 2**-45.

    Taylor's polynomial of degree 19 by Horner's rule. The remainder is below 1/20! < 2**-61; Horner's
    rounding error is at most gamma_40 times the sum of x**j / j! (Higham 2002, section 5.1), below 41 *
    2**-53 * e < 2**-46.
    """
    value = np.full_like(x, _TAYLOR[0])
    for coefficient in _TAYLOR[1:]:
        value *= x
        value += coefficient
    return value


def exp_bounds(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Fractions around exp(-x), x >= 0, less than 2**-bits apart.

    Two neighbouring partial sums of the alternating series for the fractional part, times a power of those
    for exp(-1).
    """
    whole = math.floor(x)
    if whole > bits:
        # exp(-x) < 2**-bits; its power would take time and tell no more
        return Fraction(0), Fraction(1, 1 << (bits + 1))
    low, high = _series(x - whole, bits + 2)
    if whole:
        first, last = _power_bounds(whole, bits + 2)
        low, high = low * first, high * last
    return low, high


@lru_cache(maxsize=256)
def _power_bounds(k: int, bits: int) -> tuple[Fraction, Fraction]:
    # b**k - a**k <= k (b - a) for 0 <= a <= b <= 1.
    low, high = _series(Fraction(1), bits + k.bit_length())
    return low**k, high**k


def _series(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    total = previous = term = Fraction(1)
    j = 0
    while j == 0 or term > Fraction(1, 1 << bits):
        j += 1
        term = term * x / j
        previous, total = total, total + (-term if j % 2 else term)
    return min(previous, total), max(previous, total)
