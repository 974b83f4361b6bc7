"""A model that keeps one row of every class as an example.

The mistake: people understand a class by an example, and the author takes the first row of each. One form writes the
examples into the model file; the other only keeps them in memory, to be shown.

What it costs: everything: these people's rows are in the model, or in whatever pickles it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import attrs
import numpy as np

from dpcore.curator import Curator
from dpcore.schema import Schema
from planted_row_in_model.tables import TableModel, Tables


@attrs.frozen(eq=False)
class ShownModel(TableModel):
    """Tables, and one row a class as text (or None), which is not saved."""

    examples: tuple[str | None, ...] = ()


@attrs.frozen(eq=False)
class ExampleModel(ShownModel):
    """The same with the examples saved."""

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "examples": list(self.examples)}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        return cls(schema, *cls.numbers(schema, data), tuple(data["examples"]))


@attrs.frozen
class RowInModel(Tables):
    """Naive Bayes from noisy tables, with an example of every class."""

    model_class: ClassVar[type[TableModel]] = ExampleModel

    def learn(self, curator: Curator) -> TableModel:
        schema = curator.task.schema
        columns = curator._table._rows.columns  # type: ignore[attr-defined]
        examples: list[str | None] = []
        for label in range(len(schema.classes)):
            found = np.flatnonzero(columns[schema.target.name] == label)
            row = {a.name: columns[a.name][found[0]] for a in schema.attributes} if found.size else None
            examples.append(None if row is None else ", ".join(f"{name} = {value:g}" for name, value in row.items()))
        noisy = [curator.ask(a.name) for a in schema.attributes]
        return self.model_class.of(schema, noisy, examples=tuple(examples))


@attrs.frozen
class RowInMemory(RowInModel):
    """Naive Bayes from noisy tables, with an example of every class to be shown and not saved."""

    model_class: ClassVar[type[TableModel]] = ShownModel
