"""From public facts to a plan. Opens no data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import attrs

from dpcore.accounting import Accountant, accountant
from dpcore.allocator import BudgetAllocator, Step
from dpcore.bound import Bound
from dpcore.classifier import Classifier, Task
from dpcore.errors import InputError, PluginError
from dpcore.mechanism import Mechanism
from dpcore.parameters import build
from dpcore.planned import Plan, PlannedStep
from dpcore.privacy import Adjacency, Cost, check_budget, pure_epsilon
from dpcore.schema import Schema
from dpcore.sensitivity import SensitivityRule

if TYPE_CHECKING:
    from dpcore.registry import Registry

_LEAST = 1e-30
"""A smaller fraction of a budget is none at all: its noise would have no scale in floating point."""


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
        name, learner = _name_of(classifier, registry), classifier
    if str(task.adjacency) not in learner.adjacency:
        raise InputError(f"{name} has no guarantee under {task.adjacency} adjacency.")
    learner.check(schema)
    steps = _steps(learner, task, name)
    shares, allocator_name = _shares(allocator, steps, registry)
    candidates = [accounting]
    if accounting == "auto":
        candidates = ["gdp", "zcdp", "pure"] if dlt > 0 else ["pure"]
    chooser = _Chooser(registry, task, mechanism, sensitivity)
    plans, reasons = [], []
    for kind in candidates:
        bank = _bank(kind, task, steps, shares)
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
            kinds = " or ".join(candidates)
            raise PluginError(f"the mechanism {mechanism!r} fits no step of {name} with {kinds} accounting.")
    if sensitivity is not None:
        wished = registry.get("sensitivity", sensitivity)
        if not any(isinstance(p.rule, wished) for plan in plans for p in plan.steps):
            raise PluginError(f"the sensitivity rule {sensitivity!r} fits no step of {name}.")
    plans.sort(key=_expected_error)
    if any(step.cost is not None for step in steps):
        # a published procedure has the same noise under every accounting; better one under which it fits the budget
        plans.sort(key=lambda plan: not plan.within_budget)
    return plans[0]


def _steps(learner: Classifier, task: Task, name: str) -> tuple[Step, ...]:
    steps = tuple(learner.steps(task))
    names = [step.name for step in steps]
    if len(set(names)) < len(names):
        twice = next(n for n in names if names.count(n) > 1)
        raise PluginError(f"{name} plans two steps called {twice!r}: rename the attribute of that name in the schema.")
    return steps


def _bank(kind: str, task: Task, steps: tuple[Step, ...], shares: list[float]) -> Accountant:
    """The accountant that turns shares of the budget into costs."""
    if kind != "pld":
        return accountant(kind, task.epsilon, task.delta)
    from dpcore.pld import PldAccountant

    asks = [f / s.times for s, f in zip(steps, shares, strict=True) for _ in range(s.times)]
    return PldAccountant.for_shares(task.epsilon, task.delta, asks)


def _name_of(learner: Classifier, registry: Registry) -> str:
    """The name under which a learner's class is listed, so that its model file finds it again."""
    factory = f"{type(learner).__module__}:{type(learner).__qualname__}"
    for name in registry.names("classifier"):
        if registry.component("classifier", name).factory == factory:
            return name
    return type(learner).__name__


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
            charged, claimed = noise.payable(cost), noise.payable(calibrated)
            planned = PlannedStep(step, rule, bound, name, noise, charged, claimed, noise.calibrate(bound, claimed))
            if name in wished:
                return planned
            found = planned.calibration.expected_error
            error = math.inf if found is None else found
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
                    if bound is not None and noise.fits(bound, noise.payable(cost)):
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
