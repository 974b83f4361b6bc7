"""Noisy Gini: the published noise and its true cost, and the same answers as a count of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore.errors import NotPrivateError
from dpcore.partition import Product, Values
from dpcore.planning import make_plan
from dpcore.query import Counts
from dpcore.release import fit
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows
from dpcore_cart.gini import SplitCounts, binary_pool, gini
from dpcore_cart.scores import LevelCounts
from dpcore_cart.tree import Tree, TreeNodes

SCHEMA = Schema(
    (Nominal("v", ("x", "y", "z")), Nominal("w", ("p", "q")), Numeric("n", 0, 8, missing=True)),
    Nominal("class", ("0", "1")),
)


def sample(n: int) -> MemoryTable:
    draw = np.random.default_rng(n)
    number = draw.uniform(0, 8, n)
    number[::5] = np.nan
    v, w, y = (draw.integers(0, k, n).astype(np.uint8) for k in (3, 2, 2))
    return MemoryTable(Rows(SCHEMA, {"v": v, "w": w, "n": number, "class": y}, n))


def test_every_value_is_an_attribute_and_a_number_is_halved_at_its_middle() -> None:
    pool = binary_pool(SCHEMA)
    assert [(s.attribute, s.children) for s in pool.splits] == [
        (0, (1, 0, 0)), (0, (0, 1, 0)), (0, (0, 0, 1)), (1, (0, 1)), (2, (0, 1, 1)),
    ]  # fmt: skip
    assert pool.cells[2].cuts == (4.0,)


def test_counts_put_together_are_the_counts_of_the_children() -> None:
    pool = binary_pool(SCHEMA)
    tree = Tree(pool.cells).grown({0: pool.splits[3]})
    splits = (pool.splits[0], pool.splits[4])
    grown = tree.grown(dict(zip((1, 2), splits, strict=True)))
    by = Product((TreeNodes(grown, (3, 4, 5, 6), 5), Values(SCHEMA.target)))
    source = LevelCounts(TreeNodes(tree, (1, 2), 3), pool, SCHEMA.target)
    table = sample(400)
    found = table.answer(SplitCounts(by, source=source, splits=splits))
    assert (found == table.answer(Counts(by))).all()
    assert found.sum() == 400


def test_gini_is_the_mean_impurity_of_the_sides() -> None:
    counts = np.array([[[10.0, 0.0], [0.0, 10.0]], [[5.0, 5.0], [5.0, 5.0]], [[6.0, 2.0], [1.0, 3.0]]])
    expected = [0.0, 0.5, 8 / 12 * (1 - (36 + 4) / 64) + 4 / 12 * (1 - (1 + 9) / 16)]
    assert gini(counts) == pytest.approx(expected)


@pytest.mark.parametrize(("adjacency", "changes"), [("add-remove", 1), ("replace-one", 2)])
def test_the_published_procedure_is_charged_what_touches_a_row(registry: Any, adjacency: str, changes: int) -> None:
    plan = make_plan(
        "cart", SCHEMA, epsilon=0.8, adjacency=adjacency, parameters={"variant": "lopuhaa2021"}, registry=registry
    )
    size, depth = 5, 3  # ⌈√5⌉
    each = 0.8 / (size * (depth + 1))
    asks = depth * size - depth * (depth - 1) // 2 + 1
    assert sum(p.step.times for p in plan.steps) == asks
    assert plan.total[0] == pytest.approx(changes * asks * each)
    assert [p.calibration.scale for p in plan.steps] == pytest.approx([1 / each] * 4)
    table = sample(300)
    if adjacency == "replace-one":
        assert "lopuhaa2021" in plan.classifier.warning(plan.task)
        with pytest.raises(NotPrivateError, match="--not-private"):
            fit(plan, table, random_state=0)
    else:
        assert plan.total[0] < 0.8
        assert plan.classifier.warning(plan.task) == ""
    release = fit(plan, table, random_state=0, not_private=True)
    assert release.privacy["spent"]["epsilon"] == pytest.approx(plan.total[0])
    tree = release.model.trees[0].tree
    assert (tree.depth[list(tree.leaves)] == depth).all()


def test_no_attribute_is_asked_twice_on_a_path(registry: Any) -> None:
    plan = make_plan("cart", SCHEMA, epsilon=0.1, parameters={"splitter": "noisy_gini", "depth": 5}, registry=registry)
    tree = fit(plan, sample(200), random_state=3).model.trees[0].tree
    for leaf in tree.leaves:
        asked, node = [], leaf
        while node:
            node = int(tree.parent[node])
            asked.append(tree.splits[node])
        assert len(set(asked)) == len(asked) == 5
