"""A plan: all that a fit will do, decided from public facts before any row is read."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import attrs

from dpcore.accounting import Accountant, GdpAccountant, ZcdpAccountant, accountant, number_of
from dpcore.allocator import Step
from dpcore.bound import Bound
from dpcore.classifier import Classifier, Task
from dpcore.mechanism import Calibration, Mechanism
from dpcore.privacy import GDP, ZCDP, Approximate, Cost, Guarantee, Pure
from dpcore.sensitivity import SensitivityRule


@attrs.frozen
class PlannedStep:
    """A step with all that was decided about it.

    Args:
        cost: what one ask is charged.
        calibrated: the cost that the noise is set for; differs from `cost` only in published procedures
            that spend more than they claim.
    """

    step: Step
    rule: SensitivityRule
    bound: Bound
    mechanism_name: str
    mechanism: Mechanism
    cost: Cost
    calibrated: Cost
    calibration: Calibration

    def to_json(self) -> dict[str, Any]:
        """One row of the plan's table, as plain data."""
        return {
            "step": self.step.name,
            "query": self.step.query.describe(),
            "cells": self.step.query.cells,
            "times": self.step.times,
            "sensitivity": self.bound.to_json(),
            "mechanism": self.mechanism_name,
            "epsilon": _finite(self.cost.epsilon) if isinstance(self.cost, (Pure, Approximate)) else None,
            "rho": self.cost.rho if isinstance(self.cost, ZCDP) else None,
            "mu_squared": self.cost.square if isinstance(self.cost, GDP) else None,
            "scale": self.calibration.scale,
            "expected_error": self.calibration.expected_error,
        }


@attrs.frozen
class Plan:
    """All that a fit will do, known before any row is read."""

    name: str
    classifier: Classifier
    task: Task
    allocator: str
    accounting: str
    steps: tuple[PlannedStep, ...]

    @property
    def total(self) -> tuple[float, float]:
        """(epsilon, delta) that the whole fit costs; epsilon is inf where nothing is guaranteed."""
        if any(p.bound.form == "local" and p.step.cost is None for p in self.steps):
            return math.inf, self.task.delta
        costs = [(p.cost, p.step.times) for p in self.steps]
        if self.accounting == "pure":
            deltas = math.fsum(cost.delta * times for cost, times in costs if isinstance(cost, Approximate))
            return math.fsum(_pure(cost) * times for cost, times in costs), deltas
        if self.accounting == "pld":
            from dpcore.pld import composed

            return composed(Counter(self._asks()), self.task.delta), self.task.delta
        additive = GdpAccountant if self.accounting == "gdp" else ZcdpAccountant
        number = math.fsum(number_of(cost, additive.kind) * times for cost, times in costs)
        if math.isinf(number):
            return math.inf, self.task.delta
        epsilon, delta = self.task.epsilon, self.task.delta
        found = additive.epsilon_of(number, delta)
        # the search from above must not say that a plan within its budget costs a hair more
        return (min(found, epsilon) if number <= additive.budget(epsilon, delta) else found), delta

    @property
    def guarantee(self) -> Guarantee:
        """What a model of this plan guarantees."""
        epsilon, delta = self.total
        warning = self.classifier.warning(self.task)
        return Guarantee(epsilon, delta, self.task.adjacency, warning)

    @property
    def within_budget(self) -> bool:
        """Whether it costs no more than was asked for; a published procedure may cost more."""
        return self.total[0] <= self.task.epsilon * (1 + 1e-8)

    def accountant(self) -> Accountant:
        """A fresh accountant for one fit; for an overspending published plan, with what it really spends."""
        if self.within_budget and self.accounting == "pld":
            from dpcore.pld import PldAccountant

            return PldAccountant(self.task.epsilon, self.task.delta, self._asks())
        if self.within_budget:
            return accountant(self.accounting, self.task.epsilon, self.task.delta)
        return Unlimited(self.task.epsilon, self.task.delta)

    def _asks(self) -> list[float]:
        """The pure epsilon of every ask; inf for one that has a delta as well."""
        costs = [(p.cost, p.step.times) for p in self.steps]
        pure = [(_pure(c) if not isinstance(c, Approximate) or c.delta == 0 else math.inf, n) for c, n in costs]
        return [epsilon for epsilon, times in pure for _ in range(times)]

    def to_json(self) -> dict[str, Any]:
        """The plan as plain data: the shape of `dpcore plan --json`."""
        guarantee = self.guarantee
        return {
            "classifier": self.name,
            "epsilon": self.task.epsilon,
            "delta": self.task.delta,
            "adjacency": str(self.task.adjacency),
            "allocator": self.allocator,
            "accounting": self.accounting,
            "steps": [p.to_json() for p in self.steps],
            "total_epsilon": _finite(guarantee.epsilon),
            "guarantee": guarantee.kind,
            "warning": guarantee.note,
        }


class Unlimited(Accountant):
    """For published procedures that spend more than they claim: adds up, refuses nothing."""

    name = "published"

    def __init__(self, epsilon: float, delta: float = 0.0) -> None:
        super().__init__(epsilon, delta)
        self._sum, self._deltas = 0.0, 0.0

    def cost(self, fraction: float) -> Cost:
        return Pure(self.epsilon * fraction)

    def charge(self, cost: Cost) -> None:
        self._sum += _pure(cost)
        self._deltas += cost.delta if isinstance(cost, Approximate) else 0.0

    def spent(self) -> tuple[float, float]:
        return self._sum, max(self.delta, self._deltas)


def _pure(cost: Cost) -> float:
    """The epsilon that a cost adds under basic composition; inf for one that is not pure."""
    return cost.epsilon if isinstance(cost, (Pure, Approximate)) else math.inf


def _finite(value: float) -> float | None:
    """A number for people and JSON: 12 digits, null where there is no bound."""
    return None if math.isinf(value) else float(f"{value:.12g}")
