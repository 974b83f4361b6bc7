"""Class counts with Laplace(0, 1), as Vaidya et al. (2013) publish it.

The mistake: priors are only a few numbers, so the author gives them noise of a fixed size and a hundredth of the
budget, for the books.

What it costs: 1 for the priors under add-remove and 2 under replace-one, whatever epsilon is, beside nearly all of
epsilon for the tables.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from dpcore.allocator import Step
from dpcore.classifier import Task
from dpcore.curator import Curator
from dpcore.partition import Values
from dpcore.query import Counts
from planted_prior_laplace1.tables import TableModel, Tables


@attrs.frozen
class PriorLaplace1(Tables):
    """Naive Bayes from noisy tables, with class counts of their own."""

    def steps(self, task: Task) -> Sequence[Step]:
        tables = super().steps(task)
        prior = Counts(Values(task.schema.target))
        return [Step("class", prior, weight=len(tables) / 99, mechanisms=("laplace1",)), *tables]

    def learn(self, curator: Curator) -> TableModel:
        prior = np.maximum(curator.ask("class"), 1.0)
        return attrs.evolve(super().learn(curator), prior=prior)
