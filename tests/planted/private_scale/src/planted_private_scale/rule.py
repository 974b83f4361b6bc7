"""The noise of a mean set by the true size of its class.

The mistake: the author divides the range by the number of rows in the class, as two papers do (Vaidya et al. 2013;
Lopuhaä-Zwakenberg et al. 2021), and calls the bound global: it holds for every table with classes of that size.

What it costs: everything. The size is private, a row more or another label changes it, and noise whose scale differs on
two neighbours has an unbounded ratio of densities far out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs
import numpy as np

from dpcore.bound import Bound
from dpcore.privacy import Adjacency
from dpcore.query import Counts, Means, Query
from dpcore.sensitivity import SensitivityRule

if TYPE_CHECKING:
    from dpcore.table import Table


@attrs.frozen
class MeansBySize(SensitivityRule):
    """R / n for a class of n rows; twice that under replace-one, where two classes change."""

    kinds: ClassVar[tuple[str, ...]] = ("means",)
    norms: ClassVar[tuple[str, ...]] = ("l1",)
    reads_rows: ClassVar[bool] = True
    notes: ClassVar[str] = "Made for tests."

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Table | None = None) -> Bound | None:
        if norm != "l1" or not isinstance(query, Means):
            return None
        if table is None:
            return Bound(None, "l1", grid=query.grid)
        cells = 2.0 if adjacency is Adjacency.REPLACE_ONE else 1.0
        size = np.maximum(table.answer(Counts(query.by)), 1)
        return Bound(cells * query.attribute.width / size, "l1", grid=query.grid)
