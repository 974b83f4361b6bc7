"""A planted fault: noise of half the scale."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanisms of this package."""
    return [
        Component("half_noise", "Discrete Laplace noise of half the scale", "planted_half_noise.mechanism:HalfNoise"),
        Component(
            "half_noise_believed",
            "The same, with the density that its author believes in",
            "planted_half_noise.mechanism:HalfNoiseBelieved",
        ),
    ]
