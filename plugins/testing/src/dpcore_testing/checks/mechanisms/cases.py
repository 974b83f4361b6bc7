"""The bounds and costs that a mechanism is tried at, and how far neighbours can be apart under a bound."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.mechanism import Mechanism
from dpcore.noise import NoiseSource, SeededNoise
from dpcore.privacy import GDP, ZCDP, Approximate, Cost, Pure
from dpcore_testing.checks.base import Failed, Skipped, Subject, doing
from dpcore_testing.checks.common import settings

Numbers = npt.NDArray[Any]
NUMERIC = ("l1", "l2")
COSTS: dict[type[Cost], tuple[Cost, ...]] = {
    Pure: (Pure(0.25), Pure(1.0), Pure(3.0)),
    ZCDP: (ZCDP(0.03), ZCDP(0.5)),
    GDP: (GDP(0.06), GDP(1.0)),
    Approximate: (Approximate(0.25, 1e-6), Approximate(1.0, 1e-3)),
}
"""Small, usual and large ones of every kind."""


@attrs.frozen(eq=False)
class Trial:
    """One mechanism at one bound and one cost."""

    mechanism: Mechanism
    bound: Bound
    cost: Cost

    @property
    def words(self) -> str:
        """The bound and the cost."""
        b = self.bound
        value = b.value.tolist() if isinstance(b.value, np.ndarray) else b.value
        facts = [f"{name}={fact:g}" for name, fact in (("beta", b.beta), ("rises", b.rises)) if fact is not None]
        facts += [f"grid={b.grid:g}"] if b.grid != 1 else []
        facts += ["monotone"] if b.monotone else []
        return " ".join([f"{b.form} {b.norm} bound {value}", *facts, "at", str(self.cost)])

    @property
    def reach(self) -> int:
        """The bound in steps of the grid, rounded down: the furthest that one exact answer moves."""
        return math.floor(self.bound.scalar() / self.bound.grid * (1 + 1e-12))

    def release(self, exact: Any, noise: NoiseSource | int) -> Any:
        """One release with seeded noise; the exact answer is read-only, as a table's is."""
        fixed = np.array(exact)
        fixed.setflags(write=False)
        source = SeededNoise(noise) if isinstance(noise, int) else noise
        return self.mechanism.release(fixed, self.bound, self.cost, source)

    def releases(self, exact: Any, draw: np.random.Generator, many: int) -> list[Any]:
        """Many releases of one exact answer, one after the other."""
        noise = SeededNoise(int(draw.integers(2**31)))
        return [self.release(exact, noise) for _ in range(many)]

    @property
    def far(self) -> int:
        """An exact answer so far from 0 that nothing is cut off there, in steps of the grid."""
        return math.ceil(1000 * max(self.unit(), self.bound.grid) / self.bound.grid)

    def log_density(self, output: Any, exact: Any, bound: Bound | None = None) -> float:
        """The mechanism's log-density.

        Raises:
            Failed: if it is NaN or plus infinity.
        """
        with np.errstate(all="ignore"):
            value = float(self.mechanism.log_density(output, np.asarray(exact), bound or self.bound, self.cost))
        if math.isnan(value) or value == math.inf:
            raise Failed(f"{self.words}: log_density gives {value}.")
        return value

    @property
    def size(self) -> int:
        """How many numbers a vector has: as many as there are bounds, where every cell has its own."""
        return len(self.bound.value) if isinstance(self.bound.value, np.ndarray) else 3

    def unit(self) -> float:
        """The size of the noise, for choosing where to look: its scale, or what a few draws show."""
        scale = self.mechanism.calibrate(self.bound, self.cost).scale
        if scale is not None:
            return scale
        drawn = np.array(self.releases(np.array([0]), np.random.default_rng(0), 64))
        return max(float(np.median(np.abs(drawn))), self.grid)

    @property
    def grid(self) -> float:
        """The spacing of what is released."""
        return self.mechanism.calibrate(self.bound, self.cost).grid or self.bound.grid


def bounds(norm: str) -> Iterator[Bound]:
    """Bounds of every form: small and large, on coarse and fine grids, with and without what else they may say."""
    if norm == "score":
        for value in (1.0, 4.0):
            yield Bound(value, norm)
            yield Bound(value, norm, monotone=True)
        return
    for value, grid, rises in ((1.0, 1.0, 1), (2.0, 1.0, 1), (6.0, 1.0, None), (1.5, 2.0**-10, None), (3.0, 1.0, 2)):
        yield Bound(value, norm, grid=grid, rises=rises)
    yield Bound(np.array([1.0, 4.0]), norm)
    for beta in (1e-3, 0.02, 0.1):
        yield Bound(2.0, norm, "smooth", grid=2.0**-10, beta=beta)


def trials(subject: Subject, *norms: str) -> list[Trial]:
    """Everything that the mechanism says it can take.

    Raises:
        Skipped: if it takes no bound in these norms.
        Failed: if it takes some of the bounds at hand, and none for a norm and a cost that it claims.
    """
    found, cls = [], subject.factory
    claimed = [norm for norm in norms if norm in cls.accepts]
    if not claimed:
        raise Skipped(f"it takes no {' or '.join(norms)} bounds.")
    lacking = ""
    for chosen in settings(cls):
        with doing(f"made with {chosen}"):
            made = cls(**chosen)
        for norm in claimed:
            costs = [cost for kind in cls.costs for cost in COSTS[kind]]
            fitting = [Trial(made, b, c) for b in bounds(norm) for c in costs if made.fits(b, c)]
            for kind in cls.costs:
                if not chosen and not any(isinstance(trial.cost, kind) for trial in fitting):
                    lacking = f"it claims {norm} bounds and {kind.__name__} costs, and fits none of those tried."
            found += fitting
    if not found:
        raise Skipped("it takes none of the bounds at hand, only what learners ask it: see draws-what-it-is-asked.")
    if lacking:
        raise Failed(lacking)
    return found


def usual(subject: Subject, *norms: str) -> list[Trial]:
    """One trial of each kind, for checks that draw much: the middle cost, one number a bound."""
    chosen: dict[tuple[Any, ...], Trial] = {}
    for trial in trials(subject, *norms):
        b = trial.bound
        key = (repr(trial.mechanism), b.norm, b.form, type(trial.cost), b.grid, b.monotone)
        middle = COSTS[type(trial.cost)][1]
        if trial.cost == middle and not isinstance(b.value, np.ndarray) and b.value != 1.0:
            chosen.setdefault(key, trial)
    return list(chosen.values())


def shifts(trial: Trial, size: int, draw: np.random.Generator) -> list[Numbers]:
    """How two exact answers of `size` numbers may differ under the bound, in steps of its grid: all in one number, and
    split among several in different ways."""
    if isinstance(trial.bound.value, np.ndarray):
        return _by_cell(trial)
    reach = trial.reach
    some: list[Numbers] = []
    for k in range(1, size + 1):
        each = reach // k if trial.bound.norm == "l1" else math.floor(reach / math.sqrt(k))
        if each:
            signs = [np.array(s) for s in ((1,) * k, (-1,) * k, tuple(1 - 2 * (i % 2) for i in range(k)))]
            some += [np.concatenate([each * sign, np.zeros(size - k)]) for sign in signs]
    for _ in range(4):
        direction = draw.normal(size=size)
        length = np.abs(direction).sum() if trial.bound.norm == "l1" else np.linalg.norm(direction)
        some.append(np.trunc(direction / length * reach))
    some += [np.eye(size)[0] * step for step in {1, reach // 2} if 0 < step <= reach]
    different = {tuple(s.astype(int).tolist()): s for s in some if s.any() and _may_rise(trial.bound, s)}
    return [s.astype(np.int64) for s in different.values()]


def _may_rise(bound: Bound, shift: Numbers) -> bool:
    """Neighbours are symmetric: as many numbers may fall as may rise."""
    return bound.rises is None or max((shift > 0).sum(), (shift < 0).sum()) <= bound.rises


def _by_cell(trial: Trial) -> list[Numbers]:
    """Every cell has its own bound, and the shares of them add up to at most 1 in the norm."""
    reach = np.floor(np.asarray(trial.bound.value) / trial.bound.grid)
    share = 1 / len(reach) if trial.bound.norm == "l1" else 1 / math.sqrt(len(reach))
    some = [sign * reach * alone for alone in np.eye(len(reach)) for sign in (1, -1)]
    some += [np.trunc(reach * share), np.trunc(-reach * share)]
    return [s.astype(np.int64) for s in some if s.any()]


def neighbouring_bounds(trial: Trial) -> list[Bound]:
    """What the bound may be on a neighbour: itself, or e^±beta times as much where it is smooth."""
    b = trial.bound
    if b.form != "smooth":
        return [b]
    return [attrs.evolve(b, value=b.scalar() * math.exp(way * (b.beta or 0.0))) for way in (0, 1, -1)]
