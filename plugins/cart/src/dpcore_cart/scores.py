"""How good a split is: what a private choice among the pool's splits goes by.

A score is the sum over the children of f(n), n the child's class counts. A row that comes or goes changes one child
of each candidate by one row, of the same class for all. What a candidate gains by it is f(n + e_c) − f(n):

- `max`, f(n) = max_c n_c, the rows that a majority vote gets right: 0 or 1. All candidates gain or none loses:
  Delta 1 and monotone.
- `balanced`, f(n) = max_c w_c n_c with public weights 0 < w_c ≤ 1: between 0 and 1, likewise.
- `gini`, f(n) = Σ_c n_c² / Σ_c n_c, that is the rows less their Gini impurity: with S = Σ n_k² ≤ n²,
  f(n + e_c) − f(n) = (2 n_c + 1)/(n + 1) − S/(n (n + 1)), above −1 and at most 1 (n_c = n, or an empty child).
  Delta 1, not monotone.

Only the nodes that the row goes through change, one a level. Replace-one is one row less and one row more, perhaps in
another node: with twice the Delta (and the same use of it) each half costs half.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import attrs
import numpy as np

from dpcore.partition import Product, Values
from dpcore.privacy import Adjacency
from dpcore.query import Counts, Exact, Query, Score
from dpcore.schema import Nominal
from dpcore_cart.pool import Floats, Pool
from dpcore_cart.tree import TreeNodes


@attrs.frozen(cache_hash=True)
class LevelCounts(Query):
    """Rows by node, class and cell, for each attribute; the attributes' cells side by side. Never released itself."""

    kind: ClassVar[str] = "level counts"
    nodes: TreeNodes
    pool: Pool
    target: Nominal

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.nodes.size, len(self.target.values), sum(cells.size for cells in self.pool.cells))

    @property
    def requires(self) -> tuple[Query, ...]:
        classes = Values(self.target)
        return tuple(Counts(Product((self.nodes, classes, cells))) for cells in self.pool.cells)

    def combine(self, *answers: Exact) -> Exact:
        return np.concatenate(answers, axis=2)

    def describe(self) -> str:
        return f"{len(self.pool.splits)} splits of up to {self.nodes.size - 1} nodes"


@attrs.frozen(cache_hash=True)
class SplitScore(Score):
    """The scores of a pool's splits, for each node of a level (but not for `elsewhere`)."""

    pool: Pool

    def candidates(self, source: Query) -> int:
        return len(self.pool.splits)

    def evaluate(self, answer: Exact) -> Floats:
        counts = answer[:-1].astype(np.float64)
        rows, classes, _ = counts.shape
        made, start = np.empty((rows, len(self.pool.splits))), 0
        for where, (incidence, first) in zip(self.pool.of_attribute, self.pool.incidence, strict=True):
            stop = start + len(incidence)
            block = np.ascontiguousarray(counts[:, :, start:stop]).reshape(rows * classes, stop - start)
            # whole numbers below 2^53: exact, in whatever order they are added
            children = (block @ incidence).reshape(rows, classes, -1)
            made[:, where] = np.add.reduceat(self.of_children(children), first, axis=1)
            start = stop
        return made

    @abstractmethod
    def of_children(self, counts: Floats) -> Floats:
        """f of each child: (nodes, classes, children) -> (nodes, children)."""


@attrs.frozen(cache_hash=True)
class Max(SplitScore):
    """Rows that the children's majorities get right."""

    name: ClassVar[str] = "max"

    def sensitivity(self, adjacency: Adjacency) -> tuple[float, bool]:
        return (1.0 if adjacency is Adjacency.ADD_REMOVE else 2.0), True

    def of_children(self, counts: Floats) -> Floats:
        return np.asarray(counts.max(axis=1))


@attrs.frozen(cache_hash=True)
class Balanced(SplitScore):
    """The same with weighted classes.

    Args:
        weights: public, in (0, 1]; for each node one a class.
    """

    name: ClassVar[str] = "balanced"
    weights: tuple[tuple[float, ...], ...]

    def sensitivity(self, adjacency: Adjacency) -> tuple[float, bool]:
        return (1.0 if adjacency is Adjacency.ADD_REMOVE else 2.0), True

    def of_children(self, counts: Floats) -> Floats:
        return np.asarray((counts * np.array(self.weights)[:, :, None]).max(axis=1))


@attrs.frozen(cache_hash=True)
class Gini(SplitScore):
    """Rows less their Gini impurity."""

    name: ClassVar[str] = "gini"

    def sensitivity(self, adjacency: Adjacency) -> tuple[float, bool]:
        return (1.0 if adjacency is Adjacency.ADD_REMOVE else 2.0), False

    def of_children(self, counts: Floats) -> Floats:
        return np.asarray((counts * counts).sum(axis=1) / np.maximum(counts.sum(axis=1), 1.0))
