"""Differentially private decision trees for nominal and numeric attributes."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "cart",
            "A decision tree whose splits are chosen privately, one charge a level, with noisy counts in its leaves",
            "dpcore_cart.learner:Cart",
        )
    ]
