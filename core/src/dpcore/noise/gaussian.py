"""The discrete Gaussian distribution, exactly.

Canonne, Kamath & Steinke (2020), "The discrete Gaussian for differential privacy", Algorithm 3.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from dpcore.noise.bernoulli import Floats, exp_coins
from dpcore.noise.entropy import Entropy
from dpcore.noise.laplace import discrete_laplace
from dpcore.noise.source import Array
from dpcore.noise.uniform import collect

LARGEST = 2.0**60
"""An exponent from which on `exp_coins` needs no value."""


def capped(exponent: Fraction) -> float:
    """`exponent` to the nearest float, 2**60 at most."""
    return LARGEST if exponent > LARGEST else float(exponent)


def discrete_gaussian(entropy: Entropy, variance: Fraction, size: int) -> Array:
    """Draws with P(x) proportional to exp(-x**2 / (2 variance)), shape (size,).

    A discrete Laplace draw Y of scale t = floor(sigma) + 1 is kept with probability exp(-(|Y| -
    variance/t)**2 / (2 variance)).
    """
    t = math.isqrt(math.floor(variance)) + 1
    centre = variance / t

    def propose(n: int) -> Array:
        y = discrete_laplace(entropy, Fraction(t), n)

        def exact(i: int) -> Fraction:
            return (abs(int(y[i])) - centre) ** 2 / (2 * variance)

        if y.dtype != object and 2.0**-900 < variance < 2.0**120:
            gamma, error = _exponents(y, float(centre), float(variance))
        else:
            gamma = np.array([capped(exact(i)) for i in range(n)], dtype=np.float64)
            error = gamma * 2.0**-49
        return y[exp_coins(entropy, gamma, error, exact)]

    return collect(size, propose, 2.0 if t > 1 else 3.0)


def _exponents(y: Array, centre: float, variance: float) -> tuple[Floats, Floats]:
    """(|y| - centre)**2 / (2 variance) and a bound on its error.

    Each of |y|, centre, variance has a relative error of at most 2**-53. Their difference is then off by less
    than (|y| + centre) 2**-51, and the quotient by less than (|y| + centre)**2 / (2 variance) times 2 *
    2**-51 + 6 * 2**-53 < 2**-48; the bound is twice that.
    """
    size = np.abs(y).astype(np.float64)
    gamma = (size - centre) ** 2 / (2.0 * variance)
    error = (size + centre) ** 2 * (2.0**-47 / (2.0 * variance))
    beyond = gamma - error >= LARGEST
    return np.where(beyond, LARGEST, gamma), np.where(beyond, LARGEST * 2.0**-49, error)
