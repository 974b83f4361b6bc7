"""Every verb, given what it cannot use: one clear line, the right exit code, nothing written, no budget spent.

Each line of the table is a command line and words that its error must hold.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from dpcore import load_plugins, open_ledger
from dpcore.cli import VERBS, main

HEAD = "age,ward,outcome\n"
INIT = "ledger init x --dataset x --epsilon"
FIT = "fit naive_bayes iris --epsilon 0.1 --out m.json"
NEW = "new-plugin echo --kind mechanism"
NAMES = "the name of a plugin is lower-case letters"
FINITE = "must be a finite number greater than 0"
EXPERIMENT = 'datasets = ["iris"]\nfolds = 2\n[[learner]]\nname = "naive_bayes"\n'

BAD = {
    "list-plugins extra": "unexpected extra argument (extra)",
    "list-plugins --verbose": "No such option '--verbose'",
    "describe": "Missing argument 'NAME'",
    "describe ''": "no component is called ''",
    "describe laplas": "nearest: laplace",
    "describe laplace --kind classifier": "no classifier is called 'laplace'",
    "describe laplace --kind zebra": "'zebra' is not one of",
    "describe laplace --json --bibtex": "exclude each other",
    "describe weights --bibtex": "names no source",
    "schema drop": "No such command 'drop'",
    "schema show": "Missing argument 'SCHEMA'",
    "schema show ''": "'' is neither a file nor a data set",
    "schema show folder": "Is a directory",
    "schema show rows.csv": "'rows.csv' is not JSON",
    "schema show none.json": "'none.json': No such file",
    "schema draft": "Missing argument 'DATA'",
    "schema draft folder": "unknown ending",
    "schema draft none.csv": "no file 'none.csv'",
    "schema draft rows.csv --target bed": "no column 'bed'",
    "schema draft rows.csv --out folder": "it is a folder",
    "schema draft rows.csv --out /dev/null": "not a regular file",
    "plan naive_bayes": "Missing option '--schema'",
    "plan naive_bayes --schema iris": "Missing option '--epsilon'",
    "plan naive_bayes --schema iris --epsilon ''": "--epsilon must be a number. Got ''.",
    "plan naive_bayes --schema iris --epsilon 1e400": FINITE,
    "plan naive_bayes --schema iris --epsilon 1e-320": "too small",
    "plan naive_bayes --schema irs --epsilon 1": "nearest: iris",
    "plan laplace --schema iris --epsilon 1": "no classifier is called 'laplace'",
    "fit": "Missing argument 'NAME'",
    "fit '' iris --epsilon 1 --out m.json": "no classifier is called ''",
    "fit naive_bayes '' --epsilon 1 --out m.json": "'' is neither a file nor a data set",
    "fit naive_bayes iris --epsilon 1 --out ''": "it is a folder",
    "fit naive_bayes iris --epsilon 1": "Missing option '--out'",
    "fit naive_bayes rows.csv --epsilon 1 --out m.json": "a schema is needed",
    "fit naive_bayes db://x --schema iris --epsilon 1 --out m.json": "no installed plugin opens db:// tables",
    f"{FIT} --ledger none": "the ledger 'none' does not exist",
    f"{FIT} --ledger ''": "an empty text",
    f"{FIT} --ledger folder": "the ledger 'folder' is a folder",
    f"{FIT} --ledger rows.csv": "'rows.csv' is not a ledger of dpcore",
    f"{FIT} --ledger rows.csv/x": "'rows.csv/x' does not exist",
    f"{FIT} --ledger stone://book": "no ledger is called 'stone'",
    f"{FIT} --ledger sqlite://": "''",
    f"{FIT} --ledger book --ledger none": "the ledger 'none' does not exist",
    "fit naive_bayes iris --epsilon 0.1 --out book --ledger book": "it is the ledger",
    "fit naive_bayes iris --epsilon 0.1 --out ./book-wal --ledger book": "it is the ledger",
    "fit naive_bayes iris --epsilon nan --out m.json --ledger book": FINITE,
    f"{FIT} --ledger book --set bins=0": "'bins'",
    f"{FIT} --ledger book --seed -1": "--seed",
    "predict": "Missing argument 'MODEL'",
    "predict rows.csv": "Missing argument 'DATA'",
    "predict folder iris": "Is a directory",
    "predict none.json iris": "'none.json': No such file",
    "predict rows.csv iris": "'rows.csv' is not a whole JSON file",
    "predict rows.csv iris --out folder": "it is a folder",
    "predict '' iris": "cannot read the model",
    "evaluate naive_bayes": "Missing argument 'DATA'",
    "evaluate naive_bayes iris --epsilon ''": "--epsilon must be a number. Got ''.",
    "evaluate naive_bayes iris --folds x": "'x' is not a valid integer",
    "evaluate naive_bayes iris --folds 151": "folds must be between 2 and the number of rows",
    "evaluate naive_bayes iris --seed 4294967296": "not in the range",
    "evaluate naive_bayes iris --repeats 1000000000": "not in the range",
    "evaluate naive_bayes iris --figure ''": "a figure's name ends with",
    "evaluate naive_bayes iris --figure none/f.png": "no folder 'none'",
    "ledger open x": "No such command 'open'",
    "ledger init": "Missing argument 'PATH'",
    "ledger init x --epsilon 1": "Missing option '--dataset'",
    "ledger init x --dataset x": "Missing option '--epsilon'",
    f"{INIT} 0": FINITE,
    f"{INIT} -1": FINITE,
    f"{INIT} inf": FINITE,
    f"{INIT} 1e30": "lies between 1e-9 and 1e+09",
    f"{INIT} 1e-30": "lies between 1e-9 and 1e+09",
    f"{INIT} 1 --delta -1": "delta must lie in [0, 1)",
    f"{INIT} 1 --adjacency near": "adjacency must be add-remove or replace-one",
    r"ledger init x --dataset 'a\nb' --epsilon 1".replace(r"\n", "\n"): "printable text",
    "ledger init book --dataset x --epsilon 1": "a ledger is never overwritten",
    "ledger init folder --dataset x --epsilon 1": "a ledger is never overwritten",
    "ledger init none/x --dataset x --epsilon 1": "No such file or directory",
    "ledger show": "Missing argument 'PATH'",
    "ledger show none": "the ledger 'none' does not exist",
    "ledger show folder": "is a folder",
    "ledger show rows.csv": "'rows.csv' is not a ledger of dpcore",
    "ledger show empty": "'empty' is not a ledger of dpcore",
    "ledger show book --entries": "No such option '--entries'",
    "ledger verify": "Missing argument 'PATH'",
    "ledger verify none": "the ledger 'none' does not exist",
    "ledger verify rows.csv": "'rows.csv' is not a ledger of dpcore",
    "ledger verify book book": "unexpected extra argument",
    "ledger verify book --model none": "cannot read the model 'none'",
    "ledger verify book --model folder": "cannot read the model 'folder'",
    "compare": "Missing argument 'EXPERIMENT'",
    "compare none.toml": "cannot read the experiment 'none.toml'",
    "compare rows.csv": "is no TOML file",
    "compare folder": "folder",
    "compare learner.toml": "no classifier is called 'naive_bays'; nearest: naive_bayes",
    "compare key.toml": "the experiment has no 'fold'; nearest: 'folds'",
    "compare sound.toml --jobs 0": "not in the range",
    "compare sound.toml --learner svn": "svn",
    "compare sound.toml --data irs": "irs",
    "compare sound.toml --out results.xls": "results.xls",
    "audit": "give one of NAME, --all, --published and --estimator",
    "audit ''": "no component is called ''",
    "audit laplas": "nearest: laplace",
    "audit laplace extra": "unexpected extra argument (extra)",
    "audit laplace --all": "give one of",
    "audit --all --published": "give one of",
    "audit --all --black-box": "--black-box is for one NAME or --estimator",
    "audit ./none": "'none/pyproject.toml': No such file",
    "audit folder/": "'folder/pyproject.toml': No such file",
    "audit iris": "an audit is for a classifier, mechanism or sensitivity; 'iris' is a dataset",
    "audit naive_bayes --kind zebra": "--kind must be classifier, mechanism or sensitivity. Got 'zebra'.",
    "audit naive_bayes --kind mechanism": "'naive_bayes' is a classifier",
    "audit laplace --adjacency near": "'near' is not one of",
    "audit laplace --epsilon 0": FINITE,
    "audit laplace --epsilon much": "--epsilon must be a number",
    "audit laplace --delta 2": "delta must lie in [0, 1)",
    "audit laplace --delta -1": "delta must lie in [0, 1)",
    "audit laplace --delta nan": "delta must lie in [0, 1)",
    "audit laplace --seconds 0": FINITE,
    "audit laplace --seconds inf": FINITE,
    "audit laplace --seed -1": "not in the range",
    "audit laplace --set x=1": "no parameter 'x'",
    "audit laplace --set x": "--set takes KEY=VALUE",
    "audit naive_bayes --set bins=0": "'bins'",
    "audit naive_bayes --schema none.json": "'none.json'",
    "audit laplace --black-box": "--black-box is for one classifier",
    "audit naive_bayes --black-box --trials 1": "not in the range",
    "audit naive_bayes --black-box --schema none.json": "'none.json'",
    "audit --estimator sklearn.naive_bayes:GaussianNB": "--estimator needs --black-box",
    "audit --estimator nowhere:X --black-box": "cannot be imported",
    "audit --estimator : --black-box": "an estimator is named module:Class",
    "audit --estimator math:pi --black-box": "no class 'pi'",
    "audit --estimator sklearn.naive_bayes:GaussianNB --black-box --set a=1": "no parameter 'a'",
    "audit --estimator sklearn.naive_bayes:GaussianNB --black-box": "say which epsilon it claims",
    "check-plugin": "give NAME, PATH or DIST, or --list",
    "check-plugin laplace --list": "give NAME, PATH or DIST, or --list",
    "check-plugin ''": "no component is called ''",
    "check-plugin laplas": "nearest: laplace",
    "check-plugin ./none": "'none/pyproject.toml': No such file",
    "check-plugin folder/": "'folder/pyproject.toml': No such file",
    "check-plugin broken/": "'broken/pyproject.toml'",
    "check-plugin laplace --only loudness": "no check 'loudness'",
    "check-plugin laplace --seconds -1": "not in the range",
    "check-plugin laplace --seconds nan": "not a finite number",
    "check-plugin laplace --seconds inf": "not a finite number",
    "check-plugin laplace --seconds soon": "not a valid float",
    "check-plugin laplace --seed -1": "not in the range",
    "new-plugin": "Missing argument 'NAME'",
    "new-plugin echo": "Missing option '--kind'",
    "new-plugin echo --kind zebra": "'zebra' is not one of",
    "new-plugin '' --kind mechanism": NAMES,
    "new-plugin Echo --kind mechanism": NAMES,
    "new-plugin 1x --kind mechanism": NAMES,
    "new-plugin ../x --kind mechanism": NAMES,
    "new-plugin é --kind mechanism": NAMES,
    "new-plugin class --kind mechanism": "a keyword of Python",
    "new-plugin laplace --kind mechanism": "'laplace' exists already",
    f"{NEW} --out folder": "'folder' exists already",
    f"{NEW} --out rows.csv": "'rows.csv' exists already",
    f"{NEW} --out ''": "exists already",
    f"{NEW} --out none/echo": "no folder 'none'",
    f"{NEW} --out rows.csv/echo": "no folder 'rows.csv'",
    "fitt": "nearest: fit",
    "''": "''",
    "--loud": "No such option '--loud'",
    "--version=1": "does not take a value",
}
REFUSED = {
    "fit naive_bayes iris --epsilon 2 --out m.json --ledger book": "'book' refuses: this fit costs epsilon = 2",
    "fit naive_bayes iris --epsilon 0.5 --delta 0.1 --mechanism gaussian --out m.json --ledger book": "delta = 0.1",
    f"{FIT} --ledger book --adjacency replace-one": "promises nothing about a row more or less",
    f"{FIT} --ledger book --set variant=lopuhaa2021 --not-private": "no finite epsilon",
}
"""What only the budget forbids."""


def contents() -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in Path().rglob("*")}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A working folder with rows, a ledger of epsilon 1, and things that are not what they seem."""
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(HEAD + "31,east,home\n64,west,stay\n" * 4)
    Path("empty").write_text("")
    Path("sound.toml").write_text(EXPERIMENT)
    Path("key.toml").write_text(EXPERIMENT.replace("folds", "fold"))
    Path("learner.toml").write_text(EXPERIMENT.replace("naive_bayes", "naive_bays"))
    for name in ("folder", "broken"):
        Path(name).mkdir()
    Path("broken/pyproject.toml").write_text("[project\n")
    assert main(("ledger", "init", "book", "--dataset", "iris", "--epsilon", "1")) == 0
    capsys.readouterr()


@pytest.mark.parametrize("line", [*BAD, *REFUSED])
def test_it_is_refused_in_one_line(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents()
    code = main(shlex.split(line))
    out, err = capsys.readouterr()
    assert (code, out, len(err.splitlines())) == (3 if line in REFUSED else 2, "", 1), err
    assert err.startswith("dpcore: ")
    assert {**BAD, **REFUSED}[line] in err
    assert "Traceback" not in err
    assert contents() == before
    assert open_ledger("book").remaining() == (1.0, 0.0)


def test_they_are_many_and_spare_no_verb() -> None:
    assert len(BAD) + len(REFUSED) >= 60
    tried = {words[0] for line in BAD if (words := shlex.split(line))}
    assert tried >= {*VERBS, *load_plugins().names("command")}


@pytest.mark.parametrize("group", ["schema", "ledger"])
def test_a_group_of_verbs_alone_is_explained(group: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main((group,)) == 2
    out, err = capsys.readouterr()
    assert (out, err.split()[:3]) == ("", ["Usage:", "dpcore", group])
