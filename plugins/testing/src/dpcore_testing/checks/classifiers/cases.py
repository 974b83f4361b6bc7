"""The plans and tables that a learner is tried on: schemas of several shapes, every claimed adjacency and variant."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs
import numpy as np

from dpcore.errors import CapabilityError, DpcoreError
from dpcore.parameters import build
from dpcore.planned import Plan
from dpcore.planning import make_plan
from dpcore.schema import Nominal, Schema
from dpcore.table import Rows, smallest_unsigned
from dpcore_testing.checks.base import Failed, Subject, doing
from dpcore_testing.checks.common import settings
from dpcore_testing.pairs import schemas

DELTA = 1e-6
EPSILON = 1.0


@attrs.frozen(eq=False)
class Case:
    """One way to run a learner, in words and as arguments of `make_plan`."""

    subject: Subject
    parameters: Mapping[str, Any]
    shape: str
    schema: Schema
    adjacency: str
    delta: float = 0.0

    @property
    def words(self) -> str:
        """What is special about it."""
        given = [f"{name}={value}" for name, value in self.parameters.items() if value != self._default(name)]
        delta = [f"delta={self.delta:g}"] if self.delta else []
        return ", ".join([f"{self.shape} schema", self.adjacency, *delta, *given])

    def _default(self, name: str) -> Any:
        return getattr(build(self.subject.factory, {}), name)

    def plan(self) -> Plan:
        """The plan, from public facts."""
        return make_plan(
            self.subject.name,
            self.schema,
            epsilon=EPSILON,
            delta=self.delta,
            adjacency=self.adjacency,
            parameters=self.parameters,
            registry=self.subject.registry,
        )


def every_case(subject: Subject, *, delta: bool = False) -> Iterator[Case]:
    """All cases, those that the learner refuses included.

    Args:
        delta: also with a delta: every schema with the default parameters, one schema with the others.
    """
    found = subject.factory
    for chosen in settings(found):
        for i, (shape, schema) in enumerate(schemas().items()):
            for adjacency in map(str, found.adjacency):
                yield Case(subject, chosen, shape, schema, adjacency)
                if delta and (i == 0 or not chosen):
                    yield Case(subject, chosen, shape, schema, adjacency, DELTA)


def planned(subject: Subject, *, delta: bool = False) -> list[tuple[Case, Plan]]:
    """The cases that the learner can work with.

    Raises:
        Failed: if there are none, or a plan fails for another reason than a missing capability.
    """
    if "plans" not in subject.memory:
        subject.memory["plans"] = list(_planned(subject))
    found = [(case, plan) for case, plan in subject.memory["plans"] if delta or not case.delta]
    if not found:
        raise Failed(f"it can work with none of the schemas at hand ({', '.join(schemas())}).")
    return found


def _planned(subject: Subject) -> Iterator[tuple[Case, Plan]]:
    for case in every_case(subject, delta=True):
        with doing(f"planned for the {case.words}"):
            try:
                plan = case.plan()
            except CapabilityError:
                continue
            except DpcoreError as error:
                raise Failed(f"planned for the {case.words}: {error}") from None
        yield case, plan


def rows(schema: Schema, size: int, draw: np.random.Generator, *, only_class: int | None = None) -> Rows:
    """Random rows: missing cells where the schema allows them, some numbers beyond the bounds, no two numbers alike.

    Args:
        only_class: the class of every row, or None for all of them.
    """
    columns: dict[str, Any] = {}
    for a in (*schema.attributes, schema.target):
        if isinstance(a, Nominal):
            codes = draw.integers(a.cells, size=size)
            columns[a.name] = codes.astype(smallest_unsigned(a.cells))
            continue
        values = draw.uniform(a.lower - a.width / 10, a.upper + a.width / 10, size=size)
        if a.integer:
            values = np.round(values)
        if a.missing:
            values[draw.random(size) < 0.1] = np.nan
        columns[a.name] = values
    if only_class is not None:
        columns[schema.target.name][:] = only_class
    return Rows(schema, columns, size)
