"""A planted fault: only the values that occur in the rows get a cell."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "categories_from_data",
            "Naive Bayes that counts only the values that occur",
            "planted_categories_from_data.learner:CategoriesFromData",
        ),
    ]
