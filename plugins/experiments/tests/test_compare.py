"""The verb: what it prints, writes and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dpcore.cli import main

PLAN = """
datasets = ["iris"]
epsilon = [0.1, 1]
folds = 3

[[learner]]
name = "naive_bayes"

[[learner]]
name = "naive_bayes"
label = "moments"
parameters = { model = "moments" }
"""


@pytest.fixture
def plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An experiment file, in the folder that is worked in."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "e.toml"
    path.write_text(PLAN)
    return path


def test_it_prints_tables_and_goes_on_from_its_file(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "e.toml", "--out", "r.csv"]) == 0
    told = capsys.readouterr()
    assert ">-<" in told.out
    assert "(v/ /*)" in told.out
    assert told.out.endswith("12 runs, 12 of them new.\n")
    assert told.err == "dpcore: these figures are computed on private rows and are not themselves private.\n"
    assert main(["compare", "e.toml", "--out", "r.csv"]) == 0
    assert capsys.readouterr().out.endswith("12 runs, 0 of them new.\n")


def test_it_writes_a_report_and_its_parts(plan: Path) -> None:
    assert main(["compare", "e.toml", "--report", "r.html", "--figures", "parts"]) == 0
    assert (plan.parent / "r.html").stat().st_size > 50_000
    assert len(list((plan.parent / "parts").glob("*.svg"))) == 5


def test_a_part_of_an_experiment_can_be_done(plan: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "e.toml", "--learner", "moments", "--data", "iris", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["runs"] == 6
    assert {row["method"] for row in data["results"]} == {"moments"}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["none.toml"], "cannot read the experiment"),
        (["e.toml", "--short"], "no table [short]"),
        (["e.toml", "--learner", "svm"], "has no 'svm'"),
        (["e.toml", "--out", "r.txt"], "ends with .csv or .parquet"),
        (["e.toml", "--report", "r.pdf"], "ends with .html"),
        (["e.toml", "--report", "no/r.html"], "there is no folder"),
        (["e.toml", "--figures", "e.toml"], "it is no folder"),
        (["e.toml", "--figures", "no/parts"], "there is no folder"),
        (["e.toml", "--jobs", "0"], "--jobs"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(
    plan: Path, capsys: pytest.CaptureFixture[str], args: list[str], words: str
) -> None:
    assert main(["compare", *args]) == 2
    told = capsys.readouterr()
    assert words in told.err
    assert told.err.count("\n") == 1
    assert [file.name for file in plan.parent.iterdir()] == ["e.toml"]
