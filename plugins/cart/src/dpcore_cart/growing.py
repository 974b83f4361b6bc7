"""The default: splits chosen privately, level by level, and noisy counts of every level's leaves.

The nodes of a level are disjoint, so that all their choices together cost what one costs, however many nodes and
attributes there are; and so do the counts of all leaves. A fit of depth d therefore has d choices and d + 1 counts.
"""

from __future__ import annotations

import math

import attrs
import numpy as np

from dpcore.allocator import Step
from dpcore.classifier import Task
from dpcore.curator import Curator
from dpcore.partition import Product, Values
from dpcore.query import Choices, Counts
from dpcore.schema import Schema
from dpcore_cart.estimates import Measured, consistent, probabilities
from dpcore_cart.model import FittedTree
from dpcore_cart.pool import Floats, Pool
from dpcore_cart.scores import Balanced, Gini, LevelCounts, Max, SplitScore
from dpcore_cart.tree import Tree, TreeNodes

_LEAVES = "leaves"
_LEAST = 0.02
"""No class weighs less."""
_POWER = 0.6
"""How far the largest class is weighed down to the second: 0 not at all, 1 until both weigh the same."""


@attrs.frozen
class Growth:
    """How a tree is grown.

    Args:
        pool: what nodes may be split by.
        depth: levels of splits.
        score: `balanced`, `max` or `gini`.
        selection: the mechanism that chooses.
        leaf_share: of the budget, for the counts of the last level.
        count_share: of the rest, for the counts of the other levels.
        taper: the budget of a level, relative to that above it.
        stop: a node is split if it has more rows than this, in units of the noise.
        most: nodes that one level may split.
        smoothing, spread: see `probabilities`.
    """

    pool: Pool
    depth: int
    score: str
    selection: str
    leaf_share: float
    count_share: float
    taper: float
    stop: float
    most: int
    smoothing: float
    spread: float

    def steps(self, task: Task) -> list[Step]:
        """A count and a choice for each level, and a last count; with room for as many nodes as there can be."""
        if self.depth == 0:
            return [Step(_LEAVES, self._counts(task.schema, self._stub(1)), group="counts", fixed=False)]
        shares = np.array([self.taper**level for level in range(self.depth)])
        shares *= (1 - self.leaf_share) / shares.sum()
        rows, leaves = [], 1
        for level, share in enumerate(shares.tolist()):
            counts = self._counts(task.schema, self._stub(leaves))
            parts = self._stub(min(leaves, self.most))
            weights = np.ones((parts.size - 1, len(task.schema.classes)))
            choice = self._choices(task.schema, parts, weights)
            how = {"mechanisms": (self.selection,), "group": "splits", "fixed": False}
            rows.append(Step(_counts(level), counts, weight=share * self.count_share, group="counts", fixed=level == 0))
            rows.append(Step(_splits(level), choice, weight=share * (1 - self.count_share), **how))  # type: ignore[arg-type]
            leaves += (self.pool.arity - 1) * min(leaves, self.most)
        last = self._counts(task.schema, self._stub(leaves))
        return [*rows, Step(_LEAVES, last, weight=self.leaf_share, group="counts", fixed=False)]

    def learn(self, curator: Curator) -> FittedTree:
        """Grow a tree and fill in its probabilities."""
        tree = Tree(self.pool.cells)
        fresh: tuple[int, ...] = (0,)
        measured: list[Measured] = []
        for level in range(self.depth):
            measured.append(self._measured(curator, tree, _counts(level)))
            if fresh:
                tree, fresh = self._split(curator, level, tree, fresh, consistent(tree, measured)[0])
        measured.append(self._measured(curator, tree, _LEAVES))
        counts, variance = consistent(tree, measured)
        return FittedTree(tree, np.log(probabilities(tree, counts, variance, self.smoothing, self.spread)))

    def _split(
        self, curator: Curator, level: int, tree: Tree, fresh: tuple[int, ...], counts: Floats
    ) -> tuple[Tree, tuple[int, ...]]:
        """The tree with the nodes of the lowest level split, as far as their noisy sizes are worth it."""
        name = _splits(level)
        least = self.stop * max(curator.scale(name), curator.scale(_counts(level)))
        sizes = counts[list(fresh)].sum(axis=1)
        largest = sorted(np.argsort(-sizes, kind="stable")[: self.most].tolist())
        chosen = tuple(fresh[i] for i in largest if sizes[i] > least or level == 0)
        if not chosen:
            return tree, ()
        nodes = TreeNodes(tree, chosen, len(chosen) + 1)
        query = self._choices(curator.task.schema, nodes, class_weights(counts[list(chosen)]))
        curator.prepare({name: query})
        picked = curator.ask(name, query)
        grown = tree.grown({node: self.pool.splits[int(i)] for node, i in zip(chosen, picked, strict=True)})
        return grown, tuple(range(len(tree.splits), len(grown.splits)))

    def _measured(self, curator: Curator, tree: Tree, name: str) -> Measured:
        leaves = tree.leaves
        query = self._counts(curator.task.schema, TreeNodes(tree, leaves, len(leaves) + 1))
        return Measured(leaves, curator.ask(name, query)[:-1], math.sqrt(2) * curator.scale(name))

    def _choices(self, schema: Schema, nodes: TreeNodes, weights: Floats) -> Choices:
        scores: dict[str, SplitScore] = {"max": Max(self.pool), "gini": Gini(self.pool)}
        score = scores.get(self.score) or Balanced(self.pool, tuple(map(tuple, weights.tolist())))
        return Choices(LevelCounts(nodes, self.pool, schema.target), score, parts=nodes.size - 1)

    def _stub(self, nodes: int) -> TreeNodes:
        """Room for that many nodes of a tree that is not known yet."""
        return TreeNodes(Tree(self.pool.cells), (0,), nodes + 1)

    def _counts(self, schema: Schema, nodes: TreeNodes) -> Counts:
        return Counts(Product((nodes, Values(schema.target))))


def class_weights(counts: Floats) -> Floats:
    """Public class weights for `Balanced`, from noisy counts (nodes, classes): in (0, 1].

    Where one class is far larger than the others, `max` sees no gain in a split after which it is the largest on both
    sides. A smaller weight for the largest class alone moves the point from which on a split gains.
    """
    known = np.maximum(counts, 0.0) + 1.0
    second = np.sort(known, axis=1)[:, -2:-1]
    return np.maximum(np.minimum(1.0, second / known), _LEAST) ** _POWER


def depth_for(epsilon: float) -> int:
    """The default depth: 6 at epsilon 0.5 and 1, 5 at 0.25, 4 at 0.1, 3 at 0.05, 1 at 0.01 and below, at most 9.

    The nodes that a level splits are smaller by half than those above, and every level takes its share of the budget:
    what a level can find out falls with both, and rises with epsilon.
    """
    return int(np.clip(round(6.5 + 0.8 * math.log2(epsilon)), 1, 9))


def leaf_share_for(depth: int) -> float:
    """What the last counts get of the budget by default: as much as one and a half levels, at most half."""
    return min(0.5, 1.5 / max(depth, 1))


def _counts(level: int) -> str:
    return f"counts {level}"


def _splits(level: int) -> str:
    return f"splits {level}"
