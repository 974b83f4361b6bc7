"""Trees: routing is that of a row walked down by hand, and nodes are a partition of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore.schema import Nominal, Numeric, Schema
from dpcore_cart.forest import random_tree
from dpcore_cart.pool import pool_of
from dpcore_cart.tree import Tree, TreeNodes

SCHEMA = Schema(
    (
        Nominal("colour", ("red", "green", "blue"), missing=True),
        Numeric("size", 0, 10),
        Numeric("grade", 1, 5, integer=True, missing=True),
        Nominal("flat", ("only",)),
    ),
    Nominal("class", ("a", "b", "c")),
)
POOL = pool_of(SCHEMA, 8, multiway=4)


def view(n: int) -> dict[str, Any]:
    draw = np.random.default_rng(n)
    grade = draw.integers(1, 6, n).astype(float)
    grade[::7] = np.nan
    return {
        "colour": draw.integers(0, 4, n).astype(np.uint8),
        "size": draw.uniform(-1, 11, n),
        "grade": grade,
        "flat": np.zeros(n, np.uint8),
    }


def walk(tree: Tree, codes: list[Any], row: int) -> int:
    node = 0
    while (split := tree.splits[node]) is not None:
        node = int(tree.first[node]) + split.children[codes[split.attribute][row]]
    return node


@pytest.mark.parametrize("depth", [0, 1, 3, 6])
def test_routing_is_a_walk_from_the_root(depth: int) -> None:
    tree = random_tree(POOL, depth, np.random.default_rng(depth))
    rows = view(300)
    codes = [cells.codes(rows) for cells in tree.cells]
    found = tree.route(rows)
    assert found.tolist() == [walk(tree, codes, i) for i in range(300)]
    assert set(found.tolist()) <= set(tree.leaves)
    assert tree.depth.max() == depth


def test_the_leaves_hold_every_row_once_and_other_nodes_are_elsewhere() -> None:
    tree = random_tree(POOL, 4, np.random.default_rng(0))
    leaves, rows = tree.leaves, view(500)
    cells = TreeNodes(tree, leaves, len(leaves) + 1).codes(rows)
    assert [leaves[c] for c in cells] == tree.route(rows).tolist()
    some = leaves[::2]
    part = TreeNodes(tree, some, len(some) + 1)
    expected = [some.index(n) if n in some else len(some) for n in tree.route(rows).tolist()]
    assert part.codes(rows).tolist() == expected
    assert len(part.labels()) == part.size


def test_a_row_of_which_nothing_is_known_stays_where_it_is_asked() -> None:
    schema = Schema((Nominal("v", ("x", "y")),), Nominal("class", ("a", "b")))
    pool = pool_of(schema, 4)
    tree = Tree(pool.cells).grown({0: pool.splits[0]})
    rows = {"v": np.array([0, 1, 2], np.uint8)}
    assert tree.route(rows).tolist() == [1, 2, 0]
    assert TreeNodes(tree, (1, 2), 3).codes(rows).tolist() == [0, 1, 3]


def test_breadth_first_order() -> None:
    tree = random_tree(POOL, 5, np.random.default_rng(3))
    for node in range(1, len(tree.splits)):
        parent = int(tree.parent[node])
        assert tree.first[parent] <= node < tree.first[parent] + tree.splits[parent].arity  # type: ignore[union-attr]
        assert tree.depth[node] == tree.depth[parent] + 1
    assert sorted(tree.depth) == tree.depth.tolist()
