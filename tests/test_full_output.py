"""Standard output that finds no room, as where it is sent to a file on a full disk: one line and exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import forked
from dpcore.cli import main

pytestmark = pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
FIT = ("fit", "naive_bayes", "iris", "--epsilon", "0.1", "--out")
PRINTERS = {
    "predict": ("predict", "good.json", "iris"),
    "schema draft": ("schema", "draft", "rows.csv"),
    "schema show": ("schema", "show", "iris"),
    "plan": ("plan", "naive_bayes", "--schema", "iris", "--epsilon", "1"),
    "fit --json": (*FIT, "m.json", "--json"),
    "list-plugins": ("list-plugins",),
    "describe": ("describe", "laplace", "--json"),
    "ledger show": ("ledger", "show", "good.ledger"),
    "ledger verify": ("ledger", "verify", "good.ledger"),
    "check-plugin": ("check-plugin", "--list"),
    "help": ("--help",),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A working folder with a model, rows and a ledger."""
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("age,ward,outcome\n31,east,home\n64,west,stay\n7,east,home\n")
    assert main((*FIT, "good.json")) == 0
    assert main(("ledger", "init", "good.ledger", "--dataset", "iris", "--epsilon", "1")) == 0
    capsys.readouterr()


@pytest.mark.parametrize("verb", PRINTERS)
def test_output_that_finds_no_room_is_an_error(verb: str, folder: None) -> None:
    end, start = os.pipe()

    def work() -> int:
        printed = sys.stdout
        sys.stdout = open("/dev/full", "w")  # noqa: SIM115
        try:
            return main(PRINTERS[verb])
        finally:
            sys.stdout = printed

    code = forked.run(work, f"/dev/fd/{start}")
    os.close(start)
    with os.fdopen(end) as stream:
        said = stream.read()
    lines = [line for line in said.splitlines() if not line.startswith("dpcore: warning: ")]
    assert (code, lines) == (2, ["dpcore: No space left on device"])


def test_a_process_of_its_own_says_it_once(folder: None) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "dpcore.cli", *PRINTERS["predict"]],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr) == (2, "dpcore: No space left on device\n")
