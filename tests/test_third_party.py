"""A package from outside this repository installs with pip, is found, and makes the noise of a fit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

STAIRCASE = Path(__file__).parents[1] / "examples" / "staircase"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Runs Python with the example installed in a folder of its own, as pip installs it."""
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    pip += ["--no-deps", "--no-build-isolation", "--target", str(target), str(STAIRCASE)]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    def python(*args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(target), "DPCORE_DISABLE": ""}
        command = [sys.executable, *args]
        done = subprocess.run(command, env=env, cwd=cwd, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    return python


def test_it_is_listed_and_describes_itself(run):
    rows = json.loads(run("-m", "dpcore.cli", "list-plugins", "--json").stdout)
    (row,) = [row for row in rows if row["dist"] == "dpcore-staircase"]
    assert (row["name"], row["kind"], row["status"]) == ("staircase", "mechanism", "ok")
    data = json.loads(run("-m", "dpcore.cli", "describe", "staircase", "--json").stdout)
    assert data["guarantee"] == "pure epsilon"
    assert "Viswanath" in data["citation"][0]["author"]


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_a_plan_names_it_in_every_step(run, adjacency):
    args = ("plan", "naive_bayes", "--schema", "iris", "--epsilon", "2", "--adjacency", adjacency)
    plan = json.loads(run("-m", "dpcore.cli", *args, "--mechanism", "staircase", "--json").stdout)
    assert {step["mechanism"] for step in plan["steps"]} == {"staircase"}
    assert plan["total_epsilon"] == pytest.approx(2)


def test_a_step_that_it_cannot_protect_keeps_the_learners_own_mechanism(run):
    args = ("plan", "naive_bayes", "--schema", "adult", "--epsilon", "1", "--set", "model=moments")
    plan = json.loads(run("-m", "dpcore.cli", *args, "--mechanism", "staircase", "--json").stdout)
    used = {step["query"].split()[0]: step["mechanism"] for step in plan["steps"]}
    assert used["counts"] == "staircase"
    assert used["sums"] != "staircase"


def test_a_fit_uses_it_and_the_model_predicts_without_it(run, tmp_path):
    model = tmp_path / "m.json"
    args = ("naive_bayes", "iris", "--epsilon", "50", "--mechanism", "staircase", "--out", str(model))
    run("-m", "dpcore.cli", "fit", *args)
    privacy = json.loads(model.read_text())["privacy"]
    assert {step["mechanism"] for step in privacy["steps"]} == {"staircase"}
    assert privacy["spent"]["epsilon"] == pytest.approx(50)
    done = subprocess.run(
        [sys.executable, "-m", "dpcore.cli", "predict", str(model), "iris"], capture_output=True, text=True, check=True
    )
    assert len(done.stdout.splitlines()) == 151


def test_its_own_tests_pass_where_it_is_installed(run):
    done = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "pythonpath=", cwd=STAIRCASE)
    assert " passed" in done.stdout
    assert "skipped" not in done.stdout
