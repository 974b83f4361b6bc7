"""Fixtures shared by the core's tests."""

from __future__ import annotations

import pytest

from dpcore.registry import Registry, load_plugins


@pytest.fixture(scope="session")
def registry() -> Registry:
    """The installed plugins; the core's tests reach them by name only."""
    return load_plugins()
