"""A sound rule for counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import attrs

from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.privacy import Adjacency
from dpcore.query import Counts, Query
from dpcore.sensitivity import SensitivityRule

if TYPE_CHECKING:
    from dpcore.table import Table


@attrs.frozen
class Rule(SensitivityRule):
    """In L1 a row more moves one count by 1; a row that is replaced leaves one cell and enters another."""

    kinds: ClassVar[tuple[str, ...]] = ("counts",)
    norms: ClassVar[tuple[str, ...]] = ("l1",)
    citation: ClassVar[Citation | None] = Citation(
        key="dwork2006calibrating",
        author="Dwork, C. and McSherry, F. and Nissim, K. and Smith, A.",
        title="Calibrating noise to sensitivity in private data analysis",
        year=2006,
        venue="Theory of Cryptography",
    )
    notes: ClassVar[str] = "Made for tests."

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Table | None = None) -> Bound | None:
        if norm != "l1" or not isinstance(query, Counts):
            return None
        return Bound(2.0 if adjacency is Adjacency.REPLACE_ONE else 1.0, "l1", rises=1)
