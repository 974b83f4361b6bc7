"""No command tells a row: not in a model, a ledger, a temporary file, a log, a warning, a figure or an error.

Rows hold values that stand nowhere else. Each command runs in a process that logs all it can and whose files are all
looked at afterwards, those that it removed as well. `dpcore schema draft` is the exception, and says so.
"""

from __future__ import annotations

import gzip
import json
import logging
import os
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pandas as pd
import pytest

import forked
from canary import NUMBER, TEXT, WHOLE, files_that_hold, told
from dpcore.cli import main
from dpcore.curator import Curator

SCHEMA = {
    "attributes": [
        {"name": "fee", "type": "numeric", "lower": 0, "upper": 100_000},
        {"name": "account", "type": "numeric", "lower": 0, "upper": 1e13, "integer": True},
        {"name": "ward", "type": "nominal", "values": ["east", "west"], "has_missing": True},
    ],
    "class": {"name": "outcome", "values": ["home", "stay"]},
}
HEAD = "fee,account,ward,outcome\n"
ROW = f"{NUMBER!r},{WHOLE},{TEXT},home\n"
ROWS = HEAD + (ROW + f"12.5,7,west,stay\n{NUMBER!r},{WHOLE},east,stay\n") * 20
ARFF = "@relation r\n@attribute fee real\n@attribute account integer\n@attribute ward {east,west}\n"
ARFF += "@attribute outcome {home,stay}\n@data\n"
FIT = ("fit", "naive_bayes", "rows.csv", "--schema", "schema.json", "--out", "m.json")
EVALUATE = ("evaluate", "naive_bayes", "rows.csv", "--schema", "schema.json", "--folds", "2", "--epsilon", "1")


@attrs.frozen
class Ran:
    code: int
    said: str


@pytest.fixture
def watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Runs a command in a process that keeps every file it removes or replaces; asserts that nothing tells a row."""
    work, kept = tmp_path / "work", tmp_path / "kept"
    for folder in (work, kept, tmp_path / "temporary"):
        folder.mkdir()
    monkeypatch.chdir(work)
    Path("schema.json").write_text(json.dumps(SCHEMA))
    Path("rows.csv").write_text(ROWS)

    def keep(event: str, args: tuple[Any, ...]) -> None:
        # numbered by what is there: the hook sees the file just before it goes
        if event in ("os.remove", "os.rename") and os.path.isfile(args[0]):
            shutil.copyfile(args[0], kept / str(len(os.listdir(kept))))

    def begin() -> None:
        os.environ["TMPDIR"] = str(tmp_path / "temporary")
        tempfile.tempdir = None
        os.environ.pop("DPCORE_DEBUG", None)
        warnings.simplefilter("always")
        logging.basicConfig(filename=tmp_path / "log", level=logging.DEBUG, force=True)
        logging.captureWarnings(True)
        sys.addaudithook(keep)

    def run(*args: str, code: int = 0, rows: str = "rows.csv", before: Callable[[], None] = lambda: None) -> Ran:
        assert files_that_hold(work)  # the rows themselves do

        def child() -> int:
            begin()
            before()
            return main(args)

        ran = Ran(forked.run(child, tmp_path / "said"), (tmp_path / "said").read_text())
        assert ran.code == code, ran.said
        assert told([*ran.said.splitlines(), *(tmp_path / "log").read_text().splitlines()]) == []
        assert list(files_that_hold(tmp_path)) == [str(work / rows)]
        (tmp_path / "said").unlink()
        return ran

    return run


def leave(text: str) -> None:
    """Write a temporary file and remove it again."""
    handle, name = tempfile.mkstemp()
    os.write(handle, text.encode())
    os.close(handle)
    os.unlink(name)


@pytest.mark.parametrize(
    ("args", "before"),
    [
        (("schema", "draft", "rows.csv"), lambda: None),
        (("schema", "draft", "rows.csv", "--out", "s.json"), lambda: None),
        (("list-plugins",), lambda: leave(repr(NUMBER))),
        (("list-plugins",), lambda: logging.getLogger("some.library").debug("read %r", NUMBER)),
        (("list-plugins",), lambda: warnings.warn(f"odd value {NUMBER:g}", stacklevel=1)),
    ],
    ids=["printed", "written", "removed", "logged", "warned"],
)
def test_the_watch_sees_a_row_that_is(args: tuple[str, ...], before: Callable[[], None], watch: Any) -> None:
    with pytest.raises(AssertionError, match=r"== \["):
        watch(*args, before=before)


# -- what is released -----------------------------------------------------------------------------

FITS = {
    "as it is": (),
    "moments": ("--set", "model=moments"),
    "many bins": ("--set", "bins=100"),
    "a seed": ("--seed", "3"),
    "Gaussian noise": ("--mechanism", "gaussian", "--delta", "1e-6"),
    "under replace-one": ("--adjacency", "replace-one"),
    "as published in 2013": ("--set", "variant=vaidya2013", "--not-private"),
    "as published in 2021": ("--set", "variant=lopuhaa2021", "--not-private"),
    "Laplace noise": ("--set", "model=moments", "--mechanism", "laplace"),
}


@pytest.mark.parametrize("claim", FITS)
def test_a_fit_tells_no_row(claim: str, watch: Any) -> None:
    watch(*FIT, "--epsilon", "1", *FITS[claim])
    assert Path("m.json").exists()


def test_a_fit_with_a_ledger_tells_no_row(watch: Any) -> None:
    watch("ledger", "init", "book", "--dataset", "rows", "--epsilon", "2")
    for args in ((), ("--set", "model=moments"), ("--json",)):
        watch(*FIT, "--epsilon", "0.5", "--ledger", "book", *args)
    watch(*FIT, "--epsilon", "1", "--ledger", "book", code=3)
    watch("ledger", "show", "book")
    watch("ledger", "show", "book", "--json")
    watch("ledger", "verify", "book", "--model", "m.json")


@pytest.mark.parametrize("model", ["bins", "moments"])
def test_a_fit_that_dies_amid_its_noise_leaves_no_row_behind(model: str, watch: Any) -> None:
    """Nor in the files that a ledger keeps beside its own while it is written."""
    watch("ledger", "init", "book", "--dataset", "rows", "--epsilon", "2")

    def deadly() -> None:
        from dpcore.release import Release

        def die(*args: Any) -> None:
            os._exit(99)

        Release.save = die  # type: ignore[method-assign]

    watch(*FIT, "--epsilon", "1", "--ledger", "book", "--set", f"model={model}", code=99, before=deadly)
    watch("ledger", "verify", "book")


def test_a_bug_is_told_by_its_place_only(watch: Any) -> None:
    def broken() -> None:
        def fail(self: Curator, *args: Any) -> None:
            raise RuntimeError(f"no bin for {TEXT} at {NUMBER}")

        Curator._release = fail  # type: ignore[assignment]

    ran = watch(*FIT, "--epsilon", "1", code=70, before=broken)
    assert "internal error: RuntimeError in " in ran.said
    assert not Path("m.json").exists()


def test_predictions_repeat_no_row(watch: Any) -> None:
    watch(*FIT, "--epsilon", "1")
    assert "P(home)" in watch("predict", "m.json", "rows.csv", "--proba").said
    watch("predict", "m.json", "rows.csv", "--out", "p.csv")


def test_an_evaluation_and_its_figure_tell_no_row(watch: Any) -> None:
    watch(*EVALUATE, "--json")
    watch(*EVALUATE, "--figure", "f.svg")


def test_what_reads_no_rows_tells_none(watch: Any) -> None:
    watch("plan", "naive_bayes", "--schema", "schema.json", "--epsilon", "1", "--json")
    watch("schema", "show", "schema.json", "--json")
    watch(*("audit", "naive_bayes", "--schema", "schema.json", "--adjacency", "add-remove", "--seconds", "0.01"))


# -- rows that cannot be used ---------------------------------------------------------------------

BAD = {
    "text for a number": f"{TEXT},1,east,home\n",
    "a number with a unit": f"{NUMBER} EUR,1,east,home\n",
    "a number beyond all": f"{WHOLE}e300,1,east,home\n",
    "a number without end": f"{WHOLE}{'0' * 400},1,east,home\n",
    "a missing number": f",{WHOLE},{TEXT},home\n",
    "an unknown class": f"{NUMBER},{WHOLE},east,{TEXT}\n",
    "a missing class": f"{NUMBER},{WHOLE},{TEXT},\n",
    "a cell too few": f"{NUMBER},{TEXT},home\n",
    "a cell too many": f"{NUMBER},{WHOLE},{TEXT},home,{TEXT}\n",
    "an open quote": f'{NUMBER},{WHOLE},"{TEXT},home\n',
    "a quote inside": f'{NUMBER},{WHOLE},east,"{TEXT}"{TEXT}\n',
    "a null character": f"{NUMBER},{WHOLE},{TEXT}\0,{TEXT}\n",
    "a comment": f"# {TEXT}\n",
}


@pytest.mark.parametrize("claim", BAD)
def test_rows_that_cannot_be_used_are_not_shown(claim: str, watch: Any) -> None:
    files = {
        "bad.csv": (ROWS + BAD[claim]).encode(),
        "bad.tsv": (ROWS + BAD[claim]).replace(",", "\t").encode(),
        "bad.csv.gz": gzip.compress((ROWS + BAD[claim]).encode(), compresslevel=0),
        "bad.arff": (ARFF + ROWS.removeprefix(HEAD).replace(TEXT, "east") + BAD[claim]).encode(),
        "a header too few.csv": (ROWS.removeprefix(HEAD) + BAD[claim]).encode(),
    }
    Path("rows.csv").unlink()
    for name, content in files.items():
        Path(name).write_bytes(content)
        ran = watch("fit", "naive_bayes", name, *FIT[3:], "--epsilon", "1", code=2, rows=name)
        assert len(ran.said.splitlines()) == 1
        Path(name).unlink()


@pytest.mark.parametrize(
    "change",
    [{"fee": TEXT}, {"fee": pd.Timestamp("2471-05-17")}, {"outcome": TEXT}, {"fee": [[TEXT]] * 60}, {TEXT: 1}],
    ids=["text", "a date", "a class", "a list", "a column"],
)
def test_cells_of_parquet_are_not_shown(change: dict[str, Any], watch: Any) -> None:
    if TEXT in change:
        change = {"bed": [TEXT] * 60}
    pd.read_csv("rows.csv").assign(**change).to_parquet("rows.parquet", compression=None)
    Path("rows.csv").unlink()
    watch("fit", "naive_bayes", "rows.parquet", *FIT[3:], "--epsilon", "1", code=2, rows="rows.parquet")


@pytest.mark.parametrize("claim", ["text for a number", "a number beyond all", "a cell too many", "an open quote"])
def test_rows_that_cannot_be_classified_are_not_shown(claim: str, watch: Any) -> None:
    watch(*FIT, "--epsilon", "1")
    Path("rows.csv").write_text(ROWS + BAD[claim])
    watch("predict", "m.json", "rows.csv", "--out", "p.csv", code=2)
    watch(*EVALUATE, code=2)
