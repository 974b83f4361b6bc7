"""Private choices from a row of scores, exactly.

The exponent of candidate i is gamma_i = rate * (max - score_i) >= 0, a rational number: scores are floats and
so dyadic fractions.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

import numpy as np

from dpcore.noise.bernoulli import Floats, exp_bounds, exp_coins, leading
from dpcore.noise.entropy import WORD, Entropy, LazyUniform
from dpcore.noise.gaussian import LARGEST, capped
from dpcore.noise.uniform import integers

_LAST = 45
"""The first k with 2**64 exp(-k) < 1."""


def exponential_choice(entropy: Entropy, scores: Floats, rate: Fraction) -> int:
    """An index i with probability proportional to exp(rate * scores[i]).

    Rejection from integer weights: with k = min(floor(gamma), 45), or less where floats cannot tell,
    candidate i is proposed with the integer weight h(k) = ceil(2**64 exp(-k)) and accepted with probability
    2**64 exp(-gamma_i) / h(k), which is the product of 2**64 exp(-k) / h(k), nearly 1, and exp(-(gamma_i -
    k)). So at least about every third proposal is accepted, whatever the scores.
    """
    gamma, error, exact = _exponents(scores, rate)
    levels = np.clip(np.floor(gamma - error), 0, _LAST).astype(np.int64)
    heights = [1 << WORD, *(leading(k) + 1 for k in range(1, _LAST + 1))]
    masses = [int(n) * h for n, h in zip(np.bincount(levels, minlength=_LAST + 1), heights, strict=True)]
    ends = list(accumulate(masses))
    while True:
        target = int(integers(entropy, ends[-1], 1)[0])
        k = bisect_right(ends, target)
        rank = (target - ends[k] + masses[k]) // heights[k]
        i = int(np.flatnonzero(levels == k)[rank])
        if _trimmed(entropy, k, heights[k]) and _heads(entropy, gamma[i], error[i], exact(i), k):
            return i


def permute_and_flip(entropy: Entropy, scores: Floats, rate: Fraction) -> int:
    """The first index of a random order whose coin, heads with probability exp(-gamma), shows heads.

    The coins do not depend on the order, so all are flipped at once, and the first heads of a random order is
    a uniform draw from all heads. The best score's coin always shows heads.
    """
    gamma, error, exact = _exponents(scores, rate)
    heads = np.flatnonzero(exp_coins(entropy, gamma, error, exact))
    return int(heads[integers(entropy, len(heads), 1)[0]])


def _trimmed(entropy: Entropy, k: int, height: int) -> bool:
    """A coin with probability 2**64 exp(-k) / height."""
    if k == 0:
        return True

    def bounds(bits: int) -> tuple[Fraction, Fraction]:
        low, high = exp_bounds(Fraction(k), bits + WORD)
        return low * (1 << WORD) / height, high * (1 << WORD) / height

    return LazyUniform(entropy, int(entropy.words(1)[0])).below(bounds)


def _heads(entropy: Entropy, gamma: float, error: float, exact: Fraction, k: int) -> bool:
    """A coin with probability exp(-(gamma - k))."""
    rest = np.array([max(gamma - k, 0.0)])
    return bool(exp_coins(entropy, rest, np.array([error]), lambda _: exact - k)[0])


def _exponents(scores: Floats, rate: Fraction) -> tuple[Floats, Floats, Callable[[int], Fraction]]:
    """Approximate exponents (2**60 at most), bounds on their errors, and the exact exponents on demand."""
    best = Fraction(float(scores.max()))

    def exact(i: int) -> Fraction:
        return rate * (best - Fraction(float(scores[i])))

    if 2.0**-900 < rate < 2.0**900:
        # A difference, a rate and a product, each correctly rounded; what underflows is below 2**-170.
        with np.errstate(over="ignore", under="ignore"):
            gamma = np.minimum((scores.max() - scores) * float(rate), LARGEST)
    else:
        gamma = np.array([capped(exact(i)) for i in range(len(scores))], dtype=np.float64)
    return gamma, gamma * 2.0**-49 + 2.0**-100, exact
