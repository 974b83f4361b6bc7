"""Puts components that are defined in a test where discovery would have found them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpcore.component import Component
from dpcore.discovery import Provided, discover
from dpcore.distributions import Plugin
from dpcore.registry import Registry, Row
from dpcore_testing.checks import Result, Subject, run_one
from dpcore_testing.checks.common import CONTRACTS

SUMMARY = "A component that is made for one test"


@pytest.fixture
def listed() -> Callable[..., Subject]:
    """Lists a class of a test module (and others that it works with) beside all installed components."""

    def make(cls: Any, *others: type, summary: str = SUMMARY, seconds: float = 0.0) -> Subject:
        rows, provided = [], []
        for one in (cls, *others):
            kind = next(k for k, contract in CONTRACTS.items() if isinstance(one, type) and issubclass(one, contract))
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", one.__name__).lower()
            component = Component(name, summary, f"{one.__module__}:{one.__qualname__}")
            provided.append(Provided(Plugin("test", "test-plugin", "1"), kind, component))
            rows.append(Row(name, kind, "test-plugin", "1", "ok", summary))
        installed, faults = discover()
        return Subject(Registry([*installed, *provided], faults), rows[0], seconds=seconds)

    return make


@pytest.fixture
def judge(listed: Callable[..., Subject]) -> Callable[..., Result]:
    """The result of one check on a class of a test module."""

    def run(check: str, cls: Any, *others: type, **options: Any) -> Result:
        return run_one(listed(cls, *others, **options), check)

    return run


@pytest.fixture
def fails(judge: Callable[..., Result]) -> Callable[..., str]:
    """What one check says of a class that it must fail."""

    def run(check: str, cls: Any, *others: type, **options: Any) -> str:
        result = judge(check, cls, *others, **options)
        assert result.status == "failed", result
        assert "\n" not in result.message
        return result.message

    return run


@pytest.fixture
def project(tmp_path: Path) -> Callable[..., Path]:
    """Writes a project with one module, which is not installed."""

    def write(code: str, *, name: str = "dpcore-sketch", module: str = "sketch", requires: str = "dpcore>=0.1") -> Path:
        folder = tmp_path / name
        (folder / "src").mkdir(parents=True, exist_ok=True)
        (folder / "src" / f"{module}.py").write_text(code)
        lines = ["[project]", f'name = "{name}"', 'version = "1"', f'dependencies = ["{requires}"]']
        lines += ["[project.entry-points.dpcore]", f'main = "{module}"']
        (folder / "pyproject.toml").write_text("\n".join(lines) + "\n")
        return folder

    return write
