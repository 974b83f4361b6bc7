"""A file is written whole or not at all, and nothing but a file is ever replaced."""

from __future__ import annotations

import os
import stat
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from dpcore.errors import InputError
from dpcore.writing import check_room, check_writable, write_whole


@pytest.mark.parametrize("at", ["fsync", "replace"])
@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), KeyboardInterrupt(), RuntimeError("boom")], ids=repr
)
def test_an_interrupted_write_leaves_nothing_and_spoils_nothing(
    at: str, error: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text("old")

    def fail(*args: Any) -> None:
        raise error

    monkeypatch.setattr(os, at, fail)
    for path in (kept, tmp_path / "new.json"):
        with pytest.raises(InputError if isinstance(error, OSError) else type(error)):
            write_whole(path, "new" * 10_000)
    assert [p.name for p in tmp_path.iterdir()] == ["kept.json"]
    assert kept.read_text() == "old"


def test_a_place_that_cannot_be_written_is_refused_beforehand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_text("x")
    for path, reason in ((tmp_path, "it is a folder"), (tmp_path / "no" / "m", "no folder"), (file / "m", "no folder")):
        for write in (check_writable, partial(write_whole, text="x")):
            with pytest.raises(InputError, match=reason):
                write(path)
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write anywhere
    with pytest.raises(InputError, match="permission denied"):
        check_writable(tmp_path / "m.json")
    assert file.read_text() == "x"


def test_neither_a_pipe_nor_a_device_is_replaced_by_a_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path(os.devnull)):
        with pytest.raises(InputError, match="not a regular file"):
            write_whole(path, "x")
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_the_folder_is_synced_after_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    sync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else "file")
        sync(handle)

    def renamed(*paths: Any) -> None:
        done.append("rename")
        replace(*paths)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", renamed)
    write_whole(tmp_path / "m.json", "x")
    assert done == ["file", "rename", "folder"]


def test_room_is_found_out_without_a_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept.json"
    kept.write_text("old")
    check_room(kept)
    check_room(tmp_path / "new.json")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for path in (kept, tmp_path / "new.json"):
        with pytest.raises(InputError, match="No space left on device"):
            check_room(path)
    assert [p.name for p in tmp_path.iterdir()] == ["kept.json"]
    assert kept.read_text() == "old"
