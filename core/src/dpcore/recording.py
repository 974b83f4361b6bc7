"""What a fit tells a ledger, and the one place where a cost is taken before a fit."""

from __future__ import annotations

from typing import Any

from dpcore.budget import Budget
from dpcore.classifier import Classifier
from dpcore.ledger import Entry, Ledger, Receipt, fingerprint
from dpcore.parameters import parameters
from dpcore.planned import Plan
from dpcore.privacy import Adjacency


def ledger_entry(plan: Plan, *, reproducible: bool, data: str = "") -> Entry:
    """A fit of this plan, at its whole cost.

    Raises:
        InputError: if the learner's parameters are not plain data, which no model file could hold either.
    """
    epsilon, delta = plan.total
    return Entry(
        learner=plan.name,
        parameters=learner_parameters(plan.classifier),
        schema=fingerprint(plan.task.schema),
        epsilon=epsilon,
        delta=delta,
        adjacency=plan.task.adjacency,
        accounting=plan.accounting,
        reproducible=reproducible,
        data=data,
    )


def schema_entry(epsilon: float, adjacency: Adjacency, *, reproducible: bool) -> Entry:
    """A search for a schema among private rows (see `dpcore.private_schema`)."""
    return Entry("private_schema", {}, "", epsilon, 0.0, adjacency, "pure", reproducible)


def learner_parameters(classifier: Classifier) -> dict[str, Any]:
    """The parameters of a learner, by name."""
    return {p.name: getattr(classifier, p.name) for p in parameters(type(classifier))}


def pay(
    cost: tuple[float, float], budget: Budget | None, ledger: Ledger | None, entries: tuple[Entry, ...]
) -> tuple[Receipt, ...]:
    """Take a cost from a shared budget and record it in a ledger, whichever there is.

    Raises:
        InputError, BudgetError: if either cannot pay; a ledger that refuses costs the shared budget nothing.
    """
    if ledger is not None and budget is not None:
        ledger.check(*entries)
    if budget is not None:
        budget.reserve(*cost)
    return () if ledger is None else tuple(ledger.spend(entry) for entry in entries)
