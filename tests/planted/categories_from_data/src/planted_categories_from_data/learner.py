"""Only the values that occur in the rows get a cell.

The mistake: to save noise on empty cells the author takes the list of values from the rows, as `pandas.get_dummies`
does; the others count as 0.

What it costs: everything. A value that one person alone has gets noise, and without that person an exact 0.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from dpcore.allocator import Step
from dpcore.classifier import Task
from dpcore.curator import Curator
from dpcore.partition import Codes, Partition, Product, Values, View
from dpcore.query import Counts
from dpcore.schema import Nominal
from planted_categories_from_data.tables import Floats, TableModel, Tables


@attrs.frozen
class Kept(Partition):
    """Some values of a nominal attribute, by their codes."""

    attribute: Nominal
    kept: tuple[int, ...]

    @property
    def attributes(self) -> tuple[str, ...]:
        return (self.attribute.name,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.kept),)

    def codes(self, view: View) -> Codes:
        return np.searchsorted(np.asarray(self.kept, dtype=np.intp), view[self.attribute.name])

    def labels(self) -> list[str]:
        return [str(code) for code in self.kept]


@attrs.frozen
class CategoriesFromData(Tables):
    """Naive Bayes from noisy tables of the values that occur."""

    def steps(self, task: Task) -> Sequence[Step]:
        nominal = {a.name for a in task.schema.nominal()}
        return [attrs.evolve(step, fixed=step.name not in nominal) for step in super().steps(task)]

    def learn(self, curator: Curator) -> TableModel:
        schema = curator.task.schema
        noisy = [self._values(curator, a) if isinstance(a, Nominal) else curator.ask(a.name) for a in schema.attributes]
        return self.model_class.of(schema, noisy)

    def _values(self, curator: Curator, attribute: Nominal) -> Floats:
        """The noisy table of an attribute, 0 for what does not occur."""
        target = curator.task.schema.target
        found = np.unique(curator._table._rows.columns[attribute.name])  # type: ignore[attr-defined]
        table = np.zeros((attribute.cells, target.cells))
        if found.size:
            kept = Kept(attribute, tuple(found.tolist()))
            table[found] = curator.ask(attribute.name, Counts(Product((kept, Values(target)))))
        return table
