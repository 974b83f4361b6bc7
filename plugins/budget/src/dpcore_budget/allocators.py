"""Allocators: they see the steps of a plan, which are public, and no data."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

import attrs

from dpcore.allocator import BudgetAllocator, Step
from dpcore.component import Citation
from dpcore.errors import ParameterError
from dpcore.parameters import param


def by_weight(steps: Sequence[Step], weight: Callable[[Step], float]) -> list[float]:
    """Fractions in proportion to a weight; [] for no steps."""
    weights = [weight(step) for step in steps]
    largest = max(weights, default=1.0)
    parts = [w / largest for w in weights]  # their sum cannot overflow
    total = math.fsum(parts)
    return [p / total for p in parts]


@attrs.frozen
class Weights(BudgetAllocator):
    """In proportion to the weights that the learner gives its steps, or to `weights` where it names a step."""

    weights: Mapping[str, float] | None = param(None, type=dict, help="step or group name -> weight > 0")
    notes: ClassVar[str] = "The default."

    def __attrs_post_init__(self) -> None:
        for name, value in (self.weights or {}).items():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= sys.float_info.max:
                raise ParameterError(
                    "The 'weights' parameter of Weights must hold finite numbers > 0. "
                    f"Got {value!r} for {name!r} instead."
                )

    def allocate(self, steps: Sequence[Step]) -> Sequence[float]:
        given = self.weights or {}
        known = {name for step in steps for name in (step.name, step.group)}
        for name in given:
            if name not in known:
                raise ParameterError(f"weights: the plan has no step or group {name!r}.")
        return by_weight(steps, lambda s: float(given.get(s.name, given.get(s.group, s.weight))))


@attrs.frozen
class Uniform(BudgetAllocator):
    """The same for every ask: a step that asks twice gets twice as much."""

    citation: ClassVar[Citation | None] = Citation(
        key="lopuhaa2021comparing",
        author="Lopuhaä-Zwakenberg, M. and others",
        title="Comparing classifiers' performance under differential privacy",
        year=2021,
        venue="SECRYPT",
        doi="10.5220/0010519000500061",
    )

    def allocate(self, steps: Sequence[Step]) -> Sequence[float]:
        return by_weight(steps, lambda step: step.times)


_ZAFARANI = Citation(
    key="zafarani2020differentially",
    author="Zafarani, F. and Clifton, C.",
    title="Differentially private naive Bayes classifier using smooth sensitivity",
    year=2020,
    venue="arXiv:2003.13955",
    type="article",
    url="https://arxiv.org/abs/2003.13955",
)


def _by_group(steps: Sequence[Step], numeric: float, nominal: float) -> list[float]:
    share = {"numeric": numeric, "nominal": nominal}
    return by_weight(steps, lambda step: step.times * share.get(step.group, min(numeric, nominal)))


@attrs.frozen
class TwoToOne(BudgetAllocator):
    """2 : 1, numeric to nominal, per ask; steps of neither group count as the smaller."""

    citation: ClassVar[Citation | None] = _ZAFARANI

    def allocate(self, steps: Sequence[Step]) -> Sequence[float]:
        return _by_group(steps, 2.0, 1.0)


@attrs.frozen
class OneToTwo(BudgetAllocator):
    """1 : 2, numeric to nominal, per ask; steps of neither group count as the smaller."""

    citation: ClassVar[Citation | None] = _ZAFARANI

    def allocate(self, steps: Sequence[Step]) -> Sequence[float]:
        return _by_group(steps, 1.0, 2.0)
