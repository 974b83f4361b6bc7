"""The one object that holds rows and gives out noisy answers; a learner sees nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs
import numpy as np

from dpcore.accounting import Accountant
from dpcore.bound import Bound
from dpcore.classifier import Task
from dpcore.errors import BudgetError, NotPrivateError, PluginError
from dpcore.mechanism import Answer
from dpcore.noise import NoiseSource
from dpcore.planned import PlannedStep
from dpcore.query import Exact, Query
from dpcore.sensitivity import SensitivityRule
from dpcore.table import Table


@attrs.frozen(eq=False)
class Released:
    """One public answer: which step, what was asked, and the noisy value."""

    step: str
    query: Query
    value: Answer


class Curator:
    """Answers the steps of a plan with noise: charge first, then draw.

    Args:
        table: the rows.
        task: what is public about the fit.
        steps: the plan's steps.
        accountant: refuses what the budget cannot pay.
        noise: where randomness comes from.
        allow_local: let bounds through that depend on the rows and protect nothing (for published
            procedures whose models are marked as not private).
    """

    def __init__(
        self,
        table: Table,
        task: Task,
        steps: tuple[PlannedStep, ...],
        accountant: Accountant,
        noise: NoiseSource,
        *,
        allow_local: bool = False,
    ) -> None:
        if table.schema != task.schema:
            raise PluginError("the table's schema is not the schema of the plan.")
        self.task = task
        self.releases: list[Released] = []
        self._table = table
        self._steps = {planned.step.name: planned for planned in steps}
        self._left = {planned.step.name: planned.step.times for planned in steps}
        self._accountant = accountant
        self._noise = noise
        self._allow_local = allow_local
        self._warm = False

    def ask(self, step: str, query: Query | None = None) -> Any:
        """The noisy answer to one step of the plan.

        Args:
            step: the step's name.
            query: what to ask, where the plan could only say the kind (`fixed=False`); of the same
                kind, with no more cells.

        Returns:
            float64 of the query's shape; an index for a choice.

        Raises:
            PluginError: if the plan has no such step, or not this question.
            BudgetError: if the step was asked as often as planned, or the budget is spent; before any
                noise is drawn.
        """
        planned = self._planned(step)
        asked = self._question(planned, query)
        if self._left[step] == 0:
            raise BudgetError(f"step {step!r} was planned {planned.step.times} times and is asked once more.")
        self._left[step] -= 1
        self._accountant.charge(planned.cost)
        exact, bound = self._exact(planned, asked)
        value = self._release(planned, asked, exact, bound)
        self.releases.append(Released(step, asked, value))
        return value

    def prepare(self, questions: Mapping[str, Query]) -> None:
        """Tell the table what will be asked, so that it can answer all of it in one pass.

        Nothing is released and nothing charged: the answers wait behind `ask`.

        Args:
            questions: step name -> query, as they will be asked.

        Raises:
            PluginError: if the plan has no such step, or not this question.
        """
        self._table.warm([self._question(self._planned(step), query) for step, query in questions.items()])

    def scale(self, step: str) -> float:
        """The public noise scale of one step, for smoothing; 0 where it depends on the rows."""
        return self._planned(step).calibration.scale or 0.0

    def _planned(self, step: str) -> PlannedStep:
        if step not in self._steps:
            raise PluginError(f"the plan has no step {step!r}; it has: {', '.join(self._steps)}.")
        return self._steps[step]

    def _question(self, planned: PlannedStep, query: Query | None) -> Query:
        worst = planned.step.query
        if query is None or query == worst:
            return worst
        if planned.step.fixed:
            raise PluginError(f"step {planned.step.name!r} was planned as {worst.describe()} and nothing else.")
        if query.kind != worst.kind or query.cells > worst.cells:
            raise PluginError(
                f"step {planned.step.name!r} was planned as {worst.kind} with at most {worst.cells} cells."
            )
        return query

    def _exact(self, planned: PlannedStep, query: Query) -> tuple[Exact, Bound]:
        if not self._warm:
            self._table.warm([p.step.query for p in self._steps.values() if p.step.fixed])
            self._warm = True
        rule = planned.rule
        bound = rule_bound(rule, query, planned, self.task, self._table if rule.reads_rows else None)
        if bound.form == "local" and not self._allow_local:
            raise NotPrivateError(
                f"step {planned.step.name!r} sets its noise by the rows themselves, which protects nothing."
            )
        return self._table.answer(query), bound

    def _release(self, planned: PlannedStep, asked: Query, exact: Exact, bound: Bound) -> Answer:
        """The only place where a noisy value comes into being (an audit stands in its place)."""
        value = planned.mechanism.release(exact, bound, planned.calibrated, self._noise)
        if isinstance(value, np.ndarray):
            value.setflags(write=False)
        return value


def rule_bound(rule: SensitivityRule, query: Query, planned: PlannedStep, task: Task, table: Table | None) -> Bound:
    """The bound of a query that is asked, checked to be one that the step's mechanism can take."""
    bound = rule.bound(query, task.adjacency, planned.bound.norm, table)
    if bound is None or not planned.mechanism.fits(bound, planned.calibrated):
        raise PluginError(f"step {planned.step.name!r}: no bound for {query.describe()} that fits its mechanism.")
    return bound
