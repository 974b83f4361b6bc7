"""A planted fault: objective perturbation that stops before the minimum."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanisms of this package."""
    return [
        Component(
            "one_step",
            "One step from the unperturbed minimiser towards the perturbed one",
            "planted_unconverged.one_step:OneStep",
        ),
        Component(
            "one_step_believed",
            "The same, with the density that its author believes in",
            "planted_unconverged.one_step:OneStepBelieved",
        ),
    ]


@hookimpl
def dpcore_sensitivities() -> list[Component]:
    """The rule of this package."""
    return [
        Component(
            "one_step_rule",
            "One row of norm at most 1 moves a gradient by at most 1",
            "planted_unconverged.risk:UnitRows",
        ),
    ]


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learners of this package."""
    return [
        Component(
            "unconverged",
            "Logistic regression by one step of gradient descent",
            "planted_unconverged.learner:Unconverged",
        ),
        Component(
            "unconverged_believed",
            "The same, with the density that its author believes in",
            "planted_unconverged.learner:UnconvergedBelieved",
        ),
    ]
