"""Rules as two papers publish them: the noise of a mean or deviation is set by the size of its class.

Under any adjacency the class size is private (a label may change), so noise whose scale shows it gives no finite
epsilon: on two neighbours the noise of the same answer has two scales. The bounds are marked `local`; the curator
lets them through only for a model that is marked as not private.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.parameters import param
from dpcore.privacy import Adjacency
from dpcore.query import Counts, Deviations, Means, Query
from dpcore.sensitivity import SensitivityRule

if TYPE_CHECKING:
    from dpcore.table import Table


class _ByClassSize(SensitivityRule):
    """Means and deviations, in L1, by the size of each cell."""

    kinds: ClassVar[tuple[str, ...]] = ("means", "deviations")
    norms: ClassVar[tuple[str, ...]] = ("l1",)
    reads_rows: ClassVar[bool] = True
    guarantee: ClassVar[str] = "none"

    @abstractmethod
    def factor(self, query: Query, size: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """The published sensitivity, in units of R, of a cell of that size."""

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Table | None = None) -> Bound | None:
        if norm != "l1" or not isinstance(query, (Means, Deviations)):
            return None
        if table is None:
            return Bound(None, "l1", "local", query.grid)
        size = table.answer(Counts(query.by))
        value = np.maximum(self.factor(query, size) * query.attribute.width, query.grid)
        return Bound(value, "l1", "local", query.grid)


@attrs.frozen
class Vaidya2013(_ByClassSize):
    """Mean R/(n + 1), deviation √n R/(n + 1) (equations 5 and 7).

    `size=None` takes the true size of each class, which is private: no guarantee. A number is the paper's
    tuning knob n: the noise is then public, and the bound holds only for classes of exactly that size.
    """

    size: int | None = param(None, type=int, low=1, help="the paper's n; None takes each class's true size")
    citation: ClassVar[Citation | None] = Citation(
        key="vaidya2013differentially",
        author="Vaidya, J. and Shafiq, B. and Basu, A. and Hong, Y.",
        title="Differentially private naive Bayes classification",
        year=2013,
        venue="IEEE/WIC/ACM International Conferences on Web Intelligence",
        doi="10.1109/WI-IAT.2013.80",
    )
    notes: ClassVar[str] = "A published n larger than a class makes the noise too small by (n + 1) / (size + 1)."

    def factor(self, query: Query, size: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        n = size if self.size is None else np.full(size.shape, self.size)
        return np.asarray((1.0 if isinstance(query, Means) else np.sqrt(n)) / (n + 1.0))


@attrs.frozen
class Lopuhaa2021(_ByClassSize):
    """Mean R/n, deviation R/√n (equation 14), n the true size of each class; an empty class counts as one row."""

    citation: ClassVar[Citation | None] = Citation(
        key="lopuhaa2021comparing",
        author="Lopuhaä-Zwakenberg, M. and Alishahi, M. and Kivits, J. and Klarenbeek, J. and "
        "van der Velde, G.-J. and Zannone, N.",
        title="Comparing classifiers' performance under differential privacy",
        year=2021,
        venue="SECRYPT",
        doi="10.5220/0010519000500061",
    )
    notes: ClassVar[str] = "The scale shows the class size: no finite epsilon."

    def factor(self, query: Query, size: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        n = np.maximum(size, 1)
        return np.asarray(1.0 / (n if isinstance(query, Means) else np.sqrt(n)))
