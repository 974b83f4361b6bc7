"""The sensitivity of add-remove used under replace-one.

The mistake: the author thinks of a row more or less, and lets the same rule stand for a row that is replaced, which
leaves one cell and enters another (Lopuhaä-Zwakenberg et al. 2021).

What it costs: epsilon under add-remove, as it should, and 2 epsilon under replace-one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs

from dpcore.bound import Bound
from dpcore.privacy import Adjacency
from dpcore.query import Counts, Query
from dpcore.sensitivity import SensitivityRule

if TYPE_CHECKING:
    from dpcore.table import Table


@attrs.frozen
class OneForBoth(SensitivityRule):
    """1, whatever the adjacency."""

    kinds: ClassVar[tuple[str, ...]] = ("counts",)
    norms: ClassVar[tuple[str, ...]] = ("l1",)
    notes: ClassVar[str] = "Made for tests."

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Table | None = None) -> Bound | None:
        return Bound(1.0, "l1", rises=1) if norm == "l1" and isinstance(query, Counts) else None
