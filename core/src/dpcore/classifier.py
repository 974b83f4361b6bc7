"""The contract of a learner: it says what it will ask, asks it, and makes a model of the noisy answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.allocator import Step
from dpcore.component import Capabilities, Citation
from dpcore.errors import CapabilityError
from dpcore.privacy import Adjacency
from dpcore.schema import Schema

if TYPE_CHECKING:
    from dpcore.curator import Curator
    from dpcore.table import Rows


@attrs.frozen
class Task:
    """All that is public about one fit."""

    schema: Schema
    epsilon: float
    delta: float = 0.0
    adjacency: Adjacency = Adjacency.ADD_REMOVE


class Model(ABC):
    """The released thing: noisy numbers and public facts, nothing else."""

    @abstractmethod
    def log_proba(self, rows: Rows) -> npt.NDArray[np.float64]:
        """Log-probabilities, shape (rows, classes), each row's probabilities summing to 1."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The model as plain JSON data."""

    @classmethod
    @abstractmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        """The model back from `to_json`, without running any code from the file."""


class Classifier(ABC):
    """A learner. Subclasses are attrs classes whose fields are made with `dpcore.param`.

    Class attributes: `model_class`, the class of what it learns; `capabilities`; `published`, the parameters of every
    procedure that it runs as a paper has it (`dpcore audit --published`); and for people `citation`, `notes`. It never
    gets a table: `learn` gets a curator, which answers with noise.
    """

    model_class: ClassVar[type[Model]]
    capabilities: ClassVar[Capabilities] = Capabilities()
    published: ClassVar[tuple[Mapping[str, Any], ...]] = ()
    adjacency: ClassVar[tuple[str, ...]] = ("add-remove", "replace-one")
    guarantee: ClassVar[str] = "pure epsilon, or (epsilon, delta) where delta > 0"
    citation: ClassVar[Citation | tuple[Citation, ...] | None] = None
    notes: ClassVar[str] = ""

    @abstractmethod
    def steps(self, task: Task) -> Sequence[Step]:
        """Everything it will ask, from public facts alone."""

    @abstractmethod
    def learn(self, curator: Curator) -> Model:
        """Ask the steps of `curator.task` and make the model."""

    def warning(self, task: Task) -> str:
        """What is wrong with the guarantee of this variant as published; empty where nothing is."""
        return ""

    def check(self, schema: Schema) -> None:
        """Raise `CapabilityError`, with the reason, if it cannot work with this schema."""
        can = self.capabilities
        reasons = [
            ("numeric attributes", not can.numeric and bool(schema.numeric())),
            ("nominal attributes", not can.nominal and bool(schema.nominal())),
            ("more than two classes", not can.multiclass and len(schema.classes) > 2),
            ("missing values", not can.missing and any(a.missing for a in schema.attributes)),
        ]
        for what, lacking in reasons:
            if lacking:
                raise CapabilityError(f"{type(self).__name__} cannot work with {what}.")
