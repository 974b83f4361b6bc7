"""Full disks and folders for reading only: one clear line, exit code 2, nothing half-written and nothing lost."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import forked
from disks import fill, small_disk
from dpcore import open_ledger
from dpcore.cli import main
from dpcore.release import Release
from rights import obey_permissions

FIT = ("fit", "naive_bayes", "iris", "--epsilon", "0.1")
ROWS = "age,ward,outcome\n31,east,home\n64,west,stay\n7,east,home\n"

# verb -> its words, but for the place that it writes to
WRITERS: dict[str, Callable[[str], tuple[str, ...]]] = {
    "fit": lambda place: (*FIT, "--out", f"{place}/m.json"),
    "fit --ledger": lambda place: (*FIT, "--out", f"{place}/m.json", "--ledger", "good.ledger"),
    "predict": lambda place: ("predict", "good.json", "iris", "--out", f"{place}/p.csv"),
    "schema draft": lambda place: ("schema", "draft", "rows.csv", "--out", f"{place}/s.json"),
    "evaluate": lambda place: (
        *("evaluate", "naive_bayes", "iris", "--folds", "2", "--epsilon", "1"),
        *("--figure", f"{place}/f.png"),
    ),
    "ledger init": lambda place: ("ledger", "init", f"{place}/x.ledger", "--dataset", "x", "--epsilon", "1"),
    "new-plugin": lambda place: ("new-plugin", "echo", "--kind", "mechanism", "--out", f"{place}/echo"),
}
REPLACED = ("m.json", "p.csv", "s.json", "f.png")
"""What stands where those verbs write that may replace a file."""


@pytest.fixture
def folder(capsys: Any) -> Iterator[Path]:
    """A working folder that anyone may enter, with a model, rows, and a ledger of epsilon 1."""
    before = Path.cwd()
    made = Path(tempfile.mkdtemp(prefix="dpcore-full-"))
    made.chmod(0o755)
    os.chdir(made)
    try:
        Path("rows.csv").write_text(ROWS)
        assert main((*FIT, "--out", "good.json")) == 0
        assert main(("ledger", "init", "good.ledger", "--dataset", "iris", "--epsilon", "1")) == 0
        capsys.readouterr()
        yield made
    finally:
        os.chdir(before)
        shutil.rmtree(made)


def place_with_files(folder: Path, name: str) -> Path:
    """A folder in which something stands wherever a verb would write, and a ledger with one fit."""
    place = folder / name
    place.mkdir(exist_ok=True)
    for file in REPLACED:
        (place / file).write_text(f"the old {file}")
    assert main(("ledger", "init", f"{name}/iris.ledger", "--dataset", "iris", "--epsilon", "1")) == 0
    assert main((*FIT, "--out", "sealed.json", "--ledger", f"{name}/iris.ledger")) == 0
    return place


@pytest.fixture
def disk(folder: Path) -> Iterator[Path]:
    """A small disk of its own, with `place_with_files` on it."""
    with small_disk(folder / "disk", "512k"):
        yield place_with_files(folder, "disk")


def contents(place: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in place.rglob("*")}


def ledger_rows(path: str) -> list[str]:
    """The kinds of the rows of a ledger that verifies."""
    assert main(("ledger", "verify", path)) == 0
    return [row.kind for row in open_ledger(path).rows()]  # type: ignore[attr-defined]


def assert_refused(code: int, out: str, err: str, says: str) -> None:
    asides = ("dpcore: warning: ", "dpcore: these figures are computed")
    lines = [line for line in err.splitlines() if not line.startswith(asides)]
    assert (code, out, len(lines)) == (2, "", 1), err
    assert lines[0].startswith("dpcore: cannot ")
    assert says in lines[0]


@pytest.fixture
def in_fork() -> Callable[..., tuple[int, str]]:
    """Runs one command line in a fork, with fewer rights or a limit; gives its exit code and what it printed."""

    def run(*args: str, before: Callable[[], None] = lambda: None) -> tuple[int, str]:
        def work() -> int:
            before()
            return main(args)

        # what a limited process prints must not fall under its own limit
        end, start = os.pipe()
        code = forked.run(work, f"/dev/fd/{start}")
        os.close(start)
        with os.fdopen(end) as printed:
            return code, printed.read()

    return run


# -- what is written ------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", WRITERS)
def test_on_a_full_disk_nothing_is_written_and_nothing_lost(verb: str, disk: Path, capsys: Any) -> None:
    fill(disk)
    before = contents(disk)
    capsys.readouterr()
    code = main(WRITERS[verb]("disk"))
    assert_refused(code, *capsys.readouterr(), says="full" if verb == "ledger init" else "No space left on device")
    assert contents(disk) == before
    assert ledger_rows("good.ledger") == ["open"]  # found before anything was spent
    (disk / "filler").unlink()
    assert main(WRITERS[verb]("disk")) == 0  # and as soon as there is room, it works


@pytest.mark.parametrize("verb", WRITERS)
def test_on_a_disk_for_reading_only_nothing_is_written(verb: str, disk: Path, capsys: Any) -> None:
    before = contents(disk)
    subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
    capsys.readouterr()
    assert_refused(main(WRITERS[verb]("disk")), *capsys.readouterr(), says="disk/")
    assert contents(disk) == before
    assert ledger_rows("good.ledger") == ["open"]


@pytest.mark.parametrize("verb", WRITERS)
def test_in_a_folder_that_is_read_only_to_the_user_nothing_is_written(verb: str, folder: Path, in_fork: Any) -> None:
    place = place_with_files(folder, "locked")
    place.chmod(0o555)
    before = contents(place)
    code, printed = in_fork(*WRITERS[verb]("locked"), before=obey_permissions)
    assert_refused(code, "", printed, says="ermission denied" if verb != "ledger init" else "locked/x.ledger")
    assert contents(place) == before
    assert ledger_rows("good.ledger") == ["open"]


@pytest.mark.parametrize("verb", WRITERS)
def test_where_no_file_may_grow_nothing_is_written(verb: str, folder: Path, in_fork: Any) -> None:
    place = place_with_files(folder, "small")
    before = contents(place)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    code, printed = in_fork(*WRITERS[verb]("small"), before=limit)
    assert_refused(code, "", printed, says="")
    assert contents(place) == before
    assert ledger_rows("good.ledger") == ["open"]


def test_a_disk_that_fills_during_a_fit_costs_the_model_not_the_record(
    disk: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Release.save

    def late(self: Release, path: Any) -> None:
        fill(disk)
        real(self, path)

    before = contents(disk)
    monkeypatch.setattr(Release, "save", late)
    capsys.readouterr()
    code = main((*FIT, "--out", "disk/m.json", "--ledger", "good.ledger"))
    assert_refused(code, *capsys.readouterr(), says="cannot write 'disk/m.json': No space left on device.")
    (disk / "filler").unlink()
    assert contents(disk) == before
    assert ledger_rows("good.ledger") == ["open", "spend", "seal"]


# -- a ledger that cannot be written --------------------------------------------------------------


def test_a_ledger_on_a_full_disk_is_read_and_stays_whole(disk: Path, capsys: Any) -> None:
    fill(disk)
    before = Path("disk/iris.ledger").read_bytes()
    capsys.readouterr()
    code = main((*FIT, "--out", "m.json", "--ledger", "disk/iris.ledger"))
    assert_refused(code, *capsys.readouterr(), says="'disk/iris.ledger': the disk is full")
    assert not Path("m.json").exists()
    assert Path("disk/iris.ledger").read_bytes() == before
    assert ledger_rows("disk/iris.ledger") == ["open", "spend", "seal"]
    assert main(("ledger", "show", "disk/iris.ledger")) == 0


@pytest.mark.parametrize("locked", ["the folder", "the file", "both"])
def test_a_ledger_that_is_read_only_to_the_user_takes_no_entry(locked: str, folder: Path, in_fork: Any) -> None:
    place = place_with_files(folder, "books")
    (place / "iris.ledger").chmod(0o666 if locked == "the folder" else 0o444)
    place.chmod(0o777 if locked == "the file" else 0o555)
    before = (place / "iris.ledger").read_bytes()
    code, printed = in_fork(*FIT, "--out", "m.json", "--ledger", "books/iris.ledger", before=obey_permissions)
    assert_refused(code, "", printed, says="books/iris.ledger")
    assert not Path("m.json").exists()
    assert (place / "iris.ledger").read_bytes() == before
    assert ledger_rows("books/iris.ledger") == ["open", "spend", "seal"]
