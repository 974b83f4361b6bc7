"""The contract of a budget allocator, and the step that it gives a fraction to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs

from dpcore.component import Citation
from dpcore.privacy import Cost
from dpcore.query import Query


@attrs.frozen
class Step:
    """One line of a learner's plan, known from public facts alone.

    Args:
        name: unique in the plan.
        query: what is asked; where the question depends on earlier answers, the largest of its kind.
        times: how often at the most.
        weight: the learner's own wish, relative to its other steps.
        mechanisms: names it can work with, best first; the planner takes the one with the least error.
        sensitivity: the name of the rule.
        sensitivity_parameters: its parameters, public facts.
        group: what it is about (`nominal`, `numeric`, `class`, …): allocators may split by it.
        fixed: whether the query is asked exactly as it stands here.
        cost: for published procedures only: what one ask really costs; it is charged as it stands.
        claimed: for published procedures only: the cost that the paper sets the noise for.
    """

    name: str
    query: Query
    times: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    weight: float = attrs.field(default=1.0, validator=attrs.validators.gt(0))
    mechanisms: tuple[str, ...] = ("geometric", "discrete_gaussian", "gaussian")
    sensitivity: str = "global"
    sensitivity_parameters: Mapping[str, Any] = attrs.field(factory=dict)
    group: str = ""
    fixed: bool = True
    cost: Cost | None = None
    claimed: Cost | None = None


class BudgetAllocator(ABC):
    """Gives each step a fraction of the budget; sees no data."""

    citation: ClassVar[Citation | None] = None
    notes: ClassVar[str] = ""

    @abstractmethod
    def allocate(self, steps: Sequence[Step]) -> Sequence[float]:
        """One fraction ≥ 0 a step, in order, summing to at most 1. A step that is asked several times
        shares its fraction among the asks."""
