"""The structure of a tree, how rows find their way in it, and its nodes as a partition."""

from __future__ import annotations

from functools import cached_property

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.partition import Codes, Partition, View, codes_of
from dpcore_cart.pool import Cells, Pool, Split

Indices = npt.NDArray[np.intp]


@attrs.frozen(cache_hash=True)
class Tree:
    """Splits in breadth-first order: a node's children follow those of all nodes before it.

    Args:
        cells: the cells of each attribute, by which splits name them.
        splits: one a node; None for a leaf.
    """

    cells: tuple[Cells, ...]
    splits: tuple[Split | None, ...] = (None,)

    @cached_property
    def first(self) -> Indices:
        """The first child of each node; meaningless for a leaf."""
        arity = [split.arity if split else 0 for split in self.splits]
        return np.asarray(1 + np.concatenate([[0], np.cumsum(arity)[:-1]]), dtype=np.intp)

    @cached_property
    def parent(self) -> Indices:
        """The parent of each node, -1 for the root."""
        found = np.full(len(self.splits), -1, dtype=np.intp)
        for node, split in enumerate(self.splits):
            if split:
                found[self.first[node] : self.first[node] + split.arity] = node
        return found

    @cached_property
    def depth(self) -> Indices:
        """The number of splits above each node."""
        found = np.zeros(len(self.splits), dtype=np.intp)
        for node in range(1, len(found)):
            found[node] = found[self.parent[node]] + 1
        return found

    @property
    def leaves(self) -> tuple[int, ...]:
        """The nodes without a split."""
        return tuple(node for node, split in enumerate(self.splits) if split is None)

    def grown(self, splits: dict[int, Split]) -> Tree:
        """The tree with leaves of the lowest level split."""
        kept = [splits.get(node, split) for node, split in enumerate(self.splits)]
        new = sum(split.arity for split in splits.values())
        return Tree(self.cells, (*kept, *[None] * new))

    @cached_property
    def _ways(self) -> tuple[Indices, npt.NDArray[np.int32]]:
        """The attribute that each node looks at, and the next node by (node, cell); unknown cells stay."""
        width = max((cells.size for cells in self.cells), default=0) + 1
        looks = np.array([split.attribute if split else 0 for split in self.splits], dtype=np.intp)
        ways = np.repeat(np.arange(len(self.splits), dtype=np.int32)[:, None], width, axis=1)
        for node, split in enumerate(self.splits):
            if split:
                ways[node, : len(split.children)] = self.first[node] + np.array(split.children)
        return looks, ways

    def route(self, view: View) -> Indices:
        """The node in which each row of a block ends: a leaf, or where the attribute asked for is not known."""
        looks, ways = self._ways
        used = sorted({split.attribute for split in self.splits if split})
        if not used:
            return np.zeros(len(codes_of(self.cells[0], view)), dtype=np.intp)
        size, codes = 0, {}
        for a in used:
            found = codes_of(self.cells[a], view)
            size = len(found)
            codes[a] = np.minimum(found, ways.shape[1] - 1)
            codes[a][found >= self.cells[a].size] = ways.shape[1] - 1
        place = {a: i for i, a in enumerate(used)}
        table = np.stack([codes[a] for a in used]).ravel()
        start = np.array([place.get(int(a), 0) * size for a in looks], dtype=np.intp)
        flat, width = ways.ravel(), ways.shape[1]
        row, node = np.arange(size), np.zeros(size, dtype=np.intp)
        for _ in range(int(self.depth.max())):
            node = flat[node * width + table[start[node] + row]].astype(np.intp)
        return node


@attrs.frozen(cache_hash=True)
class TreeNodes(Partition):
    """Some nodes of a tree, none below another, as a partition; the last cell is everywhere else.

    Args:
        tree: where rows find their node.
        nodes: the nodes that have a cell, in order.
        room: the number of cells; more than needed only in a plan, which does not know the tree yet.
    """

    tree: Tree
    nodes: tuple[int, ...]
    room: int

    @property
    def attributes(self) -> tuple[str, ...]:
        used = [split.attribute for split in self.tree.splits if split] or [0]
        return tuple(dict.fromkeys(self.tree.cells[a].attribute.name for a in used))

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.room,)

    @cached_property
    def _cell_of(self) -> Indices:
        """The cell of each node."""
        cell = np.full(len(self.tree.splits), self.room - 1, dtype=np.intp)
        cell[list(self.nodes)] = np.arange(len(self.nodes))
        inner = [node for node, split in enumerate(self.tree.splits) if split]
        cell[inner] = self.room  # a row that stops halfway: its attribute is not known
        return cell

    def codes(self, view: View) -> Codes:
        return self._cell_of[self.tree.route(view)]

    def labels(self) -> list[str]:
        return [f"node {node}" for node in self.nodes] + ["elsewhere"] * (self.room - len(self.nodes))


def root_of(pool: Pool) -> Tree:
    """A tree of one leaf."""
    return Tree(pool.cells)
