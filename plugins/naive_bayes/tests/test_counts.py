"""What is done to noisy tables is the best that can be done to them, and looks at nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpcore.classifier import Task
from dpcore.partition import EqualBins, Values
from dpcore.schema import Nominal, Numeric, Schema
from dpcore_naive_bayes.counts import (
    FEWEST,
    MOST,
    bins_for,
    by_class,
    consistent,
    log_likelihood,
    log_prior,
    partition,
)

numbers = st.floats(-1e4, 1e4)


@st.composite
def tables(draw: st.DrawFn) -> list[Any]:
    classes = draw(st.integers(2, 4))
    cells = draw(st.lists(st.integers(1, 6), min_size=1, max_size=4))
    return [draw(arrays(np.float64, (m, classes), elements=numbers)) for m in cells]


def projected(given: list[Any], noise: list[float]) -> list[Any]:
    """Weighted least squares under equal column sums, by the Karush-Kuhn-Tucker equations of each class alone."""
    cells = [len(t) for t in given]
    size, result = sum(cells), [np.empty_like(t) for t in given]
    constraints = np.zeros((len(given) - 1, size))
    starts = np.concatenate([[0], np.cumsum(cells)])
    for row in range(len(given) - 1):
        constraints[row, starts[row] : starts[row + 1]] = 1
        constraints[row, starts[row + 1] : starts[row + 2]] = -1
    zero = np.zeros((len(given) - 1,) * 2)
    precision = np.concatenate([np.full(n, s**-2.0) for n, s in zip(cells, noise, strict=True)])
    matrix = np.block([[np.diag(precision), constraints.T], [constraints, zero]])
    for c in range(given[0].shape[1]):
        seen = np.concatenate([t[:, c] for t in given])
        solved = np.linalg.solve(matrix, np.concatenate([precision * seen, np.zeros(len(zero))]))[:size]
        for t, start, stop in zip(result, starts, starts[1:], strict=False):
            t[:, c] = solved[start:stop]
    return result


@settings(max_examples=200, deadline=None)
@given(tables(), st.lists(st.floats(0.25, 4.0), min_size=4, max_size=4))
def test_consistent_tables_are_the_least_squares_solution_and_agree_on_the_totals(
    noisy: list[Any], scales: list[float]
) -> None:
    scales = scales[: len(noisy)]
    made, totals = consistent(noisy, scales)
    for table, best in zip(made, projected(noisy, scales), strict=True):
        assert table == pytest.approx(best, abs=1e-7)
        assert table.sum(axis=0) == pytest.approx(totals, abs=1e-7)


@given(tables())
def test_tables_that_agree_already_stay_as_they_are(noisy: list[Any]) -> None:
    made, _ = consistent(noisy, [0.0] * len(noisy))
    again, _ = consistent(made, [0.0] * len(noisy))
    for one, two in zip(made, again, strict=True):
        assert one == pytest.approx(two, abs=1e-8)


@given(tables(), st.floats(1e-6, 1e6))
def test_likelihoods_and_priors_are_probabilities_whatever_the_noise(noisy: list[Any], smoothing: float) -> None:
    for table in noisy:
        log = log_likelihood(table, smoothing)
        assert np.isfinite(log).all()
        assert np.exp(log).sum(axis=0) == pytest.approx(1.0)
        prior = log_prior(table[0])
        assert np.isfinite(prior).all()
        assert np.exp(prior).sum() == pytest.approx(1.0)


def test_a_negative_count_is_zero_and_the_order_of_counts_is_kept() -> None:
    log = log_likelihood(np.array([[-5.0, 3.0], [0.0, 1.0], [8.0, -0.5]]), 0.5)
    assert np.exp(log) == pytest.approx(
        np.array([[0.5 / 9.5, 3.5 / 5.5], [0.5 / 9.5, 1.5 / 5.5], [8.5 / 9.5, 0.5 / 5.5]])
    )
    assert np.exp(log_prior(np.array([-100.0, 3.0]))) == pytest.approx([0.25, 0.75])


@given(tables())
def test_post_processing_is_a_function_of_noisy_numbers_and_leaves_them_alone(noisy: list[Any]) -> None:
    before, scales = [t.copy() for t in noisy], [2.0] * len(noisy)
    for t in noisy:
        t.setflags(write=False)  # as the curator gives them
    first, second = consistent(noisy, scales), consistent([t.copy() for t in noisy], scales)
    assert all((a == b).all() for a, b in zip(first[0], second[0], strict=True))
    assert all((a == b).all() for a, b in zip(noisy, before, strict=True))


@given(arrays(np.float64, st.integers(2, 10), elements=st.floats(-1e12, 1e12)), st.floats(1e-300, 1e6))
def test_the_number_of_bins_is_a_power_of_two_in_its_range(sizes: Any, noise: float) -> None:
    bins = bins_for(sizes, noise)
    assert FEWEST <= bins <= MOST
    assert bins & (bins - 1) == 0
    assert bins_for(sizes, noise / 2) >= bins
    assert bins_for(sizes + 1000.0, noise) >= bins
    assert bins_for(sizes[::-1], noise) == bins


def test_cells_follow_the_public_domain() -> None:
    assert partition(Nominal("v", ("a", "b"), missing=True), 16) == Values(Nominal("v", ("a", "b"), missing=True))
    assert partition(Numeric("x", 0, 1), 16).shape == (16,)
    assert partition(Numeric("x", 0, 1, missing=True), 16).shape == (17,)
    grades = Numeric("n", 1, 5, integer=True)
    assert partition(grades, 16) == EqualBins(grades, 5)
    assert partition(grades, 5) == EqualBins(grades, 5)
    assert partition(grades, 4) == EqualBins(grades, 4)
    view = {"n": np.arange(1, 6, dtype=np.float64)}
    assert partition(grades, 16).codes(view).tolist() == [0, 1, 2, 3, 4]
    schema = Schema((grades,), Nominal("c", ("x", "y", "z")))
    assert by_class(partition(grades, 16), Task(schema, 1.0)).shape == (5, 3)
