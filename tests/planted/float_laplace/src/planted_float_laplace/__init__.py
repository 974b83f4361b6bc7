"""A planted fault: Laplace noise drawn by NumPy in floating point."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    """The mechanisms of this package."""
    return [
        Component(
            "float_laplace", "Laplace noise from NumPy's generator", "planted_float_laplace.mechanism:FloatLaplace"
        ),
        Component(
            "float_laplace_inverted",
            "Laplace noise as the logarithm of a uniform number",
            "planted_float_laplace.mechanism:FloatLaplaceInverted",
        ),
    ]
