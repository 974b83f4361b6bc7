"""A planted fault: the absolute value of Laplace noise."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanisms of this package."""
    return [
        Component(
            "absolute_noise",
            "The absolute value of discrete Laplace noise",
            "planted_absolute_noise.mechanism:AbsoluteNoise",
        ),
        Component(
            "absolute_noise_believed",
            "The same, with the density that its author believes in",
            "planted_absolute_noise.mechanism:AbsoluteNoiseBelieved",
        ),
    ]
