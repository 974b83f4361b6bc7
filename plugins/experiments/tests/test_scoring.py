"""Scores of distinct rows with counts are those of all rows, one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import Rows
from dpcore_experiments.scoring import Held


def rows_of(seed: int, size: int, classes: int) -> Rows:
    """Rows that repeat themselves, with missing values."""
    rng = np.random.default_rng(seed)
    schema = Schema(
        (Nominal("a", ("x", "y", "z")), Numeric("b", 0.0, 1.0, missing=True)),
        Nominal("class", tuple(map(str, range(classes)))),
    )
    b = rng.integers(0, 3, size) / 2
    b[rng.random(size) < 0.2] = np.nan
    columns = {"a": rng.integers(0, 3, size).astype(np.uint8), "b": b, "class": rng.integers(0, classes, size)}
    return Rows(schema, columns, size)


def told(rows: Rows, seed: int, classes: int) -> np.ndarray:
    """Log-probabilities that depend on a row's values alone, some of them tied."""
    rng = np.random.default_rng(seed)
    table = np.log(rng.dirichlet(np.ones(classes), (3, 4)).round(1) + 0.01)
    b = np.where(np.isnan(rows.columns["b"]), 3, rows.columns["b"] * 2).astype(int)
    return table[rows.columns["a"], b]


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(2, 4))
def test_scores_are_those_of_scikit_learn_on_all_rows(seed: int, size: int, classes: int) -> None:
    from sklearn.metrics import accuracy_score, recall_score, roc_auc_score

    rows = rows_of(seed, size, classes)
    held = Held.of(rows)
    assert held.rows.size <= min(size, 12)
    assert held.counts.sum() == size
    found = held.score(told(held.rows, seed, classes))
    truth, log = rows.columns["class"], told(rows, seed, classes)
    predicted = log.argmax(axis=1)
    assert found.accuracy == pytest.approx(accuracy_score(truth, predicted))
    present = np.unique(truth)
    balanced = recall_score(truth, predicted, labels=present, average="macro", zero_division=0)
    assert found.balanced_accuracy == pytest.approx(balanced)
    assert found.log_loss == pytest.approx(-log[np.arange(size), truth].mean())
    if len(present) < 2:
        assert np.isnan(found.auc)
        return
    if classes == 2:
        area = roc_auc_score(truth, log[:, 1] - log[:, 0])
    else:
        area = np.mean([roc_auc_score(truth == c, log[:, c]) for c in present])
    assert found.auc == pytest.approx(area)


def test_an_impossible_row_costs_a_finite_loss() -> None:
    held = Held.of(rows_of(1, 20, 2))
    log = np.tile([0.0, -np.inf], (held.rows.size, 1))
    assert np.isfinite(held.score(log).log_loss)


def test_the_majority_is_judged_on_the_test_rows() -> None:
    rows = rows_of(2, 50, 3)
    held = Held.of(rows)
    assert held.majority(1) == pytest.approx(np.mean(rows.columns["class"] == 1))
