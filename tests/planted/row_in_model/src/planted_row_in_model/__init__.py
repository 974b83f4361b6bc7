"""A planted fault: a model that keeps one row of every class as an example."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learners of this package."""
    return [
        Component(
            "row_in_model",
            "Naive Bayes that saves an example of every class",
            "planted_row_in_model.learner:RowInModel",
        ),
        Component(
            "row_in_memory",
            "Naive Bayes that keeps an example of every class",
            "planted_row_in_model.learner:RowInMemory",
        ),
    ]
