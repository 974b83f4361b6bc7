"""A planted fault: class counts with Laplace(0, 1) whatever the budget."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanism of this package."""
    return [
        Component(
            "laplace1", "Laplace noise of scale 1, whatever is charged", "planted_prior_laplace1.mechanism:Laplace1"
        ),
    ]


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "prior_laplace1",
            "Naive Bayes whose class counts get Laplace(0, 1)",
            "planted_prior_laplace1.learner:PriorLaplace1",
        ),
    ]
