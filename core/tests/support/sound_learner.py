"""A small learner that makes no mistake, for tests that change one thing in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import attrs
import numpy as np

from dpcore import Classifier, Model, Nominal, Schema
from dpcore.allocator import Step
from dpcore.partition import EqualBins, Values
from dpcore.query import Counts


def cells(a: Any) -> Any:
    return Values(a) if isinstance(a, Nominal) else EqualBins(a, 8)


@attrs.frozen(eq=False)
class Pool(Model):
    """For each attribute the log-probabilities of the classes in each cell; their sum says the class."""

    schema: Schema
    logs: list[Any]

    def scores(self, rows: Any) -> Any:
        total = np.zeros((rows.size, len(self.schema.classes)))
        for where, view in rows.blocks():
            for a, log in zip(self.schema.attributes, self.logs, strict=True):
                # the last line is for a value that the schema does not know
                total[where] += log[np.minimum(cells(a).codes(view), len(log) - 1)]
        return total

    def log_proba(self, rows: Any) -> Any:
        scores = self.scores(rows)
        return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)

    def to_json(self) -> dict[str, Any]:
        return {"logs": [log.tolist() for log in self.logs]}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        return cls(schema, [np.array(log) for log in data["logs"]])


class Sound(Classifier):
    """One noisy table an attribute."""

    model_class: ClassVar[type[Model]] = Pool
    notes: ClassVar[str] = "Made for tests."

    def steps(self, task: Any) -> Sequence[Step]:
        return [Step(a.name, Counts(cells(a) * Values(task.schema.target))) for a in task.schema.attributes]

    def learn(self, curator: Any) -> Any:
        schema = curator.task.schema
        return self.model(schema, [self.logs(curator.ask(a.name)) for a in schema.attributes])

    def logs(self, noisy: Any) -> Any:
        table = np.maximum(noisy, 0)
        counts = np.vstack([table, table.sum(axis=0)]) + 1
        return np.log(counts / counts.sum(axis=1, keepdims=True))

    def model(self, schema: Schema, logs: list[Any]) -> Any:
        return self.model_class(schema, logs)  # type: ignore[call-arg]
