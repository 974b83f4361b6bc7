"""Weights are fitted to the rows where the budget is large, and are equal where it is small."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dpcore.allocator import BudgetAllocator
from dpcore.evaluation import fit_exactly
from dpcore.partition import Values
from dpcore.planning import make_plan
from dpcore.release import fit
from dpcore.schema import Nominal, Schema
from dpcore.table import MemoryTable
from dpcore_naive_bayes.model import NaiveBayesModel
from dpcore_naive_bayes.weighted import problems

BITS = [Nominal(name, ("n", "y")) for name in ("a", "twin of a", "b")]
SCHEMA = Schema(BITS, Nominal("class", ("no", "yes")))
THREE = Schema(BITS, Nominal("class", ("p", "q", "r")))
ADJACENCIES = ["add-remove", "replace-one"]


def sample(rows: Any, n: int, seed: int = 0) -> Any:
    """`a` stands twice in every row, so that naive Bayes believes it twice; `b` tells as much."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a, b = (np.where(rng.random(n) < p, y, 1 - y).astype(np.uint8) for p in (0.7, 0.75))
    return rows(SCHEMA, a, a, b, y.astype(np.uint8))


def odds(model: Any) -> np.ndarray:
    """The log-odds of `yes` for each of the eight rows that there can be."""
    bits = np.array(list(np.ndindex(2, 2, 2)))
    total = model.prior[1] - model.prior[0]
    return total + sum(p.log[bits[:, i], 1] - p.log[bits[:, i], 0] for i, p in enumerate(model.parts))


def test_a_repeated_attribute_is_not_believed_twice(registry: Any, rows: Any) -> None:
    table = sample(rows, 20_000)
    plan = make_plan("naive_bayes", SCHEMA, epsilon=10, parameters={"model": "weighted"}, registry=registry)
    model = fit(plan, MemoryTable(table), random_state=0).model
    x = np.column_stack([table.columns[a.name] for a in BITS]).astype(float)
    peer = LogisticRegression(C=1e6).fit(x, table.columns["class"])
    expected = peer.decision_function(np.array(list(np.ndindex(2, 2, 2)), dtype=float))
    seen = [0, 1, 6, 7]  # where the twins agree
    assert odds(model)[seen] == pytest.approx(expected[seen], abs=0.15)


class AllForTables(BudgetAllocator):
    """Next to nothing for the weights."""

    def allocate(self, steps: Any) -> list[float]:
        tables = [step.group != "weights" for step in steps]
        return [(1 - 1e-6) / sum(tables) if table else 1e-6 / (len(tables) - sum(tables)) for table in tables]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_with_a_tiny_budget_the_weights_are_equal(registry: Any, rows: Any, adjacency: str) -> None:
    table = MemoryTable(sample(rows, 2000))
    found = {}
    for m in ("weighted", "bins"):
        settings: dict[str, Any] = {"parameters": {"model": m, "smoothing": 1.0}, "registry": registry}
        plan = make_plan("naive_bayes", SCHEMA, epsilon=100, adjacency=adjacency, allocator=AllForTables(), **settings)
        found[m] = np.mean([odds(fit(plan, table, random_state=seed).model) for seed in range(200)], axis=0)
    # the same decisions but for the noise: 0.7 of naive Bayes' log-odds on average
    assert found["weighted"] == pytest.approx(0.7 * found["bins"], abs=0.25)


def test_without_noise_the_decisions_are_no_worse_than_naive_bayes(registry: Any, rows: Any) -> None:
    table = sample(rows, 5000)
    held = sample(rows, 5000, seed=1)
    right = {}
    for m in ("weighted", "bins"):
        plan = make_plan("naive_bayes", SCHEMA, epsilon=1, parameters={"model": m}, registry=registry)
        log = fit_exactly(plan, MemoryTable(table)).log_proba(held)
        right[m] = np.mean(log.argmax(axis=1) == held.columns["class"])
    assert right["weighted"] >= right["bins"]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("schema", [SCHEMA, THREE], ids=["two classes", "three classes"])
def test_the_whole_epsilon_is_spent_and_no_more(registry: Any, rows: Any, schema: Schema, adjacency: str) -> None:
    plan = make_plan(
        "naive_bayes", schema, epsilon=0.7, adjacency=adjacency, parameters={"model": "weighted"}, registry=registry
    )
    assert plan.total[0] == pytest.approx(0.7)
    assert plan.within_budget
    assert len(plan.steps) == 3 + len(problems(len(schema.classes)))
    n = 60
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 2, n).astype(np.uint8) for _ in BITS]
    table = MemoryTable(rows(schema, *columns, rng.integers(0, len(schema.classes), n).astype(np.uint8)))
    release = fit(plan, table, random_state=0)
    assert release.privacy["spent"]["epsilon"] == pytest.approx(0.7)
    back = NaiveBayesModel.from_json(schema, json.loads(json.dumps(release.model.to_json())))
    assert all(isinstance(part.partition, Values) for part in back.parts)
    assert back.log_proba(table._rows) == pytest.approx(release.model.log_proba(table._rows))


@pytest.mark.parametrize("classes", [2, 3, 7])
def test_two_classes_are_one_problem(classes: int) -> None:
    assert problems(classes) == ((1,) if classes == 2 else tuple(range(classes)))
