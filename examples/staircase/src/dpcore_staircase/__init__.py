"""The staircase mechanism for dpcore, as somebody else would publish it."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanism of this package."""
    return [
        Component(
            "staircase",
            "Staircase noise in whole steps; geometric noise where an answer moves by one step",
            "dpcore_staircase.mechanism:Staircase",
        )
    ]
