"""A ledger, and what is written in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcore_budget.ledger import SqliteLedger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the ledger is."""
    return tmp_path / "people.ledger"


@pytest.fixture
def ledger(path: Path) -> SqliteLedger:
    """A ledger of epsilon 1 and delta 1e-5."""
    return SqliteLedger.create(path, "people", 1.0, 1e-5)
