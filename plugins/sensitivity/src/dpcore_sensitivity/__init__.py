"""Sensitivity rules: global ones, and the published rules that read private class sizes (for comparison)."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_sensitivities() -> list[Component]:
    """The rules of this package."""
    return [
        Component(
            "global",
            "Worst case over all tables: counts, sums, means, variances, deviations, choices",
            "dpcore_sensitivity.worst_case:Global",
        ),
        Component(
            "vaidya2013",
            "Means and deviations as published by Vaidya et al.: noise set by a class size (not private)",
            "dpcore_sensitivity.published:Vaidya2013",
        ),
        Component(
            "lopuhaa2021",
            "Means and deviations as published by Lopuhaä-Zwakenberg et al.: noise set by a class size (not private)",
            "dpcore_sensitivity.published:Lopuhaa2021",
        ),
    ]
