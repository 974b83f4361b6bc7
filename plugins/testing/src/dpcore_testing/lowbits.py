"""The low-bit audit of a mechanism that adds noise: what the last bits of its outputs tell.

A float that was not drawn on a grid is full of the exact answer: 0 + noise has bits that 1 + noise cannot have (Mironov
2012). Two things are checked. Every output is a whole multiple of the grid that the mechanism declares from public
facts alone. And neither an output nor its low bits (the place of the lowest set bit, the last bits of the significand,
the last bits in steps of the grid) tell the exact answers of neighbours apart by more than the cost, as far as
`lower_bound` can see.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dpcore.accounting import GdpAccountant, ZcdpAccountant
from dpcore.bound import Bound
from dpcore.errors import InputError
from dpcore.mechanism import Mechanism
from dpcore.noise import ExactNoise, NoiseSource
from dpcore.privacy import GDP, ZCDP, Cost, Pure
from dpcore_testing.bins import Floats
from dpcore_testing.blackbox import CONFIDENCE, Witness, lower_bound

if TYPE_CHECKING:
    from dpcore.registry import Registry

TRIALS = 100_000
DELTA = 1e-6
"""For mechanisms without a pure epsilon."""
FEATURES = ("output", "place of the lowest set bit", "last 8 bits", "grid steps modulo 256")

_BASES = (0, 1, 3, 2**10 - 1, 2**10, 2**20 - 1, 2**20)
"""Where pairs of exact answers begin, in units of the sensitivity: about zero, at powers of two, far out."""


@attrs.frozen
class LowBits:
    """What the low-bit audit of a mechanism found at one bound and cost.

    Args:
        epsilon, delta: what one release may lose.
        grid: the declared spacing of what is released.
        off_grid: how many outputs are no whole multiple of it.
        loss: the largest loss witnessed by one feature of one pair.
        feature, exact, event: which feature, between which exact answers, and the event.
        verdict: `ok` or `LEAKS`.
        outputs: how many outputs were looked at.
    """

    name: str
    cost: str
    epsilon: float
    delta: float
    sensitivity: float
    grid: float
    off_grid: int
    loss: float
    feature: str
    exact: tuple[float, float]
    event: str
    verdict: str
    outputs: int
    confidence: float
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """One object of `dpcore audit --json`."""
        return attrs.asdict(self)


def features(outputs: Floats, grid: float) -> Floats:
    """The features of `FEATURES`, shape (outputs, 4): functions of each output and the public grid alone.

    The place of the lowest set bit is its power of two (NaN for 0, infinities and NaN).
    """
    bits = outputs.view(np.uint64)
    exponent = ((bits >> np.uint64(52)) & np.uint64(0x7FF)).astype(np.int64)
    fraction = (bits & np.uint64((1 << 52) - 1)).astype(np.int64)
    significand = np.where(exponent > 0, fraction | (1 << 52), fraction)
    lowest = np.log2(np.maximum(significand & -significand, 1).astype(np.float64))
    place = np.where((significand == 0) | (exponent == 0x7FF), np.nan, lowest + np.maximum(exponent, 1) - 1075)
    with np.errstate(all="ignore"):
        steps = np.mod(outputs / grid, 256.0)
    return np.column_stack([outputs, place, (fraction & 0xFF).astype(np.float64), steps])


def off_grid(outputs: Floats, grid: float) -> int:
    """How many outputs are no whole multiple of a grid, in floating point (exactly, for a power of two)."""
    with np.errstate(all="ignore"):
        return int(np.count_nonzero(np.rint(outputs / grid) * grid != outputs))


def cases(mechanism: Mechanism, epsilon: float) -> Iterator[tuple[Bound, Cost, float, float]]:
    """Bounds and costs that a mechanism can take, each with the (epsilon, delta) that it means."""
    wanted: list[tuple[Cost, float]] = [(Pure(epsilon), 0.0)]
    if Pure not in mechanism.costs:
        rho, square = ZcdpAccountant.budget(epsilon, DELTA), GdpAccountant.budget(epsilon, DELTA)
        wanted = [(ZCDP(rho), DELTA), (GDP(square), DELTA)]
    for cost, delta in wanted:
        for norm in ("l1", "l2"):
            for form, beta in (("global", None), ("smooth", 0.1 * epsilon)):
                # a count, a sum on a fine grid
                for value, grid in ((1.0, 1.0), (0.75, 2.0**-24)):
                    bound = Bound(value, norm, form, grid=grid, beta=beta, rises=1)
                    if mechanism.fits(bound, cost):
                        yield bound, cost, epsilon, delta


def audit_low_bits(
    name: str | Mechanism,
    *,
    epsilon: float = 1.0,
    trials: int = TRIALS,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    noise: NoiseSource | None = None,
    registry: Registry | None = None,
) -> list[LowBits]:
    """Audit the low bits of a mechanism that adds noise to numbers.

    Many outputs are drawn as one release of an answer with many equal numbers; the noise of each number must be
    independent of the others', as additive noise is.

    Args:
        name: a mechanism by name, or a ready one.
        epsilon: what one release may lose (at delta 1e-6 for one that has no pure epsilon).
        trials: outputs a side, for each pair of exact answers.
        confidence: of each finding: shared among all pairs and features that were looked at.
        seed: of how events are learned.
        noise: where randomness comes from; by default the operating system, as in a release.
        registry: where names are found.

    Returns:
        one finding for each bound and cost.

    Raises:
        InputError: for a mechanism that adds no noise to numbers (a choice), or fits no bound at hand.
        PluginError: for an unknown name.
    """
    from dpcore.parameters import build
    from dpcore.registry import load_plugins

    called = name if isinstance(name, str) else type(name).__name__
    mechanism = build((registry or load_plugins()).get("mechanism", name), {}) if isinstance(name, str) else name
    fitting = list(cases(mechanism, epsilon))
    if not fitting:
        raise InputError(
            f"the low-bit audit is for mechanisms that add noise to numbers; {called} fits none of its bounds."
        )
    source = noise or ExactNoise()
    return [_Setting(called, mechanism, *case).audit(trials, confidence, seed, source) for case in fitting]


@attrs.frozen(eq=False)
class _Setting:
    """A mechanism at one bound and cost."""

    name: str
    mechanism: Mechanism
    bound: Bound
    cost: Cost
    epsilon: float
    delta: float

    def audit(self, trials: int, confidence: float, seed: int, noise: NoiseSource) -> LowBits:
        """All pairs, all features."""
        start, rng = time.monotonic(), np.random.default_rng(seed)
        grid = self.mechanism.calibrate(self.bound, self.cost).grid
        each = 1 - (1 - confidence) / (len(_BASES) * len(FEATURES))
        found: list[tuple[Witness, str, tuple[int, int]]] = []
        stray = 0
        for pair in self.neighbours():
            outputs = [self.draw(exact, trials, noise) for exact in pair]
            stray += sum(off_grid(side, grid) for side in outputs)
            left, right = (features(side, grid) for side in outputs)
            for j, name in enumerate(FEATURES):
                shown = lower_bound(left[:, j], right[:, j], delta=self.delta, confidence=each, rng=rng, names=[name])
                found.append((shown, name, pair))
        worst, name, pair = max(found, key=lambda one: one[0].epsilon)
        return LowBits(
            name=self.name,
            cost=str(self.cost),
            epsilon=self.epsilon,
            delta=self.delta,
            sensitivity=self.bound.scalar(),
            grid=grid,
            off_grid=stray,
            loss=worst.epsilon,
            feature=name,
            exact=(pair[0] * self.bound.grid, pair[1] * self.bound.grid),
            event=worst.event,
            verdict="LEAKS" if stray or worst.epsilon > self.epsilon else "ok",
            outputs=2 * len(_BASES) * trials,
            confidence=confidence,
            seconds=time.monotonic() - start,
        )

    def neighbours(self) -> Iterator[tuple[int, int]]:
        """Exact answers as far apart as the sensitivity allows, by an odd number of grid steps."""
        apart = math.floor(self.bound.scalar() / self.bound.grid)
        apart -= apart > 1 and apart % 2 == 0
        yield from ((base * apart, (base + 1) * apart) for base in _BASES)

    def draw(self, exact: int, trials: int, noise: NoiseSource) -> Floats:
        """Outputs on one exact answer."""
        answer = np.full(trials, exact, dtype=np.int64)
        return np.array(self.mechanism.release(answer, self.bound, self.cost, noise), dtype=np.float64)
