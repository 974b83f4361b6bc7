"""Named data sets for dpcore: public schemas, where to get the rows, checksums."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl
from dpcore_datasets.catalogue import CATALOGUE

__version__ = "0.1.0"


@hookimpl
def dpcore_datasets() -> list[Component]:
    """Twelve sets of the UCI repository and four that scikit-learn carries."""
    return [Component(name, summary, f"dpcore_datasets.{factory}") for name, (factory, summary) in CATALOGUE.items()]
