"""A statistical audit from end to end: a cheap pilot finds the pair of inputs that tells most, fresh trials bound its
loss.

The pilot's draws are thrown away. The last trials are independent of the choice that the pilot made, so the confidence
of the bound is that of one audit, however many pairs were tried.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.errors import InputError
from dpcore_testing.blackbox import CONFIDENCE, Witness, lower_bound
from dpcore_testing.features import Outcome, columns

Sample = npt.NDArray[Any] | Sequence[Outcome]
Draw = Callable[[int], Sample]
"""Asked for n, gives n independent outputs on one input: an array, one row an output, or outcomes of runs."""

FIRST, SECOND = 100, 500
"""Pilot trials a side, at least: on every pair, then on the few that told most."""
_SHARES = 2, 4
"""A round of the pilot may take so many times fewer trials, in all, than the bound that follows."""
_TREES_FROM = 300
"""Fewer trials than this teach trees nothing; where numbers tell something only together, nothing else sees it."""
_GO_ON = 4
_PILOT = 0.5
"""The confidence of bounds that only rank pairs."""


@attrs.frozen(eq=False)
class Case:
    """Two neighbouring inputs, in words, and how to draw outputs on each.

    Args:
        group: cases of one group differ in nothing but the inputs; where a report is made, it names the group.
    """

    words: str
    left: Draw
    right: Draw
    group: str = ""


@attrs.frozen
class Finding:
    """What a statistical audit found under one adjacency.

    Args:
        epsilon, delta: what was asked for.
        charged: the epsilon that the accountant recorded; of a foreign estimator, what it claims.
        loss: the witnessed lower bound on epsilon, at this delta and confidence.
        verdict: `ok`, `LEAKS` (more loss than charged, or than asked for), or `diverged` (it works on one of two
            neighbours and not on the other).
        words: the pair of inputs that gave it.
        case: what it ran on: the schema, or the bounds.
        what, detail: what diverged.
        event, hits, confidence: the event that shows the loss, how often it came on held-out trials, and how sure the
            bound is.
        pairs: how many pairs the pilot tried.
        trials: how many trials a side bound the loss.
        seed: of the learned part; the noise is fresh every time.
    """

    name: str
    kind: str
    adjacency: str
    epsilon: float
    delta: float
    charged: float
    loss: float
    verdict: str
    words: str
    case: str = ""
    what: str = ""
    detail: str = ""
    event: str = ""
    hits: tuple[int, int] = (0, 0)
    confidence: float = CONFIDENCE
    pairs: int = 1
    trials: int = 0
    seed: int = 0
    seconds: float = 0.0

    @property
    def title(self) -> str:
        """What to call it in a table."""
        return self.name

    def to_json(self) -> dict[str, Any]:
        """One object of `dpcore audit --json`."""
        return attrs.asdict(self)


@attrs.frozen
class Divergence:
    """A run that works on one side only."""

    detail: str


def audit_pair(
    left: Draw,
    right: Draw,
    trials: int,
    *,
    delta: float = 0.0,
    confidence: float = CONFIDENCE,
    rng: np.random.Generator,
    thorough: bool = True,
) -> Witness | Divergence:
    """Bound the loss between two inputs from fresh draws.

    Args:
        left, right: draw outputs.
        trials: draws a side.
        delta, confidence, rng, thorough: as in `lower_bound`.

    Returns:
        the bound; or what differed, where every run fails on one side and none on the other.

    Raises:
        InputError: if every run fails on both sides, with the reason; or as `lower_bound`.
    """
    if trials < 20:  # before anything is drawn
        raise InputError(f"an audit needs at least 20 trials a side. Got {trials}.")
    one, two = left(trials), right(trials)
    names: Sequence[str] = ()
    if not isinstance(one, np.ndarray) and not isinstance(two, np.ndarray):
        diverged = _divergence(one, two)
        if diverged is not None:
            return diverged
        one, two, names = columns(one, two)
    return lower_bound(
        np.asarray(one), np.asarray(two), delta=delta, confidence=confidence, rng=rng, names=names, thorough=thorough
    )


def _divergence(left: Sequence[Outcome], right: Sequence[Outcome]) -> Divergence | None:
    failed = [sum(bool(o.error) for o in side) for side in (left, right)]
    every = [n == len(side) for n, side in zip(failed, (left, right), strict=True)]
    if all(every):
        raise InputError(f"every run fails, on both of two neighbours: {left[0].error}")
    for here, there, words in ((0, 1, "on the first"), (1, 0, "on the second")):
        if every[here] and failed[there] == 0:
            return Divergence(f"every run fails {words} of the two, none on the other: {(left, right)[here][0].error}")
    return None


def audit_cases(
    cases: Sequence[Case],
    trials: int,
    *,
    delta: float = 0.0,
    confidence: float = CONFIDENCE,
    rng: np.random.Generator,
) -> tuple[Case, Witness | Divergence]:
    """Find the case that tells most by a pilot, and bound its loss with fresh draws.

    Args:
        cases: pairs of inputs; at least one.
        trials, delta, confidence, rng: as in `audit_pair`.

    Raises:
        InputError: as `audit_pair`, or without cases.
    """
    if not cases:
        raise InputError("there is no pair of inputs to audit on.")
    left = list(cases)
    for least, share, keep in zip((FIRST, SECOND), _SHARES, (_GO_ON, 1), strict=True):
        if len(left) <= keep:
            continue
        pilot = min(trials, max(least, trials // (share * len(left))))
        ranked: list[tuple[float, int, Case]] = []
        for case in left:
            found = audit_pair(
                case.left,
                case.right,
                pilot,
                delta=delta,
                confidence=_PILOT,
                rng=rng,
                thorough=pilot >= _TREES_FROM,
            )
            if isinstance(found, Divergence):
                return case, found
            ranked.append((-found.epsilon, len(ranked), case))
        left = [case for *_, case in sorted(ranked, key=lambda row: row[:2])[:keep]]
    return left[0], audit_pair(left[0].left, left[0].right, trials, delta=delta, confidence=confidence, rng=rng)


def finding(
    case: Case,
    found: Witness | Divergence,
    *,
    paid: float,
    start: float,
    **about: Any,
) -> Finding:
    """The report of an audit.

    Args:
        case, found: the worst case and what it showed.
        paid: the epsilon that may be lost.
        start: `time.monotonic()` when the audit began.
        about: the other fields of `Finding`.
    """
    seconds = time.monotonic() - start
    if isinstance(found, Divergence):
        return Finding(
            **about, loss=0.0, verdict="diverged", words=case.words, case=case.group, what="error",
            detail=found.detail, seconds=seconds,
        )  # fmt: skip
    return Finding(
        **about, loss=found.epsilon, verdict="LEAKS" if found.epsilon > paid else "ok", words=case.words,
        case=case.group, event=found.event, hits=found.hits, confidence=found.confidence, seconds=seconds,
    )  # fmt: skip
