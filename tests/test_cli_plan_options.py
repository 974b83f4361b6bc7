"""The options that decide a plan: what each changes, in the plan and alike in the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpcore.cli import main

SCHEMA = {
    "title": "visits",
    "attributes": [
        {"name": "age", "type": "numeric", "lower": 0, "upper": 100, "integer": True},
        {"name": "fee", "type": "numeric", "lower": 0, "upper": 500},
        {"name": "ward", "type": "nominal", "values": ["east", "west"]},
    ],
    "class": {"name": "outcome", "values": ["home", "stay", "moved"]},
}
ROWS = ["31,20.5,east,home", "64,300,west,stay", "7,99,east,moved"] * 20


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Runs one command line in a folder that holds the visits, and returns its output and its notes."""
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text("\n".join(["age,fee,ward,outcome", *ROWS]) + "\n")
    Path("schema.json").write_text(json.dumps(SCHEMA))

    def command(*args: str, code: int = 0) -> tuple[str, str]:
        got = main(args)
        out, err = capsys.readouterr()
        assert got == code, err
        return out, err

    return command


@pytest.mark.parametrize("variant", ["vaidya2013", "lopuhaa2021"])
def test_a_published_variant_runs_only_when_that_is_meant(run, variant):
    args = ("fit", "naive_bayes", "iris", "--epsilon", "1", "--out", "m.json", "--set", f"variant={variant}")
    _, refused = run(*args, code=2)
    assert "--not-private" in refused
    assert not Path("m.json").exists()
    _, notes = run(*args, "--not-private")
    assert "warning: " in notes
    privacy = json.loads(Path("m.json").read_text())["privacy"]
    assert privacy["guarantee"] == "none"
    assert privacy["spent"]["epsilon"] is None
    assert variant in privacy["warning"]


def steps(plan: dict) -> dict:
    return {step["step"]: step for step in plan["steps"]}


OPTIONS = {
    "delta takes another accounting": (("--delta", "1e-5"), lambda p: p["delta"] == 1e-5 and p["accounting"] != "pure"),
    "replacing a row moves two counts": (
        ("--adjacency", "replace-one"),
        lambda p: p["adjacency"] == "replace-one" and {s["sensitivity"] for s in p["steps"]} == {2},
    ),
    "an allocator splits the budget": (
        ("--allocator", "two_to_one"),
        lambda p: steps(p)["fee"]["epsilon"] == pytest.approx(2 * steps(p)["ward"]["epsilon"]),
    ),
    "a weight favours a step": (
        ("--weight", "fee=3", "--weight", "ward=1"),
        lambda p: steps(p)["fee"]["epsilon"] == pytest.approx(3 * steps(p)["ward"]["epsilon"]),
    ),
    "a mechanism is chosen by name": (
        ("--mechanism", "laplace"),
        lambda p: {s["mechanism"] for s in p["steps"]} == {"laplace"},
    ),
    "a parameter is set": (("--set", "bins=7"), lambda p: steps(p)["fee"]["cells"] == 7 * 3),
}


@pytest.mark.parametrize("claim", OPTIONS)
def test_an_option_of_the_plan(run, claim):
    args, holds = OPTIONS[claim]
    common = ("--epsilon", "1", *args)
    plan = json.loads(run("plan", "naive_bayes", "--schema", "schema.json", "--json", *common)[0])
    assert holds(plan), plan
    assert plan["total_epsilon"] <= 1 + 1e-9
    run("fit", "naive_bayes", "visits.csv", "--schema", "schema.json", "--out", "m.json", *common)
    privacy = json.loads(Path("m.json").read_text())["privacy"]
    assert privacy["steps"] == plan["steps"]
    assert (privacy["delta"], privacy["adjacency"]) == (plan["delta"], plan["adjacency"])
