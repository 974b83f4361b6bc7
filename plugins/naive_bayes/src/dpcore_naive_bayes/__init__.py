"""Differentially private naive Bayes for nominal and numeric attributes."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "naive_bayes",
            "Naive Bayes from noisy counts (or noisy moments) of each attribute by class",
            "dpcore_naive_bayes.learner:NaiveBayes",
        )
    ]
