"""A planted fault: attributes asked in the order of their exact information."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "order_from_data",
            "Naive Bayes that asks the most telling attribute first",
            "planted_order_from_data.learner:OrderFromData",
        ),
    ]
