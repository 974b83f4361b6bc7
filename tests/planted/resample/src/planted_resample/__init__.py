"""A planted fault: noise drawn again until the answer is positive."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanisms of this package."""
    return [
        Component(
            "resample", "Laplace noise drawn again until the answer is positive", "planted_resample.mechanism:Resample"
        ),
        Component(
            "resample_believed",
            "The same, with the density that its author believes in",
            "planted_resample.mechanism:ResampleBelieved",
        ),
    ]
