"""A planted fault: a refusal of the budget is swallowed and the question asked again."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "budget_retry",
            "Naive Bayes that asks again while a count is negative",
            "planted_budget_retry.learner:BudgetRetry",
        ),
    ]
