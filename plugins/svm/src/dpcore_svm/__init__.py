"""Differentially private support vector machines and logistic regression."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "svm",
            "A linear or RBF classifier: the private minimum of a logistic or Huber hinge loss",
            "dpcore_svm.learner:Svm",
        )
    ]
