"""A learner that asks for sums by the rule of this package; its fault is the rule's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import attrs

from dpcore.allocator import Step
from dpcore.classifier import Task
from dpcore.curator import Curator
from dpcore.partition import Values
from dpcore.query import Sums
from dpcore.schema import Schema
from planted_forgot_sensitivity.tables import TableModel, Tables


@attrs.frozen(eq=False)
class ReportModel(TableModel):
    """Tables, and the noisy sums of the numbers in each class, for people."""

    sums: Mapping[str, list[float]]

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "sums": dict(self.sums)}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        return cls(schema, *cls.numbers(schema, data), data["sums"])


@attrs.frozen
class SumsReport(Tables):
    """Naive Bayes from noisy tables, with a report of the noisy sums of every number."""

    model_class: ClassVar[type[TableModel]] = ReportModel

    def steps(self, task: Task) -> Sequence[Step]:
        sums = [
            Step(
                f"sum of {a.name}",
                Sums(a, Values(task.schema.target)),
                mechanisms=("laplace",),
                sensitivity="unit_sums",
            )
            for a in task.schema.numeric()
        ]
        return [*super().steps(task), *sums]

    def learn(self, curator: Curator) -> TableModel:
        schema = curator.task.schema
        noisy = [curator.ask(a.name) for a in schema.attributes]
        sums = {a.name: curator.ask(f"sum of {a.name}").tolist() for a in schema.numeric()}
        return self.model_class.of(schema, noisy, sums=sums)
