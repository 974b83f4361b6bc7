"""Where the tests find the rows of the UCI sets, and how they keep off the network and the user's cache."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest


@pytest.fixture
def data_folder() -> Path:
    folder = os.environ.get("DPCORE_DATA")
    if not folder:
        pytest.skip("needs the rows: set DPCORE_DATA to a folder of NAME.csv.gz")
    return Path(folder)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache instead of the user's."""
    monkeypatch.setattr("dpcore_datasets.rows.cache_folder", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
