"""A refusal of the budget is swallowed and the question asked again.

The mistake: a negative class count is no use, so the author asks again, up to ten times. When the curator refuses, the
author takes it for a limit of one attempt and opens new books for the next.

What it costs: every attempt costs what the first did, since all of them are answers: up to ten times the share of the
class counts.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from dpcore.accounting import PureAccountant
from dpcore.allocator import Step
from dpcore.classifier import Task
from dpcore.curator import Curator
from dpcore.errors import BudgetError
from dpcore.partition import Values
from dpcore.query import Counts
from planted_budget_retry.tables import Floats, TableModel, Tables

ATTEMPTS = 10


@attrs.frozen
class BudgetRetry(Tables):
    """Naive Bayes from noisy tables and class counts that are asked until none is negative."""

    def steps(self, task: Task) -> Sequence[Step]:
        return [Step("class", Counts(Values(task.schema.target)), mechanisms=("geometric",)), *super().steps(task)]

    def learn(self, curator: Curator) -> TableModel:
        prior = np.maximum(self._prior(curator), 1.0)
        return attrs.evolve(super().learn(curator), prior=prior)

    def _prior(self, curator: Curator) -> Floats:
        for _ in range(ATTEMPTS):
            try:
                counts: Floats = curator.ask("class")
            except BudgetError:
                curator._left["class"] += 1
                curator._accountant = PureAccountant(curator.task.epsilon)
                counts = curator.ask("class")
            if (counts >= 0).all():
                break
        return counts
