"""The contract of a sensitivity rule: how far one person can move one query's answer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.privacy import Adjacency
from dpcore.query import Query

if TYPE_CHECKING:
    from dpcore.table import Table


class SensitivityRule(ABC):
    """Bounds the change of an exact answer between neighbours.

    Class attributes: `kinds`, the query kinds it knows; `norms`; `adjacency`; and `reads_rows`: a
    global rule never gets a table, a smooth (or local) one does.
    """

    kinds: ClassVar[tuple[str, ...]]
    norms: ClassVar[tuple[str, ...]] = ("l1", "l2")
    adjacency: ClassVar[tuple[str, ...]] = ("add-remove", "replace-one")
    reads_rows: ClassVar[bool] = False
    guarantee: ClassVar[str] = "a bound for every pair of neighbours"
    citation: ClassVar[Citation | None] = None
    notes: ClassVar[str] = ""

    @abstractmethod
    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Table | None = None) -> Bound | None:
        """The bound in that norm, or None if the rule does not know this query, adjacency or norm.

        A rule that reads rows is called without a table when a plan is made: it then gives the bound's
        form with the value None.
        """
