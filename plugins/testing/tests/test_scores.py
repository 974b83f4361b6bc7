"""Bins hold every float, and scores grow with the likelihood ratio."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpcore_testing.bins import Bins
from dpcore_testing.scores import Number, Sum, learn

values = hnp.arrays(np.float64, st.integers(1, 200), elements=st.floats() | st.integers(-3, 3).map(float))


@given(values, values, st.sampled_from([2, 8, 32]), st.integers(0, 60))
def test_every_float_has_a_bin_and_bins_follow_the_order(seen: Any, new: Any, most: int, tails: int) -> None:
    bins = Bins.of(seen, most, tails)
    codes = bins.codes(np.concatenate([seen, new]))
    assert ((codes >= 0) & (codes < bins.size)).all()
    ordered = np.sort(new[~np.isnan(new)])
    assert (np.diff(bins.codes(ordered)) >= 0).all()
    assert (bins.codes(np.array([math.nan])) == bins.size - 1).all()
    assert np.isnan(new).sum() == (bins.codes(new) == bins.size - 1).sum()


def test_few_different_values_have_a_bin_each() -> None:
    bins = Bins.of(np.array([3.0, 1.0, 1.0, 7.0]), 8)
    assert len(set(bins.codes(np.array([1.0, 3.0, 7.0])))) == 3


def test_a_value_that_comes_often_is_alone_in_its_bin() -> None:
    rng = np.random.default_rng(0)
    seen = rng.normal(size=4000)
    seen[:200] = 0.123
    bins = Bins.of(seen, 8)
    (alone,) = bins.codes(np.array([0.123]))
    assert (bins.codes(np.nextafter(0.123, [-1, 1])) != alone).all()
    assert bins.describe(np.arange(bins.size) == alone) == "exactly 0.123"


def test_bins_are_described_by_the_values_they_hold() -> None:
    bins = Bins(np.array([0.0, 1.0, 2.0]))
    assert bins.describe(np.array([True, False, True, True, False])) == "(-inf, 0) or [1, inf)"
    assert bins.describe(np.array([False, False, False, False, True])) == "NaN"
    assert bins.describe(np.zeros(5, dtype=bool)) == "nothing"
    many = Bins(np.arange(9.0))
    assert many.describe(np.array([i % 2 == 0 for i in range(11)])) == "5 intervals from (-inf, 0) to [7, 8) or NaN"


def test_the_learned_log_ratio_is_that_of_the_densities() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.laplace(size=(2, 200_000, 1)) + np.array([[[0.0]], [[1.0]]])
    coarse = next(s for s in learn(left, right, ["output"], rng) if isinstance(s, Sum))
    assert coarse.of(np.array([[-3.0], [4.0], [math.nan]])) == pytest.approx([1, -1, 0], abs=0.1)


def test_columns_that_never_vary_give_no_score() -> None:
    rng = np.random.default_rng(0)
    same = np.column_stack([np.ones(50), np.full(50, np.nan)])
    assert learn(same, same, ["a", "b"], rng) == []
    left = np.column_stack([same, rng.normal(size=50)])
    assert {type(s) for s in learn(left, left, ["a", "b", "c"], rng)} == {Sum, Number}


def test_columns_that_tell_nothing_add_nothing() -> None:
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(2, 500, 6))
    right[:, 2] += 1
    found = learn(left, right, [f"n{i}" for i in range(6)], rng, thorough=False)
    added = next(s for s in found if isinstance(s, Sum) and len(s.columns) == 6)
    spread = {j: float(np.ptp(table)) for j, table in zip(added.columns, added.tables, strict=True)}
    assert spread[2] > 5 * max(spread[j] for j in spread if j != 2)
