"""What objective perturbation asks: a public grid of rows, and how many rows of each kind there are.

A row stands for the middle of its bin: x = (value scaled to [−1, 1], 1) / √2, of norm at most 1. With its class as a
sign it is one of a few public vectors; only their counts are private.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.partition import EqualBins, Product, Values
from dpcore.privacy import Adjacency
from dpcore.query import Counts, Exact, Query
from dpcore.schema import Nominal, Numeric
from dpcore.sensitivity import SensitivityRule

if TYPE_CHECKING:
    from dpcore.table import Table

Floats = npt.NDArray[np.float64]
BINS = 16
CHAUDHURI = Citation(
    key="chaudhuri2011differentially",
    author="Chaudhuri, K. and Monteleoni, C. and Sarwate, A.",
    title="Differentially private empirical risk minimization",
    year=2011,
    venue="Journal of Machine Learning Research",
    type="article",
)


@attrs.frozen
class Risk(Query):
    """The minimiser of Σ log(1 + e^(−y w·x)) over the rows, by an attribute and two classes."""

    kind: ClassVar[str] = "logistic_risk"
    attribute: Numeric
    target: Nominal

    @staticmethod
    def encode(attribute: Numeric, values: Floats) -> Floats:
        """The vectors x of some values, shape (rows, 2); a missing value stands in the middle."""
        scaled = np.clip((values - attribute.middle) / (attribute.width / 2), -1.0, 1.0)
        return np.stack([np.nan_to_num(scaled), np.ones(len(scaled))], axis=1) / math.sqrt(2)

    @property
    def shape(self) -> tuple[int, ...]:
        return (2,)

    @property
    def bins(self) -> EqualBins:
        """The bins of the attribute."""
        return EqualBins(self.attribute, BINS)

    @property
    def requires(self) -> tuple[Query, ...]:
        return (Counts(Product((self.bins, Values(self.target)))),)

    def combine(self, *answers: Exact) -> Exact:
        return answers[0].ravel()

    def middles(self) -> Floats:
        """The middle of every bin, NaN for the missing cell."""
        edges = self.bins.edges()
        return np.append((edges[1:] + edges[:-1]) / 2, [np.nan] * self.attribute.missing)

    def vectors(self) -> Floats:
        """y x of every cell, shape (cells, 2)."""
        x = self.encode(self.attribute, self.middles())
        return np.stack([-x, x], axis=1).reshape(-1, 2)

    def describe(self) -> str:
        return f"minimiser of the logistic loss of {self.target.name} by {self.attribute.name}"


@attrs.frozen(eq=False)
class GradientBound(Bound):
    """How far one person moves the gradient, anywhere, in L2; and the public vectors that the counts are of."""

    vectors: Floats = attrs.field(kw_only=True)


@attrs.frozen
class UnitRows(SensitivityRule):
    """1 for a row more, since |l'| ≤ 1 and ‖x‖ ≤ 1; 2 for a row that is replaced."""

    kinds: ClassVar[tuple[str, ...]] = ("logistic_risk",)
    norms: ClassVar[tuple[str, ...]] = ("l2",)
    citation: ClassVar[Citation | None] = CHAUDHURI
    notes: ClassVar[str] = "Made for tests."

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Table | None = None) -> Bound | None:
        if norm != "l2" or not isinstance(query, Risk):
            return None
        value = 2.0 if adjacency is Adjacency.REPLACE_ONE else 1.0
        return GradientBound(value, "l2", vectors=query.vectors())
