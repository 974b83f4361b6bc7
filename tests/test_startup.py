"""Discovery stays light: what a command has imported is counted, not how long it took."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {"numpy", "pandas", "scipy", "sklearn", "matplotlib", "pyarrow"}


def imported(*args: str) -> set[str]:
    """The modules that one command line has imported when it ends."""
    code = (
        "import sys, json, io, contextlib\n"
        "from dpcore.cli import main\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        f"    code = main({list(args)!r})\n"
        "print(json.dumps([code, sorted(sys.modules)]))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    code, modules = json.loads(done.stdout)
    assert code == 0
    return set(modules)


@pytest.mark.parametrize(
    "args",
    [("--help",), ("--version",), ("list-plugins",), ("list-plugins", "--json"), ("list-plugins", "-h")],
)
def test_listing_imports_no_heavy_library(args):
    assert HEAVY & imported(*args) == set()


def test_help_imports_no_verb_and_no_terminal_library():
    modules = imported("--help")
    assert {"rich", "rich_click", "packaging"} & modules == set()
    assert [name for name in modules if name.startswith("dpcore.cli.")] == []


def test_the_version_needs_no_plugin():
    assert {"pluggy", "dpcore.registry"} & imported("--version") == set()


def test_importing_the_package_imports_nothing_but_itself():
    code = "import sys, dpcore; print([m for m in sys.modules if m.startswith('dpcore')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "dpcore.registry" not in done.stdout
    assert "dpcore.hookspecs" not in done.stdout
