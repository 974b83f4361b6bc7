"""A planted fault: the noise of a mean set by the true size of its class."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_sensitivities() -> list[Component]:
    """The rule of this package."""
    return [
        Component(
            "means_by_size",
            "Means that one person moves by their range over the class size",
            "planted_private_scale.rule:MeansBySize",
        ),
    ]


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "means_by_size_report",
            "Naive Bayes that reports the means of its numbers",
            "planted_private_scale.learner:MeansReport",
        ),
    ]
