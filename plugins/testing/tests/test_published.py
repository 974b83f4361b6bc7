"""What published procedures spend: closed forms, the plan and the audit agree."""

from __future__ import annotations

import functools
import json
import math

import pytest

from dpcore import load_plugins
from dpcore.cli import main
from dpcore_testing.published import Published, published

EPSILON = 0.1
Rows = dict[tuple[str, str, str], Published]
NOMINAL, MIXED = "8 nominal attributes", "nominal and numeric"


@functools.cache
def rows_of(learner: str) -> Rows:
    found = published(load_plugins(), learner=learner, epsilon=EPSILON)
    return {(p.settings, p.data, p.adjacency): p for p in found}


@pytest.fixture
def rows() -> Rows:
    """Of naive Bayes."""
    return rows_of("naive_bayes")


def redrawn(epsilon: float) -> float:
    return math.log(2 * math.exp(epsilon) - 1)


def test_vaidya_spends_epsilon_on_every_table_and_one_on_the_prior_all_redrawn(rows: Rows) -> None:
    row = rows["variant=vaidya2013", NOMINAL, "add-remove"]
    assert row.claimed == EPSILON
    assert row.derived == pytest.approx(8 * redrawn(EPSILON) + redrawn(1.0))
    assert row.witnessed == pytest.approx(row.derived, rel=1e-4)
    other = rows["variant=vaidya2013", NOMINAL, "replace-one"]
    assert row.witnessed < other.witnessed <= other.derived  # an upper bound under replace-one


def test_lopuhaa_spends_twice_its_epsilon_under_its_own_adjacency(rows: Rows) -> None:
    assert rows["variant=lopuhaa2021", NOMINAL, "add-remove"].witnessed == pytest.approx(EPSILON)
    row = rows["variant=lopuhaa2021", NOMINAL, "replace-one"]
    assert (row.derived, row.witnessed) == pytest.approx((2 * EPSILON, 2 * EPSILON))


def test_noise_by_private_class_sizes_has_no_finite_epsilon(rows: Rows) -> None:
    for settings in ("variant=vaidya2013", "variant=lopuhaa2021"):
        row = rows[settings, MIXED, "add-remove"]
        assert row.derived == math.inf
        assert row.witnessed > 100 * EPSILON


def test_a_published_size_costs_what_it_says(rows: Rows) -> None:
    tuned = rows["variant=vaidya2013, published_size=1000", MIXED, "add-remove"]
    assert tuned.witnessed > 0.9 * tuned.derived > 1000 * EPSILON / 2


@pytest.mark.parametrize("learner", ["naive_bayes", "svm", "cart"])
def test_no_witness_is_above_what_was_derived(learner: str) -> None:
    rows = rows_of(learner)
    assert rows
    assert all(p.witnessed <= p.derived * (1 + 1e-6) for p in rows.values())


def test_rows_that_are_never_shortened_cost_more_than_is_claimed() -> None:
    row = rows_of("svm")["variant=lopuhaa2021", MIXED, "replace-one"]
    assert row.witnessed > 2 * EPSILON


def test_the_verb_prints_a_row_for_each(
    rows: Rows, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dpcore_testing.published.published", lambda *_, **__: iter(rows.values()))
    assert main(["audit", "--published", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert len(printed) == len(rows)
    assert {row["claimed"] for row in printed} == {EPSILON}
