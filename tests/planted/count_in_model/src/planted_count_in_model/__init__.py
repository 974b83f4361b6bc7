"""A planted fault: a model whose priors are exact."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "count_in_model", "Naive Bayes with the classes as they are", "planted_count_in_model.learner:CountInModel"
        ),
    ]
