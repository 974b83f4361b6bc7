"""What the statistical audit finds, and how often it raises a false alarm.

Run: python benchmarks/audit_power.py [--trials 1000,10000,100000] [--repeats 100] [--vector-repeats 10]
[--false-alarms 10000]. Each case is drawn with NumPy's floats, which are quick; what is measured is the audit. A row
gives the true epsilon, the claimed one, the mean witnessed bound (at confidence 0.999) and the share of audits that
flag the case, for each number of trials a side. The false alarms are counted over audits of correct mechanisms with
2000 trials a side.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import attrs
import numpy as np

from dpcore_testing.blackbox import lower_bound

Draw = Callable[[np.random.Generator, int, int], Any]
"""Random numbers, the side (0 or 1) and n: n outputs."""


@attrs.frozen
class Case:
    """A mechanism with what it claims and what it really loses."""

    name: str
    claimed: float
    true: float
    draw: Draw


def laplace(rng: np.random.Generator, side: int, n: int, *, scale: float = 1.0, shift: float = 1.0) -> Any:
    """A number that moves by `shift`, with Laplace noise."""
    return shift * side + rng.laplace(scale=scale, size=n)


def geometric(rng: np.random.Generator, side: int, n: int) -> Any:
    """A count with discrete Laplace noise of epsilon 1."""
    drawn = rng.geometric(-math.expm1(-1), size=(2, n))
    return side + drawn[0] - drawn[1]


def randomised_response(rng: np.random.Generator, side: int, n: int) -> Any:
    """A bit, told truly with probability e / (1 + e)."""
    return (rng.random(n) < math.e / (1 + math.e)) == bool(side)


def resampled(rng: np.random.Generator, side: int, n: int) -> Any:
    """A count, drawn again until it is not negative."""
    found = laplace(rng, side, n)
    while (again := found < 0).any():
        found[again] = laplace(rng, side, int(again.sum()))
    return found


def private_bounds(rng: np.random.Generator, side: int, n: int) -> Any:
    """The mean of a constant column, whose range and so whose noise is 0, or of one that is not."""
    return rng.laplace(size=n) if side else np.zeros(n)


def private_size(rng: np.random.Generator, side: int, n: int) -> Any:
    """The mean of 2 zeros, or of these and a one, with Laplace noise of scale 1 / (n_c + 1)."""
    return side / 3 + rng.laplace(scale=1 / (3 + side), size=n)


def queries(
    rng: np.random.Generator, side: int, n: int, *, each: float, replace: bool = False, prior: bool = False
) -> Any:
    """9 composed histograms with 50 cells in all, each with Laplace noise of epsilon `each`.

    Args:
        replace: a row moves to the next cell of each, instead of being added.
        prior: the last one has one cell, and noise of scale 1.
    """
    first = np.array([0, 6, 12, 18, 24, 30, 36, 42, 49] if prior else [0, 6, 12, 18, 24, 30, 35, 40, 45])
    found = rng.laplace(scale=1 / each, size=(n, 50))
    if prior:
        found[:, 49] *= each
    found[:, first] += side
    if replace:
        found[:, first + 1] += 1 - side
    return found


def _with(draw: Any, **settings: Any) -> Draw:
    return lambda rng, side, n: draw(rng, side, n, **settings)


SCALARS = (
    Case("Laplace, correct", 1, 1, laplace),
    Case("geometric, correct", 1, 1, geometric),
    Case("randomised response, correct", 1, 1, randomised_response),
    Case("half the noise", 1, 2, _with(laplace, scale=0.5)),
    Case("forgot sensitivity 5", 1, 5, _with(laplace, shift=5.0)),
    Case("prior with Laplace(0, 1)", 0.1, 1, laplace),
    Case("bounds from the data", 1, math.inf, private_bounds),
    Case("scale from private n_c = 2", 1, math.inf, private_size),
    Case("resampled until positive", 1, math.log(2 * math.e - 1), resampled),
)
VECTORS = (
    Case("correct", 1, 1, _with(queries, each=1 / 9)),
    Case("budget used 9 times", 0.5, 4.5, _with(queries, each=0.5)),
    Case("NB with Laplace(0, 1) prior", 0.1, 1.8, _with(queries, each=0.1, prior=True)),
    Case("half the noise", 1, 2, _with(queries, each=2 / 9)),
    Case("replace-one, charged as add-remove", 1, 2, _with(queries, each=1 / 9, replace=True)),
)


def power(cases: tuple[Case, ...], sizes: list[int], repeats: int, rng: np.random.Generator) -> None:
    """Print the mean bound and the share of flags."""
    head = "".join(f"{f'n = {n}':>24}" for n in sizes)
    print(f"{'':36}{'true':>6}{'claim':>7}{head}")
    for case in cases:
        cells = []
        for n in sizes:
            start = time.perf_counter()
            found = np.array(
                [lower_bound(case.draw(rng, 0, n), case.draw(rng, 1, n), rng=rng).epsilon for _ in range(repeats)]
            )
            seconds = (time.perf_counter() - start) / repeats
            cells.append(f"{found.mean():9.2f} {np.mean(found > case.claimed):6.0%} {seconds:6.2g}s")
        print(f"{case.name:36}{case.true:6.2f}{case.claimed:7.2f}" + "".join(cells), flush=True)


def false_alarms(audits: int, trials: int, rng: np.random.Generator) -> int:
    """How many of so many audits flag a correct mechanism: Laplace, geometric and randomised response in turn."""
    correct = [case for case in SCALARS if case.name.endswith("correct")]
    flags = 0
    for i in range(audits):
        case = correct[i % len(correct)]
        found = lower_bound(case.draw(rng, 0, trials), case.draw(rng, 1, trials), rng=rng)
        flags += found.epsilon > case.true
    return flags


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", default="1000,10000,100000")
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--vector-repeats", type=int, default=10)
    parser.add_argument("--false-alarms", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    sizes = [int(float(n)) for n in options.trials.split(",")]
    if options.repeats:
        print(f"one number: mean witnessed epsilon, flagged, seconds an audit ({options.repeats} audits)")
        power(SCALARS, sizes, options.repeats, rng)
    if options.vector_repeats:
        print(f"\n9 queries, 50 numbers ({options.vector_repeats} audits)")
        power(VECTORS, sizes, options.vector_repeats, rng)
    if options.false_alarms:
        start = time.perf_counter()
        flags = false_alarms(options.false_alarms, 2000, rng)
        print(
            f"\nfalse alarms: {flags} in {options.false_alarms} audits of correct mechanisms "
            f"(at most 1 in 1000 is guaranteed), {time.perf_counter() - start:.0f} s"
        )


if __name__ == "__main__":
    main()
