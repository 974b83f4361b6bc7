"""A sound naive Bayes: one noisy table of counts an attribute, and nothing else of the rows.

Packages with a fault hold a link to this file and change one thing in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.allocator import Step
from dpcore.classifier import Classifier, Model, Task
from dpcore.component import Citation
from dpcore.curator import Curator
from dpcore.errors import InputError
from dpcore.partition import EqualBins, Partition, Product, Values
from dpcore.query import Counts
from dpcore.schema import Attribute, Nominal, Schema
from dpcore.table import Rows

Floats = npt.NDArray[np.float64]


@attrs.frozen(eq=False)
class TableModel(Model):
    """Smoothed counts of every attribute's cells in each class, and of the classes.

    Args:
        schema: the public schema.
        prior: one positive number a class.
        tables: one an attribute, shape (cells, classes), all positive.
    """

    schema: Schema
    prior: Floats
    tables: tuple[Floats, ...]

    @staticmethod
    def cells(attribute: Attribute) -> Partition:
        """The cells that an attribute's values are counted in."""
        return Values(attribute) if isinstance(attribute, Nominal) else EqualBins(attribute, 8)

    @classmethod
    def of(cls, schema: Schema, noisy: Sequence[Floats], **more: Any) -> Self:
        """The model of noisy tables: clamped at 0, which is free, and 1 added to every count."""
        prior = np.maximum(np.mean([table.sum(axis=0) for table in noisy], axis=0), 1.0)
        return cls(schema, prior, tuple(np.maximum(table, 0.0) + 1.0 for table in noisy), **more)

    def log_proba(self, rows: Rows) -> Floats:
        total = np.tile(np.log(self.prior), (rows.size, 1))
        for attribute, table in zip(self.schema.attributes, self.tables, strict=True):
            # the last line is for a row of which nothing is known
            log = np.vstack([np.log(table / table.sum(axis=0)), np.zeros(len(self.prior))])
            for where, view in rows.blocks():
                total[where] += log[np.minimum(self.cells(attribute).codes(view), len(table))]
        return np.asarray(total - np.logaddexp.reduce(total, axis=1, keepdims=True))

    def to_json(self) -> dict[str, Any]:
        return {"prior": self.prior.tolist(), "tables": [table.tolist() for table in self.tables]}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        return cls(schema, *cls.numbers(schema, data))

    @classmethod
    def numbers(cls, schema: Schema, data: Mapping[str, Any]) -> tuple[Floats, tuple[Floats, ...]]:
        """The prior and the tables from `to_json`, checked."""
        classes = len(schema.classes)
        shapes = [(classes,), *((cls.cells(a).size, classes) for a in schema.attributes)]
        found = [np.asarray(part, dtype=np.float64) for part in (data["prior"], *data["tables"])]
        if [part.shape for part in found] != shapes or not all((part > 0).all() for part in found):
            raise InputError("a table is missing, of the wrong shape, or not positive.")
        return found[0], tuple(found[1:])


@attrs.frozen
class Tables(Classifier):
    """Naive Bayes from one noisy table an attribute, each with an equal share of the budget."""

    model_class: ClassVar[type[TableModel]] = TableModel
    mechanisms: ClassVar[tuple[str, ...]] = ("geometric", "discrete_gaussian")
    rule: ClassVar[str] = "global"
    citation: ClassVar[Citation | tuple[Citation, ...] | None] = Citation(
        key="vaidya2013differentially",
        author="Vaidya, J. and Shafiq, B. and Basu, A. and Hong, Y.",
        title="Differentially private naive Bayes classification",
        year=2013,
        venue="IEEE/WIC/ACM International Conferences on Web Intelligence",
    )
    notes: ClassVar[str] = "Made for tests."

    def table(self, attribute: Attribute, schema: Schema) -> Counts:
        """The counts of an attribute's cells in each class."""
        return Counts(Product((self.model_class.cells(attribute), Values(schema.target))))

    def steps(self, task: Task) -> Sequence[Step]:
        return [
            Step(a.name, self.table(a, task.schema), mechanisms=self.mechanisms, sensitivity=self.rule)
            for a in task.schema.attributes
        ]

    def learn(self, curator: Curator) -> TableModel:
        schema = curator.task.schema
        return self.model_class.of(schema, [curator.ask(a.name) for a in schema.attributes])
