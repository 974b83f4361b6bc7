"""A planted fault: a learner that stops when an exact count is small."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component(
            "stop_by_data",
            "Naive Bayes that asks for tables while there are rows enough",
            "planted_stop_by_data.learner:StopByData",
        ),
    ]
