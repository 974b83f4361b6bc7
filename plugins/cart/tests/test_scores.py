"""The scores of splits: what one person can change, by brute force, and the same numbers from a naive count."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from dpcore.privacy import Adjacency
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows
from dpcore_cart.pool import pool_of
from dpcore_cart.scores import Balanced, Gini, LevelCounts, Max
from dpcore_cart.tree import Tree, TreeNodes

A, B = Nominal("a", ("p", "q", "r")), Numeric("x", 0, 3, integer=True)
SCHEMA = Schema((A, B), Nominal("class", ("0", "1")))
POOL = pool_of(SCHEMA, 4)
ROWS = list(itertools.product(range(3), range(4), range(2)))
SPLIT = next(s for s in POOL.splits if s.attribute == 0)
TREE = Tree(POOL.cells).grown({0: SPLIT})
SCORES = [Max(POOL), Gini(POOL), Balanced(POOL, ((1.0, 0.25), (0.3, 1.0)))]


def table(rows: list[tuple[int, int, int]]) -> MemoryTable:
    columns = np.array(rows, dtype=np.float64).reshape(len(rows), 3)
    return MemoryTable(
        Rows(
            SCHEMA,
            {"a": columns[:, 0].astype(np.uint8), "x": columns[:, 1], "class": columns[:, 2].astype(np.uint8)},
            len(rows),
        )
    )


def matrix(score: Any, rows: list[tuple[int, int, int]]) -> Any:
    source = LevelCounts(TreeNodes(TREE, (1, 2), 3), POOL, SCHEMA.target)
    return score.evaluate(table(rows).answer(source))


def some_tables() -> list[list[tuple[int, int, int]]]:
    draw = np.random.default_rng(0)
    made = [[], *([row] * n for row in (ROWS[0], ROWS[-1]) for n in (1, 7))]
    made += [[ROWS[i] for i in draw.integers(len(ROWS), size=n)] for n in (2, 5, 30, 60) for _ in range(3)]
    return made


@pytest.mark.parametrize("score", SCORES, ids=lambda s: s.name)
def test_a_row_more_moves_one_node_and_no_score_further_than_delta(score: Any) -> None:
    delta, monotone = score.sensitivity(Adjacency.ADD_REMOVE)
    reached = 0.0
    for rows in some_tables():
        before = matrix(score, rows)
        for new in ROWS:
            change = matrix(score, [*rows, new]) - before
            assert (np.abs(change).max(axis=1) > 0).sum() <= 1
            assert np.abs(change).max() <= delta * (1 + 1e-12)
            assert not monotone or (change >= 0).all()
            reached = max(reached, np.abs(change).max())
    assert reached == pytest.approx(delta)


@pytest.mark.parametrize("score", SCORES, ids=lambda s: s.name)
def test_replacing_a_row_costs_no_more_than_taking_one_off_and_adding_one(score: Any) -> None:
    one, _ = score.sensitivity(Adjacency.ADD_REMOVE)
    two, _ = score.sensitivity(Adjacency.REPLACE_ONE)
    assert two == 2 * one
    # what the mechanism pays for: over the nodes, how far scores of one node move apart, in the unit of its rate
    unit = 1 if score.sensitivity(Adjacency.REPLACE_ONE)[1] else 2
    for rows in some_tables():
        if not rows:
            continue
        before = matrix(score, rows)
        for new in ROWS:
            change = matrix(score, [*rows[1:], new]) - before
            assert (change.max(axis=1) - change.min(axis=1)).sum() <= two * unit * (1 + 1e-12)


def test_scores_are_those_of_a_naive_count() -> None:
    draw = np.random.default_rng(1)
    rows = [ROWS[i] for i in draw.integers(len(ROWS), size=80)]
    found = {score.name: matrix(score, rows) for score in SCORES}
    x_cells = POOL.cells[1].codes({"x": np.array([float(r[1]) for r in rows])})
    for node in (0, 1):
        inside = [i for i, row in enumerate(rows) if SPLIT.children[row[0]] == node]
        for k, split in enumerate(POOL.splits):
            children = np.zeros((split.arity, 2))
            for i in inside:
                cell = rows[i][0] if split.attribute == 0 else int(x_cells[i])
                children[split.children[cell], rows[i][2]] += 1
            assert found["max"][node, k] == sum(c.max() for c in children)
            weights = np.array(SCORES[2].weights[node])
            assert found["balanced"][node, k] == pytest.approx(sum((weights * c).max() for c in children))
            gini = sum((c**2).sum() / c.sum() for c in children if c.sum())
            assert found["gini"][node, k] == pytest.approx(gini)
