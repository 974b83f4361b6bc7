"""A learner that asks for means by the rule of this package; its fault is the rule's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import attrs

from dpcore.allocator import Step
from dpcore.classifier import Task
from dpcore.curator import Curator
from dpcore.partition import Values
from dpcore.query import Means
from dpcore.schema import Schema
from planted_private_scale.tables import TableModel, Tables


@attrs.frozen(eq=False)
class ReportModel(TableModel):
    """Tables, and the noisy means of the numbers in each class, for people."""

    means: Mapping[str, list[float]]

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "means": dict(self.means)}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        return cls(schema, *cls.numbers(schema, data), data["means"])


@attrs.frozen
class MeansReport(Tables):
    """Naive Bayes from noisy tables, with a report of the noisy means of every number."""

    model_class: ClassVar[type[TableModel]] = ReportModel

    def steps(self, task: Task) -> Sequence[Step]:
        classes = Values(task.schema.target)
        means = [
            Step(f"mean of {a.name}", Means(a, classes), mechanisms=("laplace",), sensitivity="means_by_size")
            for a in task.schema.numeric()
        ]
        return [*super().steps(task), *means]

    def learn(self, curator: Curator) -> TableModel:
        schema = curator.task.schema
        noisy = [curator.ask(a.name) for a in schema.attributes]
        means = {a.name: (a.middle + curator.ask(f"mean of {a.name}")).tolist() for a in schema.numeric()}
        return self.model_class.of(schema, noisy, means=means)
