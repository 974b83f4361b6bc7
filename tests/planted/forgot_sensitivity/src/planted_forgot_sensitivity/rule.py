"""A sum that one person moves by half of its range is taken to move by 1.

The mistake: the author knows sums of numbers scaled to the unit interval, where the rule is right.

What it costs: R/2 times epsilon for numbers of range R under add-remove, R times under replace-one: 5 epsilon and 10
epsilon for numbers from 0 to 10.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs

from dpcore.bound import Bound
from dpcore.privacy import Adjacency
from dpcore.query import Query, Sums
from dpcore.sensitivity import SensitivityRule

if TYPE_CHECKING:
    from dpcore.table import Table


@attrs.frozen
class UnitSums(SensitivityRule):
    """1 under either adjacency: a number of the unit interval, less its middle, moves by at most 1."""

    kinds: ClassVar[tuple[str, ...]] = ("sums",)
    norms: ClassVar[tuple[str, ...]] = ("l1",)
    notes: ClassVar[str] = "Made for tests."

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Table | None = None) -> Bound | None:
        if norm != "l1" or not isinstance(query, Sums) or query.power != 1:
            return None
        return Bound(1.0, "l1", grid=query.grid)
