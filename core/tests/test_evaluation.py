"""Cross-validation draws new noise on the same folds, and its reference lines are what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore.errors import InputError
from dpcore.evaluation import evaluate, stratified_folds
from dpcore.planning import make_plan
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows

SCHEMA = Schema([Numeric("x", 0, 1), Nominal("c", ["a", "b"])], Nominal("class", ["0", "1"]))


@pytest.fixture
def rows() -> Rows:
    draw = np.random.default_rng(0)
    x = draw.uniform(size=600)
    labels = (x + draw.normal(size=600) / 4 > 0.6).astype(np.uint8)
    return Rows(SCHEMA, {"x": x, "c": draw.integers(0, 2, 600).astype(np.uint8), "class": labels}, 600)


def plans(*epsilons: float, **settings: Any) -> list[Any]:
    return [make_plan("naive_bayes", SCHEMA, epsilon=e, **settings) for e in epsilons]


def test_a_large_epsilon_comes_to_the_same_learner_without_noise(rows: Rows) -> None:
    (found,) = evaluate(plans(1e7), rows, folds=4, repeats=2)
    assert found.accuracy_mean == pytest.approx(found.non_private_accuracy, abs=1e-9)
    assert found.accuracy_mean > found.majority_accuracy
    assert (found.folds, found.repeats) == (4, 2)


def test_a_tiny_epsilon_tells_nothing(rows: Rows) -> None:
    (found,) = evaluate(plans(1e-6), rows, folds=4, repeats=10)
    assert abs(found.accuracy_mean - 0.5) < 0.2
    assert found.accuracy_sd > 0.03


def test_the_majority_figure_is_the_largest_class(rows: Rows) -> None:
    (found,) = evaluate(plans(1.0), rows, folds=3)
    labels = rows.columns["class"]
    assert found.majority_accuracy == pytest.approx(np.bincount(labels).max() / len(labels), abs=0.005)


def test_one_seed_gives_one_result_and_every_fit_is_counted(rows: Rows) -> None:
    count = []
    first = evaluate(plans(0.1, 1.0), rows, folds=3, repeats=2, seed=7, advance=lambda: count.append(1))
    again = evaluate(plans(0.1, 1.0), rows, folds=3, repeats=2, seed=7)
    assert len(count) == 2 * 3 * 2
    assert [e.accuracy_mean for e in first] == [e.accuracy_mean for e in again]
    alone = evaluate(plans(1.0), rows, folds=3, repeats=2, seed=7)
    assert alone[0].accuracy_mean == first[1].accuracy_mean
    other = evaluate(plans(0.1, 1.0), rows, folds=3, repeats=2, seed=8)
    assert [e.accuracy_mean for e in first] != [e.accuracy_mean for e in other]


def test_a_folds_rows_are_read_once_for_all_epsilons_and_repeats(rows: Rows, monkeypatch: Any) -> None:
    passes = []
    real = MemoryTable.aggregate
    monkeypatch.setattr(MemoryTable, "aggregate", lambda self, qs: passes.append(len(qs)) or real(self, qs))
    evaluate(plans(0.5, 1.0, 2.0, parameters={"bins": 4}), rows, folds=3, repeats=5)
    assert len(passes) == 3


def test_published_variants_can_be_evaluated(rows: Rows) -> None:
    found = evaluate(plans(1.0, parameters={"variant": "lopuhaa2021"}), rows, folds=3)
    assert found[0].accuracy_mean > 0.4


def test_every_row_is_tested_once(rows: Rows) -> None:
    tested = np.concatenate([test for _, test in stratified_folds(rows, 5, seed=1)])
    assert sorted(tested) == list(range(600))


@pytest.mark.parametrize(("folds", "repeats"), [(1, 1), (601, 1), (400, 1), (3, 0)])
def test_impossible_sizes_are_refused(rows: Rows, folds: int, repeats: int) -> None:
    with pytest.raises(InputError):
        evaluate(plans(1.0), rows, folds=folds, repeats=repeats)
