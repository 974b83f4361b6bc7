"""From public facts to a plan: what will be asked, at what cost, with what noise. Opens no data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from dpcore.accounting import Accountant, GdpAccountant, ZcdpAccountant, accountant, number_of
from dpcore.allocator import BudgetAllocator, Step
from dpcore.bound import Bound
from dpcore.classifier import Classifier, Task
from dpcore.errors import InputError, PluginError
from dpcore.mechanism import Calibration, Mechanism
from dpcore.parameters import build
from dpcore.privacy import GDP, ZCDP, Adjacency, Cost, Guarantee, Pure, check_budget, pure_epsilon
from dpcore.schema import Schema
from dpcore.sensitivity import SensitivityRule

if TYPE_CHECKING:
    from dpcore.registry import Registry

_LEAST = 1e-30
"""A smaller fraction of a budget is none at all: its noise would have no scale in floating point."""


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
            "epsilon": _finite(self.cost.epsilon) if isinstance(self.cost, Pure) else None,
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
        costs = [(p.cost, p.step.times) for p in self.steps]
        if self.accounting == "pure":
            return math.fsum(_pure(cost) * times for cost, times in costs), 0.0
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
        """The pure epsilon of every ask."""
        return [_pure(p.cost) for p in self.steps for _ in range(p.step.times)]

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
        self._sum = 0.0

    def cost(self, fraction: float) -> Cost:
        return Pure(self.epsilon * fraction)

    def charge(self, cost: Cost) -> None:
        self._sum += _pure(cost)

    def spent(self) -> tuple[float, float]:
        return self._sum, self.delta


def make_plan(
    classifier: str | Classifier,
    schema: Schema,
    *,
    epsilon: float,
    delta: float = 0.0,
    adjacency: str | Adjacency = Adjacency.ADD_REMOVE,
    allocator: str | BudgetAllocator = "weights",
    mechanism: str | None = None,
    sensitivity: str | None = None,
    accounting: str = "auto",
    parameters: Mapping[str, Any] | None = None,
    registry: Registry | None = None,
) -> Plan:
    """Plan a fit from public facts.

    Args:
        classifier: a name, or a ready learner.
        schema: the public schema.
        epsilon, delta: the whole budget of the fit.
        adjacency: `add-remove` or `replace-one`.
        allocator: a name, or a ready allocator.
        mechanism, sensitivity: names that take the place of the learner's own choice in every step
            that they fit.
        accounting: `pure`, `zcdp`, `gdp`, `pld` (see `dpcore.pld`), or `auto`: pure epsilon where delta is 0,
            otherwise whichever of the first three gives the smallest expected error.
        parameters: the learner's parameters, where `classifier` is a name.
        registry: where names are found; by default all installed plugins.

    Raises:
        InputError, ParameterError, CapabilityError: for a wrong argument or an unfit schema.
        PluginError: for an unknown name, or a step for which no rule and mechanism fit.
    """
    from dpcore.registry import load_plugins

    registry = registry or load_plugins()
    eps, dlt = check_budget(epsilon, delta)
    task = Task(schema, eps, dlt, Adjacency.parse(adjacency))
    if isinstance(classifier, str):
        name, learner = classifier, build(registry.get("classifier", classifier), parameters or {})
    else:
        name, learner = type(classifier).__name__, classifier
    if str(task.adjacency) not in learner.adjacency:
        raise InputError(f"{name} has no guarantee under {task.adjacency} adjacency.")
    learner.check(schema)
    steps = tuple(learner.steps(task))
    shares, allocator_name = _shares(allocator, steps, registry)
    candidates = [accounting]
    if accounting == "auto":
        candidates = ["gdp", "zcdp", "pure"] if dlt > 0 else ["pure"]
    chooser = _Chooser(registry, task, mechanism, sensitivity)
    plans, reasons = [], []
    for kind in candidates:
        if kind == "pld":
            from dpcore.pld import PldAccountant

            asks = [f / s.times for s, f in zip(steps, shares, strict=True) for _ in range(s.times)]
            bank: Accountant = PldAccountant.for_shares(eps, dlt, asks)
        else:
            bank = accountant(kind, eps, dlt)
        try:
            planned = tuple(chooser.plan(s, f, bank) for s, f in zip(steps, shares, strict=True))
        except PluginError as error:
            reasons.append(error)
            continue
        plans.append(Plan(name, learner, task, allocator_name, kind, planned))
    if not plans:
        raise reasons[0]
    if mechanism is not None:
        plans = [plan for plan in plans if any(p.mechanism_name == mechanism for p in plan.steps)]
        if not plans:
            raise PluginError(f"the mechanism {mechanism!r} fits no step of {name}.")
    return min(plans, key=_expected_error)


def _shares(allocator: str | BudgetAllocator, steps: tuple[Step, ...], registry: Registry) -> tuple[list[float], str]:
    if isinstance(allocator, str):
        name, giver = allocator, build(registry.get("allocator", allocator), {})
    else:
        name, giver = type(allocator).__name__, allocator
    shares = [float(f) for f in giver.allocate(steps)]
    wrong = len(shares) != len(steps) or any(not 0 <= f <= 1 + 1e-9 for f in shares)
    if wrong or math.fsum(shares) > 1 + 1e-9:
        raise PluginError(f"the allocator {name!r} must give one fraction a step, summing to at most 1.")
    if any(f < _LEAST and s.cost is None for f, s in zip(shares, steps, strict=True)):
        raise PluginError(f"the allocator {name!r} gives a step no budget at all.")
    return [f / max(1.0, math.fsum(shares)) for f in shares], name


def _expected_error(plan: Plan) -> float:
    return math.fsum(p.step.times * (p.calibration.expected_error or 0.0) for p in plan.steps)


@attrs.frozen
class _Chooser:
    """Finds a rule and a mechanism for each step."""

    registry: Registry
    task: Task
    mechanism: str | None
    sensitivity: str | None

    def plan(self, step: Step, fraction: float, bank: Accountant) -> PlannedStep:
        cost = step.cost or bank.cost(fraction / step.times)
        calibrated = step.claimed or cost
        if not pure_epsilon(cost) >= pure_epsilon(calibrated):
            raise PluginError(f"step {step.name!r} is charged less than its noise is set for.")
        wished = [self.mechanism] if self.mechanism and step.query.kind != "choice" else []
        options = self._options(step, (*wished, *step.mechanisms), calibrated)
        best: PlannedStep | None = None
        for name, noise, rule, bound in options:
            size = noise.calibrate(bound, calibrated)
            planned = PlannedStep(step, rule, bound, name, noise, cost, calibrated, size)
            if name in wished:
                return planned
            error = math.inf if size.expected_error is None else size.expected_error
            if best is None or error < (best.calibration.expected_error or math.inf):
                best = planned
        if best is None:
            raise PluginError(
                f"step {step.name!r}: no sensitivity rule and mechanism among {', '.join(step.mechanisms)} fit "
                f"{step.query.kind} queries under {self.task.adjacency} adjacency with {bank.name} accounting."
            )
        return best

    def _options(
        self, step: Step, mechanisms: tuple[str, ...], cost: Cost
    ) -> list[tuple[str, Mechanism, SensitivityRule, Bound]]:
        found = []
        for rule in self._rules(step):
            for name in mechanisms:
                noise = self._mechanism(name)
                for norm in noise.accepts:
                    bound = rule.bound(step.query, self.task.adjacency, norm)
                    if bound is not None and noise.fits(bound, cost):
                        found.append((name, noise, rule, bound))
            if found:
                break
        return found

    def _rules(self, step: Step) -> list[SensitivityRule]:
        rules = [self._rule(self.sensitivity, {})] if self.sensitivity else []
        rules.append(self._rule(step.sensitivity, step.sensitivity_parameters))
        adjacency = str(self.task.adjacency)
        return [r for r in rules if step.query.kind in r.kinds and adjacency in r.adjacency]

    def _mechanism(self, name: str) -> Mechanism:
        found: Mechanism = build(self.registry.get("mechanism", name), {})
        return found

    def _rule(self, name: str, values: Mapping[str, Any]) -> SensitivityRule:
        found: SensitivityRule = build(self.registry.get("sensitivity", name), values)
        return found


def _pure(cost: Cost) -> float:
    """The epsilon that a cost adds under basic composition; inf for one that is not pure."""
    return cost.epsilon if isinstance(cost, Pure) else math.inf


def _finite(value: float) -> float | None:
    """A number for people and JSON: 12 digits, null where there is no bound."""
    return None if math.isinf(value) else float(f"{value:.12g}")
