"""A control: a naive Bayes, a mechanism and a rule that make no mistake."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_classifiers() -> list[Component]:
    """The learner of this package."""
    return [
        Component("control_tables", "Naive Bayes over noisy tables", "planted_control_tables.learner:ControlTables"),
    ]


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanism of this package."""
    return [
        Component("control_noise", "Discrete Laplace noise in whole steps", "planted_control_tables.noise:Noise"),
    ]


@hookimpl
def dpcore_sensitivities() -> list[Component]:
    """The rule of this package."""
    return [
        Component("control_rule", "One person moves one count, or two", "planted_control_tables.rule:Rule"),
    ]
