"""A planted fault: a sum that one person moves by 5 is taken to move by 1."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_sensitivities() -> list[Component]:
    """The rule of this package."""
    return [
        Component(
            "unit_sums",
            "Sums that one person moves by 1, whatever the bounds",
            "planted_forgot_sensitivity.rule:UnitSums",
        ),
    ]


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanism of this package."""
    return [
        Component(
            "unscaled_noise",
            "Discrete Laplace noise of scale 1 / epsilon",
            "planted_forgot_sensitivity.mechanism:UnscaledNoise",
        ),
    ]


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "unit_sums_report",
            "Naive Bayes that reports the sums of its numbers",
            "planted_forgot_sensitivity.learner:SumsReport",
        ),
    ]
