"""Random trees: their structure is drawn without data, and all of the budget is spent on their leaves.

The structure comes from a public seed, which is a parameter: it needs no privacy, the plan already holds it, and the
model file keeps it (Jagannathan, Pillaipakkamnatt & Wright 2009). Every tree counts every row once, so a forest of t
trees has t counts, and the whole budget is shared by them.
"""

from __future__ import annotations

import math

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.allocator import Step
from dpcore.classifier import Task
from dpcore.curator import Curator
from dpcore.partition import Product, Values
from dpcore.query import Counts
from dpcore_cart.estimates import Measured, consistent, probabilities
from dpcore_cart.model import FittedTree
from dpcore_cart.pool import Pool, Split
from dpcore_cart.tree import Tree, TreeNodes

_TRIES = 32
Reach = npt.NDArray[np.bool_]
"""Which cells of an attribute the rows of a node can have."""


@attrs.frozen
class Forest:
    """A number of random trees.

    Args:
        pool: what nodes may be split by.
        trees: how many.
        depth: levels of splits.
        seed: decides the structure; public.
        smoothing, spread: see `probabilities`.
    """

    pool: Pool
    trees: int
    depth: int
    seed: int
    smoothing: float
    spread: float

    def steps(self, task: Task) -> list[Step]:
        """The leaves of each tree."""
        classes = Values(task.schema.target)
        drawn = enumerate(self.structure())
        return [Step(_name(t), Counts(Product((_leaves(tree), classes))), group="counts") for t, tree in drawn]

    def learn(self, curator: Curator) -> tuple[FittedTree, ...]:
        """Fill the trees."""
        made = []
        for t, tree in enumerate(self.structure()):
            counts = curator.ask(_name(t))[:-1]
            measured = Measured(tree.leaves, counts, math.sqrt(2) * curator.scale(_name(t)))
            counts, variance = consistent(tree, [measured])
            log = np.log(probabilities(tree, counts, variance, self.smoothing, self.spread))
            made.append(FittedTree(tree, log))
        return tuple(made)

    def structure(self) -> tuple[Tree, ...]:
        """The trees without counts."""
        return tuple(
            random_tree(self.pool, self.depth, np.random.default_rng([self.seed, t])) for t in range(self.trees)
        )


def random_tree(pool: Pool, depth: int, draw: np.random.Generator) -> Tree:
    """A tree whose nodes are split by a random attribute that still has cells to part, and a random split of it."""
    tree = Tree(pool.cells)
    # the cells of each attribute that rows of a node can have
    reach = {0: [np.ones(cells.size, dtype=bool) for cells in pool.cells]}
    for _ in range(depth):
        splits: dict[int, Split] = {}
        for node, cells in reach.items():
            split = _drawn(pool, cells, draw)
            if split is not None:
                splits[node] = split
        before, grown = len(tree.splits), tree.grown(splits)
        below: dict[int, list[Reach]] = {}
        for node, split in splits.items():
            for child in range(split.arity):
                inside = list(reach[node])
                inside[split.attribute] = inside[split.attribute] & (np.array(split.children) == child)
                below[before] = inside
                before += 1
        tree, reach = grown, below
    return tree


def _drawn(pool: Pool, reach: list[Reach], draw: np.random.Generator) -> Split | None:
    """A random split that leaves cells on every side; None where none is found soon."""
    for _ in range(_TRIES):
        attribute = int(draw.integers(len(pool.cells)))
        where = pool.of_attribute[attribute]
        split = pool.splits[int(draw.integers(where.start, where.stop))]
        if len({split.children[c] for c in np.flatnonzero(reach[attribute])}) == split.arity:
            return split
    return None


def _leaves(tree: Tree) -> TreeNodes:
    return TreeNodes(tree, tree.leaves, len(tree.leaves) + 1)


def _name(tree: int) -> str:
    return f"tree {tree}"
