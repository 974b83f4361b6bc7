"""Attributes asked in the order of their exact information.

The mistake: the author ranks the attributes by how much they tell about the class, from exact counts, because only the
noisy tables go into the model; and the model lists them in that order, for people.

What it costs: everything. Where two attributes tell equally much, one person decides the order, and it is never wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import attrs
import numpy as np

from dpcore.curator import Curator
from dpcore.query import Exact
from dpcore.schema import Schema
from planted_order_from_data.tables import TableModel, Tables


def information(counts: Exact) -> float:
    """The mutual information of cell and class, times the number of rows, in nats."""

    def entropy(c: Exact) -> float:
        some = c[c > 0]
        return float(-(some * np.log(some / counts.sum())).sum())

    return entropy(counts.sum(axis=0)) + entropy(counts.sum(axis=1)) - entropy(counts)


@attrs.frozen(eq=False)
class RankedModel(TableModel):
    """Tables, and the attributes by rank."""

    order: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "order": list(self.order)}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        return cls(schema, *cls.numbers(schema, data), tuple(data["order"]))


@attrs.frozen
class OrderFromData(Tables):
    """Naive Bayes from noisy tables, the most telling attribute first."""

    model_class: ClassVar[type[TableModel]] = RankedModel

    def learn(self, curator: Curator) -> TableModel:
        schema = curator.task.schema
        tells = {a.name: information(curator._table.answer(self.table(a, schema))) for a in schema.attributes}
        order = tuple(sorted(tells, key=lambda name: -tells[name]))
        noisy = {name: curator.ask(name) for name in order}
        return self.model_class.of(schema, [noisy[a.name] for a in schema.attributes], order=order)
