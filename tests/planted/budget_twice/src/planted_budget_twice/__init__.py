"""A planted fault: two members of an ensemble each spend the whole budget."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learners of this package."""
    return [
        Component(
            "budget_twice",
            "The mean of two members, the second a fit of its own",
            "planted_budget_twice.learner:BudgetTwice",
        ),
        Component(
            "budget_cloned",
            "The mean of two members, each with a copy of the curator",
            "planted_budget_twice.learner:BudgetCloned",
        ),
    ]
