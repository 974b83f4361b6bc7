"""The discrete Laplace distribution, exactly.

Canonne, Kamath & Steinke (2020), "The discrete Gaussian for differential privacy", Algorithm 2.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from dpcore.noise.bernoulli import runs, unit_exp_coins
from dpcore.noise.entropy import Entropy
from dpcore.noise.source import Array
from dpcore.noise.uniform import collect, integers, signs

_INT64_UP_TO = 1 << 62
_PRODUCT_UP_TO = 1 << 55
_RUN_UP_TO = 1 << 7


def discrete_laplace(entropy: Entropy, scale: Fraction, size: int) -> Array:
    """Draws with P(x) proportional to exp(-|x| / scale), shape (size,).

    With scale = t / s in lowest terms: U uniform on {0, ..., t - 1} kept with probability exp(-U/t), and V
    with P(V >= k) = exp(-k), make X = U + t V with P(X = x) proportional to exp(-x/t); floor(X / s) and a
    sign, with "minus zero" thrown away, is the result. Int64 while the scale is below 2**55, and Python ints
    beyond.
    """
    t, s = scale.numerator, scale.denominator
    whole, part = divmod(t, s)
    large = t > _INT64_UP_TO or s > _INT64_UP_TO or max(whole, part) > _PRODUCT_UP_TO

    def propose(n: int) -> Array:
        u = _kept(entropy, t, n)
        v: Array = runs(entropy, len(u))
        long = v.max(initial=0) > _RUN_UP_TO
        if large or long:
            u, v = u.astype(object), v.astype(object)
        # floor((u + t v) / s), in steps that stay below 2**63.
        x: Array = whole * v + (u + part * v) // s if s > 1 else u + t * v
        if scale < _PRODUCT_UP_TO and not long:
            x = x.astype(np.int64, copy=False)
        minus = signs(entropy, len(x))
        result = np.where(minus, -x, x)
        kept: Array = result[~minus | (x != 0).astype(bool)]
        return kept

    # A proposal passes with probability 1 - 1/e, and then with 1/2 or more.
    return collect(size, propose, 1.7 if t > 2 * s else 3.0)


def _kept(entropy: Entropy, t: int, size: int) -> Array:
    """Those of `size` uniform draws u from {0, ..., t - 1} whose exp(-u/t) coin shows heads."""
    if t == 1:
        return np.zeros(size, dtype=np.int64)
    u = integers(entropy, t, size)
    # Both forms are within 3 roundings of u/t <= 1; division of Python ints is correctly rounded at any size.
    gamma = u / float(t) if u.dtype != object else np.array([value / t for value in u], dtype=np.float64)
    return u[unit_exp_coins(entropy, gamma, 2.0**-51, lambda i: Fraction(int(u[i]), t))]
