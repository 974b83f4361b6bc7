"""Eight processes race for one budget: it is spent to the last unit and never beyond."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import forked
from dpcore import load_plugins, open_ledger
from dpcore.cli import main
from dpcore.errors import BudgetError
from dpcore.ledger import Entry
from dpcore.privacy import Adjacency

RACERS = 8


@pytest.fixture
def race(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], None]], list[str]]:
    """Runs one piece of work in eight processes that start at the same moment; returns what each printed."""
    monkeypatch.chdir(tmp_path)
    assert main(("fit", "naive_bayes", "iris", "--epsilon", "1", "--out", "warm.json")) == 0

    def run(work: Callable[[int], None]) -> list[str]:
        ready, go = os.pipe()

        def racer(number: int) -> None:
            os.close(go)
            os.read(ready, 1)  # returns when the parent closes its end
            work(number)

        children = [forked.start(lambda n=n: racer(n), tmp_path / f"racer{n}.log") for n in range(RACERS)]
        os.close(ready)
        os.close(go)
        logs = [Path(f"racer{n}.log") for n in range(RACERS)]
        assert [forked.wait(child) for child in children] == [0] * RACERS, [log.read_text() for log in logs]
        return [log.read_text() for log in logs]

    return run


def test_fits_in_eight_processes_are_never_over_budget(race, capsys):
    assert main(("ledger", "init", "iris.ledger", "--dataset", "iris", "--epsilon", "0.2")) == 0

    def fits(number: int) -> None:
        for turn in range(5):
            out = f"m{number}-{turn}.json"
            code = main(
                ("fit", "naive_bayes", "iris", "--epsilon", "0.01", "--ledger", "iris.ledger", "--out", out, "--json")
            )
            print(f"exit {code} {out}", file=sys.stderr, flush=True)

    lines = [line for log in race(fits) for line in log.splitlines()]
    codes = [line.split()[1:] for line in lines if line.startswith("exit ")]
    paid = [out for code, out in codes if code == "0"]
    refused = [out for code, out in codes if code == "3"]
    assert (len(paid), len(refused), len(codes)) == (20, 20, 40)
    said = [line for line in lines if line.startswith("dpcore: ") and "warning" not in line]
    assert said == [
        "dpcore: the ledger 'iris.ledger' refuses: this fit costs epsilon = 0.01, delta = 0, "
        "and epsilon = 0, delta = 0 are left."
    ] * len(refused)
    assert sorted(path.name for path in Path().glob("m*.json")) == sorted(paid)
    capsys.readouterr()
    models = [word for out in paid for word in ("--model", out)]
    assert main(("ledger", "verify", "iris.ledger", *models, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["entries"] == 20
    assert open_ledger("iris.ledger").remaining() == (0.0, 0.0)


def test_no_two_entries_have_one_number(race):
    entry = Entry("naive_bayes", {}, "", 0.01, 0.0, Adjacency.ADD_REMOVE, "pure", False)
    load_plugins().get("ledger", "sqlite").create("x.ledger", "x", 0.6)

    def spend(number: int) -> None:
        ledger = open_ledger("x.ledger")
        for _ in range(10):
            try:
                print(ledger.spend(entry).entry)
            except BudgetError:
                print("refused")

    lines = "".join(race(spend)).split()
    assert lines.count("refused") == 20
    assert sorted(int(line) for line in lines if line != "refused") == list(range(1, 61))
    assert main(("ledger", "verify", "x.ledger")) == 0


def test_a_refused_command_exits_with_3_and_one_line(tmp_path):
    def dpcore(*words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dpcore.cli", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    assert dpcore("ledger", "init", "iris.ledger", "--dataset", "iris", "--epsilon", "0.5").returncode == 0
    done = dpcore("fit", "naive_bayes", "iris", "--epsilon", "0.6", "--ledger", "iris.ledger", "--out", "m.json")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "dpcore: the ledger 'iris.ledger' refuses: this fit costs epsilon = 0.6, delta = 0, "
        "and epsilon = 0.5, delta = 0 are left.\n"
    )
    assert [path.name for path in tmp_path.iterdir()] == ["iris.ledger"]
