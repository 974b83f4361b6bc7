"""The audit of whole components: ours pass with the loss that theory gives, and broken ones do not."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from dpcore import load_plugins
from dpcore.cli import main
from dpcore.errors import InputError, PluginError
from dpcore.schema import Nominal, Schema
from dpcore_testing.audit import NothingToAudit, audit
from dpcore_testing.pairs import schemas
from dpcore_testing.subject import subjects

REGISTRY = load_plugins()
NOMINAL = Schema(
    [Nominal("colour", ["red", "green", "blue"]), Nominal("size", ["s", "l"])], Nominal("y", ["no", "yes"])
)
OURS = [(kind, name, p) for kind, name, p in subjects(REGISTRY) if name == "naive_bayes" or not p]
"""As they come, and the simplest learner in every setting: `make prove` audits all settings of all."""


@pytest.mark.parametrize(("kind", "name", "parameters"), OURS, ids=[f"{n} {p or ''}".strip() for _, n, p in OURS])
def test_no_component_of_this_repository_is_flagged(kind: str, name: str, parameters: dict[str, str]) -> None:
    # one schema with attributes of every kind stands for all, but for the simplest learner
    schema = None if (name, parameters) == ("naive_bayes", {}) else schemas()["mixed"]
    try:
        found = audit(name, kind=kind, parameters=parameters, seconds=0, registry=REGISTRY, schema=schema)
    except NothingToAudit:
        assert kind == "mechanism"
        pytest.skip("it answers only what learners ask: the learners that use it are audited")
    assert [report.adjacency for report in found] == ["add-remove", "replace-one"]
    for report in found:
        assert report.verdict == "ok", report
        assert report.loss > 0.6 * report.charged, report  # the audit comes near to what is charged
        assert report.pairs > 100


@pytest.mark.parametrize("epsilon", [0.01, 20.0])
def test_the_default_learner_spends_all_of_its_epsilon(epsilon: float) -> None:
    for report in audit("naive_bayes", epsilon=epsilon, seconds=0, registry=REGISTRY, schema=schemas()["mixed"]):
        assert report.verdict == "ok"
        assert report.loss == pytest.approx(epsilon, rel=1e-6)


def test_an_approximate_guarantee_is_weighed_against_delta() -> None:
    # Gaussian noise under GDP is exactly (epsilon, delta): at five standard errors most of epsilon is witnessed
    schema = schemas()["numeric"]
    for report in audit("gaussian", adjacency="add-remove", seconds=0, delta=1e-6, registry=REGISTRY, schema=schema):
        assert report.verdict == "ok"
        assert 0.9 < report.loss <= 1.0


def test_a_published_variant_leaks_more_than_was_asked_for() -> None:
    parameters = {"variant": "lopuhaa2021"}
    one, two = audit("naive_bayes", parameters=parameters, schema=NOMINAL, seconds=0.1, registry=REGISTRY)
    assert (one.verdict, two.verdict) == ("ok", "LEAKS")
    assert two.loss == pytest.approx(2.0, rel=1e-6)


def test_the_same_seed_finds_the_same() -> None:
    options = {"adjacency": "add-remove", "seconds": 1e-9, "seed": 5, "schema": NOMINAL}
    first, again = (audit("geometric", **options)[0] for _ in range(2))
    assert first.to_json() | {"seconds": 0} == again.to_json() | {"seconds": 0}


def test_what_cannot_be_audited_is_refused_in_one_line() -> None:
    with pytest.raises(PluginError, match="an audit is for a classifier, mechanism or sensitivity"):
        audit("uniform")
    with pytest.raises(InputError, match="adjacency must be"):
        audit("naive_bayes", adjacency="bounded")


def test_the_verb_prints_the_report_and_says_by_its_exit_code_how_it_ended(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "s.json").write_text(json.dumps(NOMINAL.to_json()))
    common = ["--adjacency", "replace-one", "--seconds", "0.1", "--schema", str(tmp_path / "s.json")]
    assert main(["audit", "geometric", *common, "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert report["verdict"] == "ok"
    assert report["loss"] == pytest.approx(1.0)
    assert main(["audit", "naive_bayes", "--set", "variant=lopuhaa2021", *common]) == 1
    out = capsys.readouterr().out
    assert "LEAKS" in out
    assert "the worst loss was on" in out
    assert main(["audit"]) == 2
    assert main(["audit", "geometric", "--seconds", "nan"]) == 2
    assert "must be a finite number" in capsys.readouterr().err
    assert not math.isnan(report["seconds"])
