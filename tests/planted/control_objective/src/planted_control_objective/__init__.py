"""A control: logistic regression by objective perturbation that makes no mistake."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanism of this package."""
    return [
        Component(
            "control_objective",
            "Perturbs the objective of a logistic regression and solves it",
            "planted_control_objective.objective:Objective",
        ),
    ]


@hookimpl
def dpcore_sensitivities() -> list[Component]:
    """The rule of this package."""
    return [
        Component(
            "control_unit_rows",
            "One row of norm at most 1 moves a gradient by at most 1",
            "planted_control_objective.risk:UnitRows",
        ),
    ]


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "control_logistic",
            "Logistic regression on one number by objective perturbation",
            "planted_control_objective.logistic:Logistic",
        ),
    ]
