"""Noisy Gini: all counts of all attributes at every level with noise, and the best split by them.

Lopuhaä-Zwakenberg et al. (2021), Algorithm 3: at every node, for every binary attribute not yet asked on its path, the
counts by value and class with Laplace noise of epsilon' = epsilon / (|A| (d + 1)), raised to 1e-5; the attribute of
least Gini impurity splits the node; at depth d the noisy majority class. Every value of a nominal attribute is an
attribute of its own; a numeric one is halved at the middle of its public bounds (the paper takes the data's median,
which is private).

What it costs: at a node of level l, |A| − l attributes are left, so a row is counted in |A| − l tables of each level
l < d and in one leaf: d |A| − d (d − 1)/2 + 1 asks of epsilon' each under add-remove, less than the epsilon that is
claimed, and twice that under replace-one, more. The tables of a level are asked rank by rank: the first attribute that
is left at each node, then the second, …, each a partition of the rows.
"""

from __future__ import annotations

import math

import attrs
import numpy as np

from dpcore.allocator import Step
from dpcore.classifier import Task
from dpcore.curator import Curator
from dpcore.partition import CutBins, Product, Values
from dpcore.privacy import Adjacency, Pure
from dpcore.query import Counts, Exact, Query
from dpcore.schema import Nominal, Numeric, Schema
from dpcore_cart.estimates import Measured, consistent, probabilities
from dpcore_cart.model import FittedTree
from dpcore_cart.pool import Cells, Floats, Pool, Split
from dpcore_cart.scores import LevelCounts
from dpcore_cart.tree import Tree, TreeNodes

_LEAVES = "leaves"
_FLOOR = 1e-5
_SHY = 1 - 2.0**-46


@attrs.frozen
class SplitCounts(Counts):
    """Counts by child and class for one split a node; put together from what the level's rows are known to be.

    Args:
        partition: the children, by class.
        source: the counts of all attributes' cells at the parents, which hold them.
        splits: one a parent.
    """

    source: LevelCounts = attrs.field(kw_only=True)
    splits: tuple[Split, ...] = attrs.field(kw_only=True)

    @property
    def requires(self) -> tuple[Query, ...]:
        return (self.source,)

    def combine(self, *answers: Exact) -> Exact:
        starts = np.cumsum([0, *(cells.size for cells in self.source.pool.cells)])
        made = np.zeros(self.shape, dtype=np.int64)
        for node, split in enumerate(self.splits):
            start = starts[split.attribute]
            cells = answers[0][node, :, start : start + len(split.children)]
            right = cells[:, np.array(split.children) == 1].sum(axis=1)
            made[2 * node], made[2 * node + 1] = cells.sum(axis=1) - right, right
        return made


def binary_pool(schema: Schema) -> Pool:
    """Every value of a nominal attribute against the rest (one split where there are two), and the middle of each
    numeric attribute."""
    cells: list[Cells] = []
    splits: list[Split] = []
    for attribute in schema.attributes:
        if isinstance(attribute, Numeric):
            halves = CutBins(attribute, (attribute.middle,))
            splits.append(Split(len(cells), (0, 1, *[1] * attribute.missing)))
            cells.append(halves)
        elif isinstance(attribute, Nominal) and attribute.cells > 1:
            values = range(attribute.cells) if attribute.cells > 2 else (1,)
            for value in values:
                splits.append(Split(len(cells), tuple(int(cell == value) for cell in range(attribute.cells))))
            cells.append(Values(attribute))
    return Pool(tuple(cells), tuple(splits))


def published_depth(pool: Pool) -> int:
    """d = ⌈√|A|⌉."""
    return math.ceil(math.sqrt(len(pool.splits)))


def published_cost(task: Task, pool: Pool, depth: int) -> Pure:
    """What one ask of Algorithm 3 really costs."""
    changes = 1 if task.adjacency is Adjacency.ADD_REMOVE else 2
    return Pure(changes * task.epsilon * _SHY / (len(pool.splits) * (depth + 1)))


@attrs.frozen
class NoisyGini:
    """Algorithm 3, or the same with the budget spent as it is charged.

    Args:
        pool: binary splits.
        depth: at most the number of splits.
        as_published: with the published noise and cost, and leaves as they come; otherwise all of the budget is used,
            a share of it for the leaves, whose counts are drawn towards their parents'.
        leaf_share, smoothing, spread: for the latter.
    """

    pool: Pool
    depth: int
    as_published: bool
    leaf_share: float
    smoothing: float
    spread: float

    def steps(self, task: Task) -> list[Step]:
        """For each level as many counts as attributes are left, and the leaves."""
        asks = len(self.pool.splits)
        fixed: dict[str, object] = {"group": "counts", "fixed": False}
        if self.as_published:
            fixed |= {"mechanisms": ("laplace",), "cost": published_cost(task, self.pool, self.depth)}
        rows = []
        for level in range(self.depth):
            query = self._stub(task.schema, 2 ** (level + 1))
            weight = (1 - self.leaf_share) / self.depth
            rows.append(Step(_level(level), query, times=asks - level, weight=weight, **fixed))  # type: ignore[arg-type]
        last = self._stub(task.schema, 2**self.depth)
        return [*rows, Step(_LEAVES, last, weight=self.leaf_share, **fixed)]  # type: ignore[arg-type]

    def learn(self, curator: Curator) -> FittedTree:
        """Build the tree level by level."""
        schema = curator.task.schema
        tree = Tree(self.pool.cells)
        nodes: tuple[int, ...] = (0,)
        used: dict[int, frozenset[int]] = {0: frozenset()}
        for level in range(self.depth):
            left = {node: [i for i in range(len(self.pool.splits)) if i not in used[node]] for node in nodes}
            source = LevelCounts(TreeNodes(tree, nodes, len(nodes) + 1), self.pool, schema.target)
            impurity = np.empty((len(nodes), len(self.pool.splits) - level))
            for rank in range(impurity.shape[1]):
                splits = tuple(self.pool.splits[left[node][rank]] for node in nodes)
                grown = tree.grown(dict(zip(nodes, splits, strict=True)))
                children = TreeNodes(grown, tuple(range(len(tree.splits), len(grown.splits))), 2 * len(nodes) + 1)
                query = SplitCounts(Product((children, Values(schema.target))), source=source, splits=splits)
                if rank == 0:
                    curator.prepare({_level(level): query})
                counts = np.maximum(curator.ask(_level(level), query)[:-1], _FLOOR)
                impurity[:, rank] = gini(counts.reshape(len(nodes), 2, -1))
            best = {node: left[node][int(i)] for node, i in zip(nodes, impurity.argmin(axis=1), strict=True)}
            before, tree = len(tree.splits), tree.grown({node: self.pool.splits[i] for node, i in best.items()})
            children_of = {node: (before + 2 * k, before + 2 * k + 1) for k, node in enumerate(nodes)}
            used |= {child: used[node] | {best[node]} for node, pair in children_of.items() for child in pair}
            nodes = tuple(child for pair in children_of.values() for child in pair)
        return self._leaves(curator, tree, nodes)

    def _leaves(self, curator: Curator, tree: Tree, nodes: tuple[int, ...]) -> FittedTree:
        classes = Values(curator.task.schema.target)
        partition = TreeNodes(tree, nodes, len(nodes) + 1)
        asked = curator.ask(_LEAVES, Counts(Product((partition, classes))))[:-1]
        counts, variance = consistent(tree, [Measured(nodes, asked, math.sqrt(2) * curator.scale(_LEAVES))])
        if not self.as_published:
            log = np.log(probabilities(tree, counts, variance, self.smoothing, self.spread))
            return FittedTree(tree, log)
        floored = np.maximum(counts, _FLOOR)
        return FittedTree(tree, np.log(floored / floored.sum(axis=1, keepdims=True)))

    def _stub(self, schema: Schema, nodes: int) -> Counts:
        """Counts of that many nodes of a tree that is not known yet."""
        return Counts(Product((TreeNodes(Tree(self.pool.cells), (0,), nodes + 1), Values(schema.target))))


def gini(counts: Floats) -> Floats:
    """G(A) of Algorithm 3, (nodes, values, classes) -> (nodes,), where all counts are above 0."""
    rows = counts.sum(axis=2)
    return np.asarray((rows - (counts**2).sum(axis=2) / rows).sum(axis=1) / rows.sum(axis=1))


def _level(level: int) -> str:
    return f"level {level}"
