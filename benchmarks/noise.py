"""How fast exact noise is: each sampler of `ExactNoise` beside NumPy's float Laplace, in the same run.

Run: python benchmarks/noise.py [draws]. OpenDP's vector Laplace is measured too where it is installed. Each
time is the best of three; NumPy's floats are the unsafe yardstick, not an alternative.
"""

from __future__ import annotations

import importlib.util
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from dpcore.noise import ExactNoise

SMALL = 100
POOL = 200_000


def seconds(call: Callable[[], object], repeats: int = 3) -> float:
    """The best wall time of some calls, after one that is not counted."""
    call()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return best


def samplers(noise: ExactNoise) -> dict[str, Callable[[int], object]]:
    """What is measured, by name."""
    return {
        "integers 10^6": lambda n: noise.integers(10**6, n),
        "discrete Laplace 1": lambda n: noise.discrete_laplace(Fraction(1), n),
        "discrete Laplace 1000": lambda n: noise.discrete_laplace(Fraction(1000), n),
        "discrete Laplace m/2^20": lambda n: noise.discrete_laplace(Fraction(123_456_789, 2**20), n),
        "discrete Laplace 2^45": lambda n: noise.discrete_laplace(Fraction(2**45), n),
        "discrete Gaussian 1": lambda n: noise.discrete_gaussian(Fraction(1), n),
        "discrete Gaussian 10^6": lambda n: noise.discrete_gaussian(Fraction(10**12), n),
        "rounded Gaussian 1": lambda n: noise.gaussian(Fraction(1), n),
        "rounded Gaussian 2^25": lambda n: noise.gaussian(Fraction(2**25), n),
    }


def opendp_laplace() -> Callable[[int], object] | None:
    """OpenDP's Laplace of scale 1000 on a vector of integers, or None where it is not installed."""
    if importlib.util.find_spec("opendp") is None:
        return None
    dp: Any = importlib.import_module("opendp.prelude")
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
    measurement = dp.m.make_laplace(*space, scale=1000.0)
    return lambda n: measurement([0] * n)


def main(draws: int) -> None:
    """Prints microseconds per draw, the ratio to NumPy's float Laplace, and the cost of a small call."""
    rng = np.random.default_rng()
    base = seconds(lambda: rng.laplace(scale=1000.0, size=draws))
    rows: dict[str, Callable[[int], object]] = {"NumPy float Laplace": lambda n: rng.laplace(scale=1000.0, size=n)}
    rows |= samplers(ExactNoise())
    opendp = opendp_laplace()
    if opendp is not None:
        rows["OpenDP i64 Laplace 1000"] = opendp
    print(f"{'':26}{'us/draw':>10}{'ratio':>8}{f'us/call of {SMALL}':>18}   ({draws} draws)")
    for name, draw in rows.items():
        total = seconds(partial(draw, draws))
        small = seconds(partial(draw, SMALL), 50)
        print(f"{name:26}{total / draws * 1e6:10.3f}{total / base:8.1f}{small * 1e6:18.0f}")
    scores = np.zeros(POOL)
    scores[7] = 1000.0
    noise = ExactNoise()
    for name, choose in (("exponential", noise.exponential_choice), ("flip", noise.permute_and_flip)):
        each = seconds(partial(choose, scores, Fraction(1)), 10)
        print(f"{name} choice from {POOL}: {each * 1e3:.2f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
