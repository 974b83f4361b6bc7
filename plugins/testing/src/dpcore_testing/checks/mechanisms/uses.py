"""What learners ask a mechanism whose answers are of a kind of their own.

Objective perturbation needs more than a number as its bound: the public vectors that are counted. Such a bound cannot
be made up; the plans of learners give it, and pairs of tables give the exact answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np

from dpcore.bound import Bound
from dpcore.classifier import Task
from dpcore.curator import rule_bound
from dpcore.errors import DpcoreError
from dpcore.isolation import foreign_code
from dpcore.planned import Plan, PlannedStep
from dpcore.planning import make_plan
from dpcore.privacy import Adjacency
from dpcore.table import MemoryTable, Rows, Table
from dpcore_testing.checks.base import Subject
from dpcore_testing.checks.common import settings
from dpcore_testing.checks.mechanisms.cases import Trial
from dpcore_testing.pairs import pairs, schemas

_PAIRS = 3
"""Pairs of tables for each adjacency."""
_MOST_ROWS = 100


@attrs.frozen(eq=False)
class Use:
    """One step of a learner's plan, answered on two neighbouring tables.

    Args:
        trial: the mechanism at the bound and cost of the first table.
        here, there: the exact answers.
        bound: that of the second table.
        shape: of the answer.
        words: which learner, step and tables.
    """

    trial: Trial
    here: Any
    there: Any
    bound: Bound
    shape: tuple[int, ...]
    words: str


def uses(subject: Subject) -> list[Use]:
    """Where learners use a mechanism: those of its own distribution, or others where none of these do."""
    if "uses" not in subject.memory:
        subject.memory["uses"] = list(_uses(subject))
    found: list[Use] = subject.memory["uses"]
    return found


def _uses(subject: Subject) -> Iterator[Use]:
    rows = [r for r in subject.registry.rows() if r.kind == "classifier" and r.status in ("ok", "conflict")]
    for own in (True, False):
        found = False
        for row in rows:
            if (row.dist == subject.row.dist) == own:
                for use in _of_learner(subject, f"{row.dist}:{row.name}"):
                    found = True
                    yield use
        if found:
            return


def _of_learner(subject: Subject, learner: str) -> Iterator[Use]:
    """At most one schema's worth for each adjacency, of the first setting of the learner that uses the mechanism."""
    for adjacency in Adjacency:
        for plan, step, words in _asked(subject, learner, adjacency):
            small = [p for p in pairs(plan.task.schema, adjacency) if max(p.left.size, p.right.size) <= _MOST_ROWS]
            for pair in small[:: max(1, len(small) // _PAIRS)]:
                yield _answered(step, plan.task, pair.left, pair.right, f"{words}, {pair.words})")
            break


def _asked(subject: Subject, learner: str, adjacency: Adjacency) -> Iterator[tuple[Plan, PlannedStep, str]]:
    """Plans in which the mechanism is the learner's own choice, and after those ones in which it was wished for."""
    try:
        with foreign_code(learner):
            some = settings(subject.registry.get("classifier", learner))
    except DpcoreError:  # the learner's own checks say what is wrong with it, if anything is
        return
    facts: dict[str, Any] = {"epsilon": 1.0, "adjacency": adjacency, "registry": subject.registry}
    for wished in (None, f"{subject.row.dist}:{subject.row.name}"):
        for chosen in some:
            for shape, schema in schemas().items():
                try:
                    with foreign_code(learner):
                        plan = make_plan(learner, schema, parameters=chosen, mechanism=wished, **facts)
                except DpcoreError:
                    continue
                for step in plan.steps:
                    if type(step.mechanism) is subject.factory:
                        how = "".join(f" {name}={value}" for name, value in chosen.items())
                        yield (
                            plan,
                            step,
                            f"as {learner}{how} asks it for {step.step.name!r} ({shape} schema, {adjacency}",
                        )


def _answered(planned: PlannedStep, task: Task, left: Rows, right: Rows, words: str) -> Use:
    (here, first), (there, second) = (_exact(planned, task, MemoryTable(rows)) for rows in (left, right))
    trial = Trial(planned.mechanism, first, planned.calibrated)
    return Use(trial, here, there, second, planned.step.query.shape, words)


def _exact(planned: PlannedStep, task: Task, table: Table) -> tuple[Any, Bound]:
    bound = rule_bound(planned.rule, planned.step.query, planned, task, table if planned.rule.reads_rows else None)
    return np.array(table.answer(planned.step.query)), bound
