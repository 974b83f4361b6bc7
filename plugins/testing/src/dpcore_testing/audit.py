"""The audit: the largest privacy loss that can be witnessed, beside what is charged.

An audit refutes, it does not prove: `ok` means that no pair of tables showed more loss than was paid for.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dpcore.classifier import Classifier
from dpcore.errors import InputError
from dpcore.planned import Plan
from dpcore.privacy import Adjacency
from dpcore.schema import Schema
from dpcore_testing import pairs as made
from dpcore_testing.lockstep import Divergence, Replay, replay
from dpcore_testing.outputs import Central, Directed
from dpcore_testing.pairs import Pair
from dpcore_testing.rare import witnessed_at
from dpcore_testing.subject import Subject, subject_of

if TYPE_CHECKING:
    from dpcore.registry import Registry

_ROOM = 1e-6
"""Losses are sums of floats: this much, relatively, is no finding."""
_WORST = 1
"""Pairs per plan that get the many transcripts that a rare loss takes."""


class NothingToAudit(InputError):
    """A component that no plan at hand exercises; it may be audited through the learners that use it."""


@attrs.frozen
class Report:
    """What an audit found under one adjacency.

    Args:
        epsilon, delta: what was asked for.
        charged: the epsilon that the accountant recorded in the run of the worst pair; infinite where the plan itself
            says that nothing is guaranteed.
        loss: the largest loss witnessed: a true epsilon is at least this (at this delta, with confidence 1 − 3e−7).
        verdict: `ok`, `LEAKS` (more loss than charged, or than asked for), or `diverged`.
        words: the pair of tables that gave it.
        case: the kind of schema, or the query that was asked.
        what, detail: what diverged.
        pairs, transcripts: how many were tried.
        seed: gives the same again, apart from where the time ran out.
    """

    name: str
    kind: str
    parameters: Mapping[str, Any]
    adjacency: str
    epsilon: float
    delta: float
    charged: float
    loss: float
    verdict: str
    words: str
    case: str
    what: str
    detail: str
    pairs: int
    transcripts: int
    seed: int
    seconds: float

    @property
    def title(self) -> str:
        """The component's name with its parameters."""
        return " ".join([self.name, *(f"{key}={value}" for key, value in self.parameters.items())])

    def to_json(self) -> dict[str, Any]:
        """One object of `dpcore audit --json`."""
        return attrs.asdict(self)


@attrs.define(eq=False)
class _Tally:
    """The worst so far, and how much was tried."""

    epsilon: float
    charged: float = 0.0
    loss: float = -math.inf
    words: str = ""
    case: str = ""
    divergence: Divergence | None = None
    where: str = ""
    pairs: int = 0
    transcripts: int = 0

    @property
    def leaks(self) -> bool:
        """Whether there is more loss than was charged or asked for."""
        paid = min(self.charged, self.epsilon)
        return self.loss > paid * (1 + _ROOM) + 1e-9

    def excess(self, loss: float, charged: float) -> float:
        """How bad a finding is: its loss over what was paid."""
        paid = min(charged, self.epsilon)
        return loss if math.isinf(loss) else loss - paid

    def take(self, found: Replay, loss: float, pair: Pair, case: str) -> None:
        """Count a transcript, and keep it if it is the worst."""
        self.transcripts += 1
        charged = found.spent[0]
        if found.divergence is not None:
            if self.divergence is None:
                self.divergence, self.where = found.divergence, f"{case}; {pair.words}" if case else pair.words
            return
        if self.loss == -math.inf or self.excess(loss, charged) > self.excess(self.loss, self.charged):
            self.loss, self.charged, self.words, self.case = loss, charged, pair.words, case


def audit(
    name: str | Classifier,
    *,
    kind: str | None = None,
    adjacency: str = "both",
    epsilon: float = 1.0,
    delta: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
    seconds: float = 4.0,
    seed: int = 0,
    registry: Registry | None = None,
    schema: Schema | None = None,
) -> list[Report]:
    """Look for pairs of neighbouring tables on which a component loses more than it charges.

    Args:
        name: a classifier, mechanism or sensitivity rule by name, or a ready learner.
        kind: where a name stands for several.
        adjacency: `add-remove`, `replace-one`, or `both`, of those that the component claims.
        epsilon, delta: the budget of the fits that are audited.
        parameters: the component's parameters, where `name` is one.
        seconds: how long the search for worse pairs goes on after the hand-made ones.
        seed: decides outputs and the search.
        registry: where names are found.
        schema: audit on tables of this schema; of several small ones if None.

    Returns:
        one report an adjacency.

    Raises:
        InputError: for a wrong argument, or a component that works with no schema at hand.
        PluginError: for an unknown name, or a kind that an audit has nothing to say about.
    """
    from dpcore.registry import load_plugins

    registry = registry or load_plugins()
    subject = subject_of(
        name, kind=kind, registry=registry, parameters=parameters or {}, schema=schema, epsilon=epsilon, delta=delta
    )
    wanted = list(subject.claimed) if adjacency == "both" else [Adjacency.parse(adjacency)]
    if not wanted:
        raise InputError(f"{subject.name} claims no adjacency to be audited under.")
    return [_audit_one(subject, a, seconds / len(wanted), seed) for a in wanted]


def _audit_one(subject: Subject, adjacency: Adjacency, seconds: float, seed: int) -> Report:
    start, rng = time.monotonic(), np.random.default_rng(seed)
    plans = list(subject.plans(adjacency))
    if not plans:
        raise NothingToAudit(f"{subject.name} fits no schema or query that an audit has, under {adjacency} adjacency.")
    tally = _Tally(subject.epsilon)
    for case, plan in plans:
        exact = _has_a_pure_loss(plan) or not plan.within_budget
        _audit_plan(case, plan, tally, rng, exact=exact)
    if not tally.leaks and tally.divergence is None:
        _search(plans, tally, rng, time.monotonic() + seconds, seed)
    verdict = "LEAKS" if tally.leaks else "diverged" if tally.divergence else "ok"
    found = tally.divergence if verdict == "diverged" else None
    return Report(
        name=subject.name,
        kind=subject.kind,
        parameters=subject.parameters,
        adjacency=str(adjacency),
        epsilon=subject.epsilon,
        delta=plans[0][1].task.delta,
        charged=tally.charged,
        loss=max(0.0, tally.loss),
        verdict=verdict,
        words=tally.where if found else tally.words,
        case=tally.case,
        what=found.what if found else "",
        detail=found.detail if found else "",
        pairs=tally.pairs,
        transcripts=tally.transcripts,
        seed=seed,
        seconds=time.monotonic() - start,
    )


def _has_a_pure_loss(plan: Plan) -> bool:
    """Whether epsilon bounds the loss of every transcript: epsilons are added, and no step has a delta."""
    return plan.accounting == "pure" and plan.total[1] == 0


def _audit_plan(case: str, plan: Plan, tally: _Tally, rng: np.random.Generator, *, exact: bool) -> None:
    """All hand-made pairs, read both ways."""
    ranked: list[tuple[float, int, Pair]] = []
    for pair in both_ways(made.pairs(plan.task.schema, plan.task.adjacency)):
        tally.pairs += 1
        found = replay(plan, pair, Directed() if exact else Central(), rng)
        # half of mu² is not a loss to report: it says which pairs are worth the many transcripts
        tally.take(found, found.loss if exact else -math.inf, pair, case)
        ranked.append((found.loss, -len(ranked), pair))
        if found.divergence is not None:
            return
    if not exact:
        ranked.sort(key=lambda row: row[:2], reverse=True)
        for half, _, pair in ranked[:_WORST]:
            # losses above epsilon are weighed against delta
            loss, transcripts = witnessed_at(plan, pair, half, rng)
            tally.transcripts += len(transcripts) - 1
            tally.take(transcripts[0], loss, pair, case)


def _search(
    plans: Sequence[tuple[str, Plan]], tally: _Tally, rng: np.random.Generator, until: float, seed: int
) -> None:
    from dpcore_testing.search import climb, turns

    pure = [(case, plan) for case, plan in plans if _has_a_pure_loss(plan)]
    for (case, plan), (_, end) in zip(pure, turns([plan.task.schema for _, plan in pure], until), strict=True):

        def measure(pair: Pair, plan: Plan = plan, case: str = case) -> float:
            tally.pairs += 1
            found = replay(plan, pair, Directed(), rng)
            tally.take(found, found.loss, pair, case)
            return found.loss

        if time.monotonic() < end:
            climb(plan.task.schema, plan.task.adjacency, measure, until=end, first=seed)


def both_ways(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Every pair, and the same read backwards: a loss has a direction."""
    for pair in pairs:
        yield pair
        yield pair.turned()
