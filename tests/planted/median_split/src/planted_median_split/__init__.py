"""A planted fault: numbers made binary at the median of the rows."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "median_split",
            "Naive Bayes with numbers made binary at their median",
            "planted_median_split.learner:MedianSplit",
        ),
    ]
