"""Budgets: which fraction each step of a plan gets, and a ledger of what was spent on a data set."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_budget_allocators() -> list[Component]:
    """The allocators of this package."""
    return [
        Component("weights", "As the learner wishes: by the weights of its steps", "dpcore_budget.allocators:Weights"),
        Component("uniform", "The same for every ask", "dpcore_budget.allocators:Uniform"),
        Component(
            "two_to_one", "Numeric attributes get twice what nominal ones get", "dpcore_budget.allocators:TwoToOne"
        ),
        Component(
            "one_to_two", "Nominal attributes get twice what numeric ones get", "dpcore_budget.allocators:OneToTwo"
        ),
    ]


@hookimpl
def dpcore_ledgers() -> list[Component]:
    """The ledger of this package."""
    return [
        Component(
            "sqlite",
            "A data set's budget in one file: durable, shared by processes, append-only",
            "dpcore_budget.ledger:SqliteLedger",
        )
    ]


@hookimpl
def dpcore_commands() -> list[Component]:
    """The verb of this package."""
    return [Component("ledger", "Keep a data set's budget across fits and days.", "dpcore_budget.cli.ledger:command")]
