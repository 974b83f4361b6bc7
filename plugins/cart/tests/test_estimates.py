"""Consistent counts are least squares, and probabilities go back to the parent's as noise asks."""

from __future__ import annotations

import numpy as np
import pytest

from dpcore.schema import Nominal, Numeric, Schema
from dpcore_cart.estimates import Measured, consistent, probabilities
from dpcore_cart.forest import random_tree
from dpcore_cart.pool import pool_of
from dpcore_cart.tree import Tree

SCHEMA = Schema((Nominal("v", tuple("abcd")), Numeric("x", 0, 1)), Nominal("class", ("0", "1")))
POOL = pool_of(SCHEMA, 8, multiway=4)


def tree_of(depth: int, seed: int) -> Tree:
    return random_tree(POOL, depth, np.random.default_rng(seed))


def below(tree: Tree, node: int, leaves: tuple[int, ...]) -> np.ndarray:
    found = np.zeros(len(leaves))
    for i, leaf in enumerate(leaves):
        at = leaf
        while at != node and at > 0:
            at = int(tree.parent[at])
        found[i] = at == node
    return found


@pytest.mark.parametrize("seed", range(5))
def test_consistent_counts_are_weighted_least_squares_over_the_leaves(seed: int) -> None:
    draw = np.random.default_rng(seed)
    tree = tree_of(3, seed)
    by_depth = [tuple(np.flatnonzero(tree.depth == d).tolist()) for d in range(4)]
    measured = [
        Measured(nodes, draw.normal(20, 10, (len(nodes), 2)), deviation)
        for nodes, deviation in zip(by_depth, (1.0, 3.0, 2.0, 5.0), strict=True)
        if nodes
    ]
    extra = tree.leaves
    measured.append(Measured(extra, draw.normal(20, 10, (len(extra), 2)), 4.0))
    rows, values, weights = [], [], []
    for m in measured:
        for node, value in zip(m.nodes, m.counts, strict=True):
            rows.append(below(tree, node, tree.leaves))
            values.append(value)
            weights.append(1 / m.deviation)
    scale = np.array(weights)[:, None]
    expected = np.linalg.lstsq(np.array(rows) * scale, np.array(values) * scale, rcond=None)[0]
    counts, _ = consistent(tree, measured)
    assert counts[list(tree.leaves)] == pytest.approx(expected)
    for node, split in enumerate(tree.splits):
        if split is not None:
            children = slice(tree.first[node], tree.first[node] + split.arity)
            assert counts[node] == pytest.approx(counts[children].sum(axis=0))


def test_without_noise_probabilities_are_the_relative_counts() -> None:
    tree = tree_of(2, 0)
    counts = np.random.default_rng(0).integers(1, 100, (len(tree.splits), 2)).astype(float)
    found = probabilities(tree, counts, np.zeros(len(counts)), 1e-12, 0.7)
    assert found == pytest.approx(counts / counts.sum(axis=1, keepdims=True))


def test_with_noise_only_a_node_is_its_parent_and_the_way_there_is_monotone() -> None:
    tree = tree_of(1, 1)
    counts = np.full((len(tree.splits), 2), [30.0, 10.0])
    counts[1] = [10.0, 30.0]
    shares = [
        probabilities(tree, counts, np.array([0.0, *[v] * (len(counts) - 1)]), 1e-9, 0.7)[1, 0]
        for v in (0.0, 10.0, 100.0, 1e4, 1e12)
    ]
    assert shares[0] == pytest.approx(0.25)
    assert shares[-1] == pytest.approx(0.75)
    assert shares == sorted(shares)


def test_counts_below_zero_give_probabilities() -> None:
    tree = tree_of(2, 2)
    found = probabilities(tree, np.full((len(tree.splits), 2), -5.0), np.ones(len(tree.splits)), 1.0, 0.7)
    assert (found > 0).all()
    assert found.sum(axis=1) == pytest.approx(1.0)
