"""Weka's Experimenter for private classifiers: `dpcore compare`.

`Experiment` says what is compared, `run` does it, `Results` holds what came out, `write_report` makes the page. These
are imported on first use, so that listing plugins stays light.
"""

from __future__ import annotations

from typing import Any

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"
__all__ = ["Experiment", "Results", "load", "run", "write_report"]

_PLACES = {
    "Experiment": "dpcore_experiments.experiment",
    "Results": "dpcore_experiments.results",
    "load": "dpcore_experiments.reading",
    "run": "dpcore_experiments.running",
    "write_report": "dpcore_experiments.report",
}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_PLACES[name]), name)


@hookimpl
def dpcore_commands() -> list[Component]:
    """The verb of this package."""
    return [
        Component(
            "compare",
            "Compare classifiers over data sets and epsilons, as an experiment file says.",
            "dpcore_experiments.cli.compare:command",
        )
    ]
