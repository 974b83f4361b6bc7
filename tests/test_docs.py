"""What the documents promise is what the commands do."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
SHAPES = {
    heading: json.loads(block)
    for heading, block in re.findall(r"^### (.*?)$.*?```json\n(.*?)```", TEXT, flags=re.MULTILINE | re.DOTALL)
}
SMALL = """
datasets = ["iris"]
folds = 2

[[learner]]
name = "naive_bayes"

[[learner]]
label = "moments"
name = "naive_bayes"
parameters = { model = "moments" }
"""
COMMANDS = {heading: shape for heading, shape in SHAPES.items() if heading.startswith("`")}


def dpcore(*words: str) -> str:
    done = subprocess.run([sys.executable, "-m", "dpcore.cli", *words], capture_output=True, text=True, check=True)
    return done.stdout


def missing(shape: Any, data: Any, where: str = "") -> list[str]:
    """The documented keys that the data lack; an empty object or list documents nothing of what is inside."""
    if isinstance(shape, dict):
        lost = [f"{where}.{key}" for key in shape if not isinstance(data, dict) or key not in data]
        return lost + [m for k in shape if k in data for m in missing(shape[k], data[k], f"{where}.{k}")]
    if isinstance(shape, list) and shape:
        return [f"{where}[]"] if not data else [m for row in data for m in missing(shape[0], row, f"{where}[]")]
    return []


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder to work in, with the ledger and the experiment that the documented commands name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.toml").write_text(SMALL)
    dpcore("ledger", "init", "iris.ledger", "--dataset", "iris", "--epsilon", "1")
    dpcore("fit", "naive_bayes", "iris", "--epsilon", "1", "--out", "m.json", "--ledger", "iris.ledger")


@pytest.mark.parametrize("heading", COMMANDS)
@pytest.mark.usefixtures("files")
def test_json_has_the_documented_keys(heading: str) -> None:
    words = shlex.split(heading.strip("`"))[1:]
    assert missing(COMMANDS[heading], json.loads(dpcore(*words))) == []


def test_a_model_file_has_the_documented_keys(tmp_path: Path) -> None:
    (heading,) = SHAPES.keys() - COMMANDS.keys()
    path = tmp_path / "m.json"
    words = shlex.split(re.findall(r"`dpcore (.*?)`", heading)[0])
    dpcore(*words, "--out", str(path))
    assert missing(SHAPES[heading], json.loads(path.read_text())) == []


def test_every_verb_and_every_shared_option_is_documented() -> None:
    verbs = re.findall(r"^  ([a-z-]+) ", dpcore("--help").split("Commands:")[1], flags=re.MULTILINE)
    assert all(f"`dpcore {verb} " in TEXT for verb in verbs)
    options = re.findall(r"(--[a-z-]+)", dpcore("plan", "--help"))
    assert all(option in TEXT for option in options if option not in ("--help", "--json"))


def test_the_readme_names_every_kind_of_plugin_and_every_package() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for folder in sorted((ROOT / "plugins").iterdir()):
        if (folder / "pyproject.toml").is_file():
            assert f"`{folder.name}`" in readme
    for contract in ("Mechanism", "SensitivityRule", "Classifier", "BudgetAllocator"):
        assert f"`dpcore.{contract}`" in readme
