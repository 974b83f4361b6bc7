"""Logistic regression on the first numeric attribute, with one question: the minimiser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import attrs
import numpy as np

from dpcore.allocator import Step
from dpcore.classifier import Classifier, Model, Task
from dpcore.component import Capabilities, Citation
from dpcore.curator import Curator
from dpcore.errors import CapabilityError, InputError
from dpcore.schema import Schema
from dpcore.table import Rows

from .risk import CHAUDHURI, Floats, Risk


@attrs.frozen(eq=False)
class LogisticModel(Model):
    """P(second class) = 1 / (1 + e^(−w·x))."""

    risk: ClassVar[type[Risk]] = Risk
    schema: Schema
    weights: Floats

    def log_proba(self, rows: Rows) -> Floats:
        attribute = self.schema.numeric()[0]
        margin = self.risk.encode(attribute, rows.columns[attribute.name].astype(np.float64)) @ self.weights
        return -np.logaddexp(0.0, np.stack([margin, -margin], axis=1))

    def to_json(self) -> dict[str, Any]:
        return {"weights": self.weights.tolist()}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        weights = np.asarray(data["weights"], dtype=np.float64)
        if weights.shape != (2,) or not np.isfinite(weights).all():
            raise InputError("a weight is missing or not finite.")
        return cls(schema, weights)


@attrs.frozen
class Logistic(Classifier):
    """Logistic regression on the first numeric attribute, for two classes."""

    model_class: ClassVar[type[LogisticModel]] = LogisticModel
    capabilities: ClassVar[Capabilities] = Capabilities(multiclass=False)
    mechanism: ClassVar[str] = "control_objective"
    rule: ClassVar[str] = "control_unit_rows"
    citation: ClassVar[Citation | tuple[Citation, ...] | None] = CHAUDHURI
    notes: ClassVar[str] = "Made for tests; further attributes are not used."

    def check(self, schema: Schema) -> None:
        super().check(schema)
        if not schema.numeric():
            raise CapabilityError(f"{type(self).__name__} needs a numeric attribute.")

    def steps(self, task: Task) -> Sequence[Step]:
        query = self.model_class.risk(task.schema.numeric()[0], task.schema.target)
        return [Step("weights", query, mechanisms=(self.mechanism,), sensitivity=self.rule)]

    def learn(self, curator: Curator) -> LogisticModel:
        return self.model_class(curator.task.schema, np.asarray(curator.ask("weights")))
