"""A small disk of its own, for tests that fill it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """A new folder with a disk of that size on it, taken off again at the end; skips where that is not permitted."""
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("no mount command")
    if mounted.returncode:
        pytest.skip("mounting a small disk is not permitted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", place], check=True)


def fill(place: Path) -> None:
    """Leave not a page free."""
    with (place / "filler").open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(512))
        except OSError:
            pass
