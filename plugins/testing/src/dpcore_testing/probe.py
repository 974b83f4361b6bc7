"""Learners that ask one question each: through them a mechanism or a sensitivity rule is audited alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.allocator import Step
from dpcore.classifier import Classifier, Model, Task
from dpcore.curator import Curator
from dpcore.partition import EqualBins, Partition, Product, Values
from dpcore.query import CellCount, Choice, Counts, Deviations, Means, Query, Sums, Variances
from dpcore.schema import Nominal, Schema
from dpcore.table import Rows


@attrs.frozen(eq=False)
class ProbeModel(Model):
    """The answer itself; predicts every class alike."""

    schema: Schema
    answer: Any

    def log_proba(self, rows: Rows) -> npt.NDArray[np.float64]:
        classes = len(self.schema.classes)
        return np.full((rows.size, classes), -np.log(classes))

    def to_json(self) -> dict[str, Any]:
        return {"answer": np.asarray(self.answer).tolist()}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        return cls(schema, np.asarray(data["answer"]))


@attrs.frozen
class Probe(Classifier):
    """Asks one query with one rule and one of some mechanisms."""

    query: Query
    mechanisms: tuple[str, ...]
    rule: str = "global"
    rule_parameters: Mapping[str, Any] = attrs.field(factory=dict)

    model_class = ProbeModel
    notes = "Part of the audit: a question alone."

    def steps(self, task: Task) -> Sequence[Step]:
        parameters = self.rule_parameters
        return [Step("answer", self.query, 1, 1.0, self.mechanisms, self.rule, parameters)]

    def learn(self, curator: Curator) -> Model:
        return ProbeModel(curator.task.schema, curator.ask("answer"))


def queries(schema: Schema) -> Iterator[Query]:
    """Questions of every kind that the core knows, over a schema."""
    classes = Values(schema.target)
    a = schema.attributes[0]
    cells: Partition = Values(a) if isinstance(a, Nominal) else EqualBins(a, 4)
    by_class = Counts(Product((cells, classes)))
    yield by_class
    yield Choice(by_class, CellCount())
    for numeric in schema.numeric()[:1]:
        yield Sums(numeric, classes)
        yield Sums(numeric, classes, power=2)
        yield Means(numeric, classes)
        yield Variances(numeric, classes)
        yield Deviations(numeric, classes)
