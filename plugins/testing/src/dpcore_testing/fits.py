"""The statistical audit of a dpcore learner: fit it many times on neighbouring tables, with the noise of releases.

It looks at nothing but the models, so it also sees what a wrong `log_density` hides from the exact audit; it finds less
than that one where a loss is spread over many numbers.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from dpcore.classifier import Classifier
from dpcore.errors import CapabilityError, InputError
from dpcore.parameters import build
from dpcore.planned import Plan
from dpcore.planning import make_plan
from dpcore.privacy import Adjacency
from dpcore.release import fit
from dpcore.schema import Schema
from dpcore.table import MemoryTable, Rows
from dpcore_testing import pairs as made
from dpcore_testing.blackbox import CONFIDENCE
from dpcore_testing.features import Outcome, attempt
from dpcore_testing.pairs import Pair
from dpcore_testing.trials import Case, Finding, audit_cases, finding

if TYPE_CHECKING:
    from dpcore.registry import Registry

TRIALS = 10_000
PAIRS = 32
_MOST_ROWS = 100


def audit_learner(
    name: str | Classifier,
    *,
    adjacency: str = "both",
    epsilon: float = 1.0,
    delta: float = 0.0,
    parameters: Mapping[str, Any] | None = None,
    trials: int = TRIALS,
    pairs: int = PAIRS,
    confidence: float = CONFIDENCE,
    seed: int = 0,
    registry: Registry | None = None,
    schema: Schema | None = None,
) -> list[Finding]:
    """Bound a learner's loss from below by fitting it again and again.

    Args:
        name: a classifier by name, or a ready learner.
        adjacency: `add-remove`, `replace-one`, or `both`, of those that it claims.
        epsilon, delta: the budget of the fits.
        parameters: the learner's, where `name` is one.
        trials: fits a side on the pair that tells most.
        pairs: how many pairs of tables the pilot tries.
        confidence: of each finding.
        seed: decides which pairs the pilot tries and how scores are learned, never the noise.
        registry: where names are found.
        schema: fit on tables of this schema; of several small ones if None.

    Returns:
        one finding an adjacency.

    Raises:
        InputError: for a wrong argument, a learner that fits no schema at hand, or one whose fits all fail.
        PluginError: for an unknown name.
    """
    from dpcore.registry import load_plugins

    registry = registry or load_plugins()
    called = name if isinstance(name, str) else type(name).__name__
    learner = build(registry.get("classifier", name), parameters or {}) if isinstance(name, str) else name
    wanted = learner.adjacency if adjacency == "both" else (Adjacency.parse(adjacency),)
    schemas = made.schemas() if schema is None else {"given": schema}
    found = []
    for one in map(Adjacency, wanted):
        start, rng = time.monotonic(), np.random.default_rng(seed)
        plans: dict[str, Plan] = {}
        for title, public in schemas.items():
            try:
                plans[title] = make_plan(
                    learner, public, epsilon=epsilon, delta=delta, adjacency=one, registry=registry
                )
            except CapabilityError:
                continue
        if not plans:
            raise InputError(f"{called} fits no audit schema under {one} adjacency.")
        cases = [c for title, plan in plans.items() for c in cases_of(plan, made.pairs(plan.task.schema, one), title)]
        some = rng.permutation(len(cases))[:pairs]
        worst, shown = audit_cases([cases[i] for i in some], trials, delta=delta, confidence=confidence, rng=rng)
        charged = plans[worst.group].total[0]
        about = {
            "name": called, "kind": "classifier", "adjacency": str(one), "epsilon": epsilon, "delta": delta,
            "charged": charged, "pairs": len(some), "trials": trials, "seed": seed,
        }  # fmt: skip
        found.append(finding(worst, shown, paid=min(charged, epsilon), start=start, **about))
    return found


def cases_of(plan: Plan, pairs: Sequence[Pair], group: str = "") -> list[Case]:
    """Small pairs of tables as cases: outputs are the models of many fits."""
    small = [p for p in pairs if max(p.left.size, p.right.size) <= _MOST_ROWS]
    return [Case(p.words, partial(fits, plan, p.left), partial(fits, plan, p.right), group) for p in small]


def fits(plan: Plan, rows: Rows, trials: int) -> list[Outcome]:
    """The models of many fits on the same rows, with the operating system's noise.

    The table remembers its exact answers: only the noise is drawn anew.
    """
    table = MemoryTable(rows)

    def once() -> Any:
        return fit(plan, table, not_private=True).model.to_json()

    return [attempt(once) for _ in range(trials)]
