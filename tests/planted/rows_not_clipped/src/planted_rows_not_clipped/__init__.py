"""A planted fault: objective perturbation over rows that are longer than 1."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanism of this package."""
    return [
        Component(
            "rows_not_clipped_objective",
            "Perturbs the objective of a logistic regression and solves it",
            "planted_rows_not_clipped.objective:Objective",
        ),
    ]


@hookimpl
def dpcore_sensitivities() -> list[Component]:
    """The rule of this package."""
    return [
        Component(
            "rows_not_clipped_rule", "One row moves a gradient by at most 1", "planted_rows_not_clipped.risk:UnitRows"
        ),
    ]


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "rows_not_clipped",
            "Logistic regression on one number as it stands",
            "planted_rows_not_clipped.learner:LongRows",
        ),
    ]
