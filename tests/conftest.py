"""Plants the packages of `planted_plugins/` where discovery finds them, without installing anything."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

PLANTED = Path(__file__).parent / "planted_plugins"


@pytest.fixture(scope="session")
def planted_names() -> list[str]:
    """Every package that can be planted."""
    return sorted(folder.name for folder in PLANTED.iterdir() if (folder / "pyproject.toml").exists())


@pytest.fixture
def plant(tmp_path: Path) -> Callable[..., Path]:
    """Writes what pip would write for these packages into a folder, and returns it."""

    def make(*names: str) -> Path:
        for name in names:
            project = tomllib.loads((PLANTED / name / "pyproject.toml").read_text())["project"]
            for module in (PLANTED / name).glob("*.py"):
                shutil.copy(module, tmp_path)
            info = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
            info.mkdir()
            head = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}"]
            head += [f"Requires-Dist: {line}" for line in project["dependencies"]]
            (info / "METADATA").write_text("\n".join(head) + "\n")
            points = [f"{key} = {value}" for key, value in project["entry-points"]["dpcore"].items()]
            (info / "entry_points.txt").write_text("\n".join(["[dpcore]", *points]) + "\n")
            (info / "RECORD").write_text("")
        return tmp_path

    return make


@pytest.fixture
def dpcore(plant: Callable[..., Path]) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs one command line in its own process, with these packages planted beside the installed ones."""

    def run(*args: str, planted: tuple[str, ...] = (), disable: str = "") -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(plant(*planted)), "DPCORE_DISABLE": disable}
        env.pop("DPCORE_DEBUG", None)
        command = [sys.executable, "-m", "dpcore.cli", *args]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    return run
