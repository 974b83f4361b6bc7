"""What published procedures spend: closed forms, the plan and the audit agree."""

from __future__ import annotations

import json
import math

import pytest

from dpcore import load_plugins
from dpcore.cli import main
from dpcore_testing.published import Published, published

EPSILON = 0.1
FOUND = {(p.settings, p.data, p.adjacency): p for p in published(load_plugins(), epsilon=EPSILON)}


def on_nominal(settings: str, adjacency: str) -> Published:
    return FOUND[settings, "8 nominal attributes", adjacency]


def redrawn(epsilon: float) -> float:
    return math.log(2 * math.exp(epsilon) - 1)


def test_vaidya_spends_epsilon_on_every_table_and_one_on_the_prior_all_redrawn() -> None:
    row = on_nominal("variant=vaidya2013", "add-remove")
    assert row.claimed == EPSILON
    assert row.derived == pytest.approx(8 * redrawn(EPSILON) + redrawn(1.0))
    assert row.witnessed == pytest.approx(row.derived, rel=1e-4)
    other = on_nominal("variant=vaidya2013", "replace-one")
    assert row.witnessed < other.witnessed <= other.derived  # an upper bound under replace-one


def test_lopuhaa_spends_twice_its_epsilon_under_its_own_adjacency() -> None:
    assert on_nominal("variant=lopuhaa2021", "add-remove").witnessed == pytest.approx(EPSILON)
    row = on_nominal("variant=lopuhaa2021", "replace-one")
    assert (row.derived, row.witnessed) == pytest.approx((2 * EPSILON, 2 * EPSILON))


def test_noise_by_private_class_sizes_has_no_finite_epsilon() -> None:
    for settings in ("variant=vaidya2013", "variant=lopuhaa2021"):
        row = FOUND[settings, "nominal and numeric", "add-remove"]
        assert row.derived == math.inf
        assert row.witnessed > 100 * EPSILON


def test_no_witness_is_above_what_was_derived() -> None:
    assert all(p.witnessed <= p.derived * (1 + 1e-6) for p in FOUND.values())
    tuned = FOUND["variant=vaidya2013, published_size=1000", "nominal and numeric", "add-remove"]
    assert tuned.witnessed > 0.9 * tuned.derived > 1000 * EPSILON / 2


def test_the_verb_prints_a_row_for_each(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcore_testing.published.published", lambda *_, **__: iter(FOUND.values()))
    assert main(["audit", "--published", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == len(FOUND)
    assert {row["claimed"] for row in rows} == {EPSILON}
