"""A planted fault: bins between the smallest and the largest value of the rows."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "bounds_from_data",
            "Naive Bayes with bins between the smallest and the largest value",
            "planted_bounds_from_data.learner:BoundsFromData",
        ),
    ]
