"""A learner that stops when an exact count is small.

The mistake: a table costs budget, and the author asks for one more only while the rarest class has a row for each. The
size of that class is looked up exactly, because it is not released.

What it costs: everything. How many tables there are tells the size of the rarest class, up to the number of attributes.
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
from planted_stop_by_data.tables import TableModel, Tables


@attrs.frozen
class StopByData(Tables):
    """Naive Bayes from noisy class counts and as many noisy tables as the rarest class has rows."""

    def steps(self, task: Task) -> Sequence[Step]:
        return [Step("class", Counts(Values(task.schema.target)), mechanisms=("geometric",)), *super().steps(task)]

    def learn(self, curator: Curator) -> TableModel:
        schema = curator.task.schema
        prior = np.maximum(curator.ask("class"), 1.0)
        noisy = [np.zeros(self.table(a, schema).shape) for a in schema.attributes]
        for asked, attribute in enumerate(schema.attributes):
            if curator._table.answer(Counts(Values(schema.target))).min() <= asked:
                break
            noisy[asked] = curator.ask(attribute.name)
        return attrs.evolve(self.model_class.of(schema, noisy), prior=prior)
