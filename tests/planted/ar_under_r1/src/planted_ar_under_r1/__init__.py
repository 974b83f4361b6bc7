"""A planted fault: the sensitivity of add-remove used under replace-one."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_sensitivities() -> list[Component]:
    """The rule of this package."""
    return [
        Component(
            "ar_under_r1",
            "Counts that one person moves by 1 under either adjacency",
            "planted_ar_under_r1.rule:OneForBoth",
        ),
    ]


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "ar_under_r1_tables",
            "Naive Bayes that sets its noise by that rule",
            "planted_ar_under_r1.learner:OneForBothTables",
        ),
    ]
