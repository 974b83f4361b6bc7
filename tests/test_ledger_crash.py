"""Wherever a fit dies or a disk fails: spending is on record, no model is without its entry, none is half-written."""

from __future__ import annotations

import json
import os
import resource
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import forked
from disks import fill, small_disk
from dpcore import open_ledger
from dpcore.cli import main
from dpcore.curator import Curator
from dpcore.release import Release

SPARE = 1 << 20


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> Path:
    """A folder with a ledger of epsilon 1 in it, and a process that has loaded all that a fit needs."""
    monkeypatch.chdir(tmp_path)
    assert main(("fit", "naive_bayes", "iris", "--epsilon", "1", "--out", "old.json")) == 0
    assert main(("ledger", "init", "iris.ledger", "--dataset", "iris", "--epsilon", "1")) == 0
    capsys.readouterr()
    return tmp_path


def fit(out: str = "m.json", ledger: str = "iris.ledger", data: str = "iris") -> int:
    return main(("fit", "naive_bayes", data, "--epsilon", "0.1", "--ledger", ledger, "--out", out))


def state(ledger: str = "iris.ledger") -> tuple[int, int]:
    """How many spendings and seals a sound ledger holds."""
    assert main(("ledger", "verify", ledger)) == 0
    kinds = [row.kind for row in open_ledger(ledger).rows()]  # type: ignore[attr-defined]
    return kinds.count("spend"), kinds.count("seal")


def dying(place: Any, name: str, *, after: bool, times: int = 1) -> Callable[[], int]:
    """A fit whose process is gone before or after a function does its work for the n-th time."""
    real = getattr(place, name)
    calls: list[int] = []

    def deadly(*args: Any, **more: Any) -> Any:
        calls.append(1)
        if len(calls) == times and not after:
            os._exit(99)
        result = real(*args, **more)
        if len(calls) == times:
            os._exit(99)
        return result

    def work() -> int:
        setattr(place, name, deadly)
        return fit()

    return work


def journal() -> Any:
    from dpcore_budget import journal

    return journal


def ledger_class() -> Any:
    return type(open_ledger("iris.ledger"))


def release_module() -> Any:
    import dpcore.release

    return dpcore.release


# where a fit dies -> what is there afterwards: spendings, seals, models
POINTS = {
    "before the entry": (lambda: dying(ledger_class(), "spend", after=False), (0, 0, 0)),
    "within the entry's transaction": (lambda: dying(journal(), "append", after=True), (0, 0, 0)),
    "between the entry and the noise": (lambda: dying(ledger_class(), "spend", after=True), (1, 0, 0)),
    "before the first noise": (lambda: dying(Curator, "_release", after=False), (1, 0, 0)),
    "amid the noise": (lambda: dying(Curator, "_release", after=True), (1, 0, 0)),
    "between the noise and the saving": (lambda: dying(Release, "save", after=False), (1, 0, 0)),
    "within the seal's transaction": (lambda: dying(journal(), "append", after=True, times=2), (1, 0, 0)),
    "between the seal and the file": (lambda: dying(release_module(), "write_whole", after=False), (1, 1, 0)),
    "between the file and its name": (lambda: dying(os, "replace", after=False), (1, 1, 0)),
    "as soon as the file has its name": (lambda: dying(os, "replace", after=True), (1, 1, 1)),
}


@pytest.mark.parametrize("point", POINTS)
def test_a_fit_that_dies_leaves_no_model_without_its_entry(point: str, folder: Path) -> None:
    work, (spent, sealed, models) = POINTS[point]
    assert forked.run(work(), folder / "log") == 99, (folder / "log").read_text()
    assert state() == (spent, sealed)
    assert sorted(path.name for path in folder.glob("m*.json")) == ["m.json"] * models
    if models:
        assert main(("ledger", "verify", "iris.ledger", "--model", "m.json")) == 0
    assert fit("again.json") == 0  # and the ledger goes on
    assert state() == (spent + 1, sealed + 1)
    assert main(("ledger", "verify", "iris.ledger", "--model", "again.json")) == 0


def test_the_entry_is_on_record_before_any_noise(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, seen = Curator._release, []

    def watched(*args: Any) -> Any:
        seen.append(forked.run(lambda: state()[0]))  # by another process
        return real(*args)

    monkeypatch.setattr(Curator, "_release", watched)
    assert fit() == 0
    assert seen
    assert set(seen) == {1}


def test_a_ledger_whose_making_was_cut_short_says_so(folder: Path, capsys: Any) -> None:
    def work() -> int:
        real = journal().append
        journal().append = lambda *args, **more: (real(*args, **more), os._exit(99))
        return main(("ledger", "init", "new.ledger", "--dataset", "x", "--epsilon", "1"))

    assert forked.run(work) == 99
    assert main(("ledger", "show", "new.ledger")) == 2
    assert "'new.ledger' is not a ledger of dpcore" in capsys.readouterr().err


# -- disks that fail ------------------------------------------------------------------------------


@pytest.fixture
def disk(folder: Path) -> Iterator[Path]:
    """A disk of its own that is full in a moment, with a ledger on it."""
    with small_disk(folder / "disk", "256k") as place:
        assert main(("ledger", "init", "disk/iris.ledger", "--dataset", "iris", "--epsilon", "1")) == 0
        assert fit("m0.json", "disk/iris.ledger") == 0
        yield place


def test_on_a_full_disk_the_ledger_refuses_and_loses_nothing(disk: Path, capsys: Any) -> None:
    fill(disk)
    capsys.readouterr()
    assert fit("m1.json", "disk/iris.ledger") == 2
    assert capsys.readouterr().err == (
        "dpcore: cannot use the ledger 'disk/iris.ledger': the disk is full or has failed; nothing was released.\n"
    )
    assert not Path("m1.json").exists()
    assert state("disk/iris.ledger") == (1, 1)  # it can still be read
    (disk / "filler").unlink()
    assert state("disk/iris.ledger") == (1, 1)
    assert fit("m1.json", "disk/iris.ledger") == 0
    assert state("disk/iris.ledger") == (2, 2)


def test_a_disk_that_fills_before_the_seal_costs_the_model_not_the_record(
    disk: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Release.save

    def filled(self: Release, path: Any) -> None:
        fill(disk)
        real(self, path)

    with monkeypatch.context() as patched:
        patched.setattr(Release, "save", filled)
        capsys.readouterr()
        assert fit("m0.json", "disk/iris.ledger") == 2
    assert "the disk is full or has failed; nothing was released." in capsys.readouterr().err
    (disk / "filler").unlink()
    assert state("disk/iris.ledger") == (2, 1)
    # the model that was there before is untouched
    assert main(("ledger", "verify", "disk/iris.ledger", "--model", "m0.json")) == 0


def test_a_model_that_finds_a_full_disk_spoils_nothing(disk: Path, capsys: Any) -> None:
    old = Path("disk/m.json")
    old.write_text("old")
    fill(disk)
    capsys.readouterr()
    assert fit("disk/m.json", "iris.ledger") == 2
    assert capsys.readouterr().err == "dpcore: cannot write 'disk/m.json': No space left on device.\n"
    assert old.read_text() == "old"
    assert sorted(path.name for path in disk.iterdir()) == ["filler", "iris.ledger", "m.json"]
    assert state("iris.ledger") == (0, 0)  # found before anything was spent


def test_a_disk_for_reading_only_shows_and_verifies_but_takes_no_entry(disk: Path, capsys: Any) -> None:
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    capsys.readouterr()
    assert main(("ledger", "verify", "disk/iris.ledger", "--model", "m0.json")) == 0
    assert main(("ledger", "show", "disk/iris.ledger")) == 0
    capsys.readouterr()
    assert fit("m1.json", "disk/iris.ledger", "iris") == 2
    assert "cannot use the ledger 'disk/iris.ledger': it" in capsys.readouterr().err
    assert fit("disk/m1.json", "iris.ledger") == 2
    assert "cannot write 'disk/m1.json': " in capsys.readouterr().err
    assert main(("ledger", "init", "disk/x", "--dataset", "x", "--epsilon", "1")) == 2
    assert "cannot write the ledger 'disk/x': Read-only file system" in capsys.readouterr().err
    assert state("iris.ledger") == (0, 0)  # found before anything was spent
    assert not Path("m1.json").exists()


@pytest.mark.parametrize("size", [0, 600, 5_000, 9_000])
def test_a_file_that_may_not_grow_is_like_a_full_disk(size: int, folder: Path) -> None:
    def limited() -> int:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        return fit("old.json")

    before = Path("old.json").read_bytes()
    # what a limited process prints must not fall under its own limit
    ends = os.pipe()
    assert forked.run(limited, f"/dev/fd/{ends[1]}") == 2
    os.close(ends[1])
    with os.fdopen(ends[0]) as printed:
        (line,) = printed.read().splitlines()
    assert line == "dpcore: cannot use the ledger 'iris.ledger': the disk is full or has failed; nothing was released."
    assert Path("old.json").read_bytes() == before
    spent, sealed = state()
    assert (spent, sealed) in {(0, 0), (1, 0)}
    assert fit() == 0
    assert state() == (spent + 1, 1)


def test_a_model_that_may_not_grow_leaves_the_old_one(folder: Path) -> None:
    before = Path("old.json").read_bytes()

    def limited() -> int:
        real = Release.save

        def small(self: Release, path: Any) -> None:
            from dpcore import release

            write = release.write_whole

            def cramped(*args: Any) -> None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (500, SPARE))
                try:
                    write(*args)
                finally:
                    resource.setrlimit(resource.RLIMIT_FSIZE, (SPARE, SPARE))

            release.write_whole = cramped
            real(self, path)

        Release.save = small  # type: ignore[method-assign]
        return fit("old.json")

    assert forked.run(limited, folder / "log") == 2
    assert (folder / "log").read_text() == "dpcore: cannot write 'old.json': File too large.\n"
    assert Path("old.json").read_bytes() == before
    assert state() == (1, 1)
    assert sorted(path.name for path in folder.iterdir()) == ["iris.ledger", "log", "old.json"]
    assert json.loads(before)
