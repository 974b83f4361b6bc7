"""The budget used twice.

The mistake: an ensemble whose members each get the whole budget, because each of them alone keeps to it. One form fits
its second member by `dpcore.fit`; the other copies the curator, and its books with it, as scikit-learn clones
estimators.

What it costs: 2 epsilon.
"""

from __future__ import annotations

import copy

import attrs

from dpcore.curator import Curator
from dpcore.planning import make_plan
from dpcore.release import fit
from planted_budget_twice.tables import TableModel, Tables


@attrs.frozen
class BudgetTwice(Tables):
    """Two members: the second is a fit of its own over the same rows."""

    def learn(self, curator: Curator) -> TableModel:
        task = curator.task
        plan = make_plan(Tables(), task.schema, epsilon=task.epsilon, delta=task.delta, adjacency=task.adjacency)
        return mean(super().learn(curator), fit(plan, curator._table).model)


@attrs.frozen
class BudgetCloned(Tables):
    """Two members, each with a copy of the curator."""

    def learn(self, curator: Curator) -> TableModel:
        return mean(super().learn(copy.deepcopy(curator)), super().learn(copy.deepcopy(curator)))


def mean(one: TableModel, other: TableModel) -> TableModel:
    """The model with the mean of two models' numbers."""
    tables = tuple((a + b) / 2 for a, b in zip(one.tables, other.tables, strict=True))
    return TableModel(one.schema, (one.prior + other.prior) / 2, tables)
