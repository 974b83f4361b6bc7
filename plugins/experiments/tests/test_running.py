"""An experiment does what is not held, and comes to the same whoever does which part of it, and when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import attrs
import pandas as pd
import pytest

from dpcore.errors import DpcoreError, InputError, PluginError
from dpcore_experiments.experiment import Data, Experiment, Learner
from dpcore_experiments.running import run
from dpcore_experiments.store import read

TIMES = ["fit_seconds", "predict_seconds"]


def same(one: pd.DataFrame, two: pd.DataFrame) -> None:
    """Everything but how long it took."""
    pd.testing.assert_frame_equal(one.drop(columns=TIMES), two.drop(columns=TIMES))


def test_one_and_two_processes_come_to_the_same(make: Callable[..., Experiment], tmp_path: Path) -> None:
    paths = [tmp_path / f"{jobs}.csv" for jobs in (1, 2)]
    for path in paths:
        assert run(make(), out=path, jobs=int(path.stem)).new == 24
    same(read(paths[0]), read(paths[1]))


def test_what_is_held_is_not_done_again(make: Callable[..., Experiment], tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    first = run(make(), out=path)
    content = path.read_bytes()
    second = run(make(), out=path)
    assert (first.new, first.runs, second.new, second.runs) == (24, 24, 0, 24)
    assert path.read_bytes() == content
    assert second.to_json() == {**first.to_json(), "new": 0}


@pytest.mark.parametrize(
    ("changes", "new"),
    [
        ({"epsilon": (0.1, 0.5, 1.0)}, 12),
        ({"repeats": 3}, 12),
        ({"adjacency": ("add-remove", "replace-one")}, 24),
        ({"rows": (0, 50)}, 24),
        ({"folds": 4}, 32),
        ({"seed": 1}, 24),
        ({"delta": 1e-6}, 24),
        ({"exact_epsilon": 2.0}, 24),
        ({"data": (Data("iris", "iris"), Data("wine", "wine"))}, 24),
        ({"learners": (Learner("bins", "naive_bayes"), Learner("b", "naive_bayes", allocator="uniform"))}, 12),
        ({"data": (Data("flowers", "iris"),)}, 0),
        ({"title": "another"}, 0),
    ],
)
def test_a_change_does_what_is_new_and_keeps_the_rest(
    make: Callable[..., Experiment], tmp_path: Path, changes: dict[str, object], new: int
) -> None:
    path = tmp_path / "r.csv"
    run(make(), out=path)
    held = len(read(path))
    assert run(make(**changes), out=path).new == new
    assert len(read(path)) == held + new
    assert run(make(), out=path).new == 0


SCRIPT = """
import sys
from dpcore_experiments import load, run
run(load(sys.argv[1]), out=sys.argv[2])
"""


def test_a_killed_experiment_goes_on_and_loses_at_most_a_unit(tmp_path: Path) -> None:
    plan, path = tmp_path / "e.toml", tmp_path / "r.csv"
    plan.write_text(
        'datasets = ["digits"]\nepsilon = [0.1, 1.0]\nfolds = 8\nrepeats = 4\n[[learner]]\nname = "naive_bayes"\n'
    )
    victim = subprocess.Popen([sys.executable, "-c", SCRIPT, str(plan), str(path)], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (path.exists() and path.read_bytes().count(b"\n") > 8):
        time.sleep(0.002)
    os.kill(victim.pid, signal.SIGKILL)
    victim.wait()
    lines = path.read_bytes().count(b"\n") - 1
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(plan), str(path)], check=True)
    assert done.returncode == 0
    assert 8 <= lines <= 64
    whole = tmp_path / "whole.csv"
    subprocess.run([sys.executable, "-c", SCRIPT, str(plan), str(whole)], check=True)
    same(read(path), read(whole))


def test_an_experiment_that_cannot_be_done_fails_before_any_run_and_leaves_no_file(
    make: Callable[..., Experiment], tmp_path: Path
) -> None:
    path = tmp_path / "r.csv"
    wrong = {
        "no_such": Learner("a", "no_such"),
        "binz": Learner("a", "naive_bayes", parameters={"binz": 1}),
        "sqrt": Learner("a", estimator="math:sqrt"),
        "no_rule": Learner("a", "naive_bayes", sensitivity="no_rule"),
    }
    for words, learner in wrong.items():
        with pytest.raises(DpcoreError, match=words):
            run(make(learners=(make().learners[0], learner)), out=path)
    with pytest.raises(InputError, match="neither a file nor a data set"):
        run(make(data=(Data("x", "no_data"),)), out=path)
    with pytest.raises(InputError, match="jobs"):
        run(make(), jobs=0)
    assert list(tmp_path.iterdir()) == []


def test_a_fit_that_fails_at_once_leaves_no_file_and_a_later_one_leaves_what_was_done(
    make: Callable[..., Experiment], tmp_path: Path
) -> None:
    path, broken = tmp_path / "r.csv", Learner("broken", estimator=f"{__name__}:Broken")
    with pytest.raises(PluginError, match="broken on iris, fold 1"):
        run(make(learners=(broken,)), out=path)
    assert not path.exists()
    with pytest.raises(PluginError, match="broken on iris, fold 1"):
        run(make(learners=(make().learners[0], broken)), out=path)
    assert len(read(path)) == 4


def test_a_fit_that_fails_in_another_process_is_named_too(make: Callable[..., Experiment]) -> None:
    broken = Learner("broken", estimator="sklearn.naive_bayes:GaussianNB", parameters={"priors": [0.5, 0.4, 0.2]})
    with pytest.raises(PluginError, match=r"broken on iris, fold \d: it failed with ValueError in sklearn"):
        run(make(learners=(broken,)), jobs=2)


class Broken:
    """Cannot be fitted."""

    def fit(self, x: object, y: object) -> None:
        """Fail."""
        raise ValueError("no")


def test_what_is_wrong_with_a_guarantee_is_told(make: Callable[..., Experiment]) -> None:
    told: list[str] = []
    published = Learner("published", "naive_bayes", parameters={"variant": "vaidya2013"})
    found = run(make(learners=(published,), repeats=1), warn=told.append)
    assert any("published: vaidya2013" in text for text in told)
    assert {s.guarantee for s in found.summaries.values()} == {"none"}


def test_a_learner_can_have_fewer_repeats(make: Callable[..., Experiment]) -> None:
    one, two = make().learners
    found = run(make(learners=(one, attrs.evolve(two, repeats=1))))
    assert found.runs == 12 + 6
    assert {s.method: s.runs for s in found.summaries.values()} == {"bins": 6, "moments": 3}
