"""The centre is naive Bayes, written as weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpcore.features import FeatureMap, OneHot
from dpcore.partition import Values
from dpcore.schema import Nominal
from dpcore_svm.centre import naive_bayes, totals

A, B = Nominal("a", ("p", "q")), Nominal("b", ("x", "y", "z"))
FEATURES = FeatureMap([OneHot(Values(A)), OneHot(Values(B))])
COUNTS = [np.array([[30.0, 10, 5], [10, 20, 25]]), np.array([[5.0, 10, 20], [15, 10, 5], [20, 10, 5]])]


def scores(weights: Any) -> Any:
    """w·x of all rows (a, b), each with its constant."""
    rows = [(i, 2 + j, 5) for i in range(2) for j in range(3)]
    return np.array([[w[list(row)].sum() * FEATURES.scale for w in weights.reshape(-1, 6)] for row in rows])


def test_one_attribute_gives_the_probabilities_of_naive_bayes() -> None:
    one = FeatureMap([OneHot(Values(B))])
    weights = naive_bayes(one, COUNTS[1:], [0.0]).reshape(3, 4) * one.scale
    found = weights[:, :3] + weights[:, 3:]
    size = COUNTS[1].sum(axis=0)
    smoothed = (COUNTS[1] + 1) / (COUNTS[1] + 1).sum(axis=0) * size
    assert np.exp(found.T - np.log(np.exp(found).sum(axis=0))[:, None]) == pytest.approx(
        smoothed / smoothed.sum(axis=1, keepdims=True)
    )


def test_one_class_against_all_others_is_naive_bayes_of_two_classes() -> None:
    against = [np.stack([t.sum(axis=1) - t[:, 2], t[:, 2]], axis=1) for t in COUNTS]
    two = naive_bayes(FEATURES, against, [0.0, 0.0])
    assert scores(naive_bayes(FEATURES, COUNTS, [0.0, 0.0], 2))[:, 0] == pytest.approx(np.diff(scores(two))[:, 0])


@given(st.lists(arrays(np.float64, (4, 3), elements=st.floats(-1e9, 1e9)), min_size=2, max_size=2), st.floats(0, 1e9))
def test_whatever_the_noise_weights_are_finite_and_sum_to_zero(tables: list[Any], scale: float) -> None:
    c = Nominal("c", ("1", "2", "3", "4"))
    features = FeatureMap([OneHot(Values(c)), OneHot(Values(c))])
    weights = naive_bayes(features, tables, [scale, scale])
    assert np.isfinite(weights).all()
    assert weights.reshape(3, -1).sum(axis=0) == pytest.approx(np.zeros(features.width), abs=1e-9)


def test_much_noise_leaves_little_but_the_class_sizes() -> None:
    little, much = (scores(naive_bayes(FEATURES, COUNTS, [s, s])) for s in (0.0, 1e6))
    assert np.ptp(much, axis=0).max() < 0.01 < np.ptp(little, axis=0).max()


def test_class_sizes_are_the_mean_of_all_tables() -> None:
    assert totals(COUNTS, [1.0, 1.0]) == pytest.approx(
        (COUNTS[0].sum(axis=0) / 2 + COUNTS[1].sum(axis=0) / 3) / (1 / 2 + 1 / 3)
    )
