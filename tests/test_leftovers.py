"""A command leaves no file but those that it says it writes, wherever it is started."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RUNS = {
    "audit geometric --adjacency add-remove --seconds 0.1": [],
    "check-plugin uniform --only gives-fractions --seconds 0.1": [],
    "fit naive_bayes iris --epsilon 1 --out m.json": ["m.json"],
    "ledger init book --dataset iris --epsilon 1": ["book"],
}


@pytest.mark.parametrize("line", RUNS)
def test_only_what_was_asked_for_is_left(line: str, tmp_path: Path) -> None:
    for name in ("work", "temporary"):
        (tmp_path / name).mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "dpcore.cli", *line.split()],
        cwd=tmp_path / "work",
        env={**os.environ, "TMPDIR": str(tmp_path / "temporary")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (tmp_path / "work").iterdir()) == RUNS[line]
    assert list((tmp_path / "temporary").iterdir()) == []
