"""A planted fault: one draw of noise for all cells."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanisms of this package."""
    return [
        Component(
            "shared_noise",
            "One draw of discrete Laplace noise for all cells",
            "planted_shared_noise.mechanism:SharedNoise",
        ),
        Component(
            "shared_noise_believed",
            "The same, with the density that its author believes in",
            "planted_shared_noise.mechanism:SharedNoiseBelieved",
        ),
    ]
