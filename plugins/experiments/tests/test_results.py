"""Summaries are what pandas says of the runs; a method without an epsilon stands at all of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from dpcore_experiments.experiment import Experiment
from dpcore_experiments.results import Results
from dpcore_experiments.running import run
from dpcore_experiments.stats import corrected_t


def test_a_summary_is_the_mean_of_its_runs(results: Results) -> None:
    s = results.summaries["iris", "bins", 0.1]
    runs = results.frame.query("method == 'bins' and epsilon == 0.1")
    assert (s.runs, len(runs)) == (6, 6)
    assert s.accuracy_mean == pytest.approx(runs["accuracy"].mean())
    assert s.accuracy_sd == pytest.approx(runs["accuracy"].std())
    assert s.accuracy_low <= s.accuracy_mean <= s.accuracy_high
    assert s.ratio == pytest.approx(s.accuracy_mean / runs["non_private_accuracy"].mean())
    assert s.guarantee_epsilon == pytest.approx(0.1)


def test_a_method_without_an_epsilon_stands_at_every_epsilon(results: Results) -> None:
    low, high = (results.summaries["iris", "<Bernoulli>", e] for e in (0.1, 1.0))
    assert low.accuracy_mean == high.accuracy_mean
    assert (low.guarantee, low.runs) == ("none", 3)
    assert results.runs == 24 + 3


def test_tests_compare_folds_and_repeats_are_averaged_first(results: Results) -> None:
    frame = results.frame.query("epsilon == 1.0").groupby(["method", "fold"])["accuracy"].mean()
    found = results.test("iris", 1.0, "bins", "<Bernoulli>")
    # 150 rows in three folds: 50 test rows for 100 training rows
    expected = corrected_t(frame["bins"].to_numpy(), frame["<Bernoulli>"].to_numpy(), 0.5)
    assert found.p == pytest.approx(expected.p)
    assert found.difference == pytest.approx(expected.difference)


def test_the_ranking_balances(results: Results) -> None:
    assert sum(one.balance for one in results.ranking) == 0
    assert {one.method for one in results.ranking} == set(results.methods)


def test_methods_are_told_apart_by_what_there_are_several_of(make: Callable[..., Experiment]) -> None:
    found = run(make(rows=(30, 0), adjacency=("add-remove", "replace-one"), repeats=1, epsilon=(1.0,)))
    assert found.methods[:2] == ["bins, add-remove, all rows", "bins, add-remove, 30 rows"]
    assert len(found.methods) == 8
    assert [m for m in found.methods if "all rows" in m] == found.whole
    assert found.by_size()["moments, replace-one"] == {
        0: "moments, replace-one, all rows", 30: "moments, replace-one, 30 rows",
    }  # fmt: skip
    few = found.frame.query("size == 30")["train_rows"]
    assert (few == 30).all()


def test_json_is_plain(results: Results) -> None:
    data = results.to_json()
    assert set(data) == {"title", "runs", "new", "results", "ranking", "wilcoxon"}
    assert len(data["results"]) == 6
    assert len(data["wilcoxon"]) == 3
    assert all(isinstance(row["accuracy_mean"], float) for row in data["results"])
    assert np.isfinite([row["p"] for row in data["wilcoxon"]]).all()
