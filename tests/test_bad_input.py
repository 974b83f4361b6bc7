"""Rows, models and outputs that cannot be used: one clear line, exit code 2, nothing written, no value told.

Each table maps a claim to what is wrong and to words that the line must hold.
"""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from dpcore.cli import main

CANARY = "CANARY4711"
SCHEMA = {
    "title": "visits",
    "attributes": [
        {"name": "age", "type": "numeric", "lower": 0, "upper": 100, "integer": True},
        {"name": "fee", "type": "numeric", "lower": 0, "upper": 500},
        {"name": "ward", "type": "nominal", "values": ["east", "west"]},
    ],
    "class": {"name": "outcome", "values": ["home", "stay", "moved"]},
}
HEAD = "age,fee,ward,outcome\n"
BODY = "31,20.5,east,home\n64,300,west,stay\n7,99,east,home\n" * 5
ARFF = "@relation v\n@attribute age integer\n@attribute fee real\n@attribute ward {east,west}\n"
ARFF += "@attribute outcome {home,stay,moved}\n@data\n"
FIT = ("fit", "naive_bayes", "rows.csv", "--schema", "schema.json", "--epsilon", "1", "--out", "m.json")


def contents() -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in Path().rglob("*")}


@pytest.fixture
def refuses(capsys, tmp_path, monkeypatch):
    """Runs one command line; asserts that it is refused in one line with these words, and leaves no trace."""
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(HEAD + BODY)
    Path("schema.json").write_text(json.dumps(SCHEMA))

    def command(*args: str, says: tuple[str, ...], code: int = 2) -> None:
        before = contents()
        got = main(args)
        out, err = capsys.readouterr()
        lines = [line for line in err.splitlines() if not line.startswith("dpcore: warning: ")]
        assert (got, out, len(lines)) == (code, "", 1), err
        assert lines[0].startswith("dpcore: ")
        assert [word for word in says if word not in lines[0]] == [], lines[0]
        assert CANARY not in err
        assert "Traceback" not in err
        assert contents() == before

    return command


CSV = {
    "an empty file": ("", ("'rows.csv' is empty",)),
    "blank lines only": ("\n\n", ("'rows.csv' is empty",)),
    "a header only": (HEAD, ("no rows",)),
    "a column too few": ("age,ward,outcome\n1,east,home\n", ("lacks", "'fee'")),
    "a column too many": ("age,fee,ward,bed,outcome\n1,2,east,9,home\n", ("schema lacks", "'bed'")),
    "no class column": ("age,fee,ward\n1,2,east\n", ("lacks the class 'outcome'",)),
    "no header": (BODY, ("header must name them",)),
    "the same column twice": ("age,age,fee,ward,outcome\n1,1,2,east,home\n", ("columns 1 and 2", "same name")),
    "text in a numeric column": (HEAD + BODY + f"31,{CANARY},east,home\n", ("'fee' is numeric", "line 17")),
    "NaN": (HEAD + BODY + "31,NaN,east,home\n", ("'fee' is numeric", "1 cell is not a finite number")),
    "inf": (HEAD + BODY + "31,inf,east,home\n", ("'fee' is numeric", "1 cell is not a finite number")),
    "-inf": (HEAD + BODY + "31,-inf,east,home\n", ("'fee' is numeric", "1 cell is not a finite number")),
    "1e308": (HEAD + BODY + "31,1e308,east,home\n", ("'fee'", "1 value is infinite or beyond")),
    "a missing number": (HEAD + BODY + "31,,east,home\n", ("'fee'", "does not declare missing values")),
    "a missing category": (HEAD + BODY + "31,2,,home\n", ("'ward'", "list of 2 values")),
    "an unknown category": (HEAD + BODY + f"31,2,{CANARY},home\n", ("'ward'", "list of 2 values")),
    "an unknown class": (HEAD + BODY + f"31,2,east,{CANARY}\n", ("'outcome'", "list of 3 values")),
    "one class only": (HEAD + "31,2,east,home\n" * 9, ("same class", "'outcome'")),
    "a short line": (HEAD + BODY + f"{CANARY},2,east\n", ("line 17 has 3 cells", "header has 4")),
    "an open quote": (HEAD + BODY + f'31,2,east,"{CANARY}\n', ("quotes",)),
}


@pytest.mark.parametrize("verb", ["fit", "evaluate"])
@pytest.mark.parametrize("claim", CSV)
def test_rows_that_do_not_fit_the_schema_are_refused(refuses, claim, verb):
    text, says = CSV[claim]
    Path("rows.csv").write_text(text)
    args = FIT if verb == "fit" else (verb, "naive_bayes", "rows.csv", "--schema", "schema.json", "--folds", "2")
    refuses(*args, says=says)


FILES = {
    "text that is not UTF-8": ("rows.csv", b"\xff\xfe\x00age", "UTF-8"),
    "half a gzip file": ("rows.csv.gz", gzip.compress((HEAD + BODY).encode())[:-20], "not a whole gzip file"),
    "an unknown ending": ("rows.txt", (HEAD + BODY).encode(), "unknown ending"),
    "CSV called Parquet": ("rows.parquet", (HEAD + BODY).encode(), "not a whole Parquet file"),
    "CSV called ARFF": ("rows.arff", (HEAD + BODY).encode(), "ARFF header"),
    "ARFF without rows": ("rows.arff", ARFF.encode(), "no rows"),
    "ARFF without @data": ("rows.arff", ARFF.replace("@data", "").encode(), "without a @data line"),
    "a date in ARFF": ("rows.arff", ARFF.replace("real", "date").encode() + b"1,2,east,home\n", "type date"),
    "text in an ARFF number": ("rows.arff", f"{ARFF}31,{CANARY},east,home\n".encode(), "'fee' is numeric"),
    "an ARFF row too short": ("rows.arff", f"{ARFF}31,{CANARY}\n".encode(), "line 7"),
    "an ARFF value outside the list": ("rows.arff", f"{ARFF}31,2,{CANARY},home\n3,2,east,stay\n".encode(), "'ward'"),
}


@pytest.mark.parametrize("claim", FILES)
def test_files_that_are_not_what_they_seem_are_refused(refuses, claim):
    name, data, says = FILES[claim]
    Path(name).write_bytes(data)
    refuses(*(name if word == "rows.csv" else word for word in FIT), says=(name if says != "'ward'" else "", says))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"fee": CANARY}, ("'fee' is numeric", "15 cells are not a finite number")),
        ({"fee": float("inf")}, ("'fee' is numeric",)),
        ({"fee": None}, ("'fee'", "missing")),
        ({"fee": pd.Timestamp("2020-01-01")}, ("'fee'", "datetime64")),
        ({"ward": CANARY}, ("'ward'",)),
        ({"bed": 1}, ("'bed'",)),
    ],
    ids=str,
)
def test_parquet_columns_that_do_not_fit_the_schema_are_refused(refuses, change, says):
    pd.read_csv("rows.csv").assign(**change).to_parquet("rows.parquet")
    refuses(*("rows.parquet" if word == "rows.csv" else word for word in FIT), says=says)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ("missing.csv", ("there is no file 'missing.csv'",)),
        ("folder.csv", ("'folder.csv' is a directory",)),
        ("irs", ("neither a file nor a data set", "nearest: iris")),
    ],
)
@pytest.mark.parametrize("verb", ["fit", "evaluate", "predict"])
def test_data_that_is_not_there_is_named(refuses, verb, data, says, capsys):
    Path("folder.csv").mkdir()
    assert main(FIT) == 0
    capsys.readouterr()
    args = {
        "fit": (*FIT[:2], data, *FIT[3:]),
        "evaluate": ("evaluate", "naive_bayes", data, "--schema", "schema.json", "--folds", "2"),
        "predict": ("predict", "m.json", data),
    }
    refuses(*args[verb], says=says)


NEW = {
    "a column too few": ("age,ward\n1,east\n", ("lacks 'fee'",)),
    "a column too many": ("age,fee,ward,bed\n1,2,east,3\n", ("'bed'",)),
    "text in a numeric column": (f"age,fee,ward\n1,{CANARY},east\n", ("'fee' is numeric",)),
    "inf": ("age,fee,ward\n1,inf,east\n", ("'fee' is numeric",)),
    "1e308": ("age,fee,ward\n1,1e308,east\n", ("'fee'", "beyond")),
    "a header only": ("age,fee,ward\n", ("no rows",)),
    "an empty file": ("", ("is empty",)),
}


@pytest.mark.parametrize("claim", NEW)
def test_rows_that_cannot_be_classified_are_refused(refuses, claim, capsys):
    assert main(FIT) == 0
    capsys.readouterr()
    text, says = NEW[claim]
    Path("new.csv").write_text(text)
    refuses("predict", "m.json", "new.csv", says=says)


def test_a_class_never_seen_is_no_fault(refuses, capsys):
    assert "moved" not in BODY
    assert main(FIT) == 0
    assert main(("predict", "m.json", "rows.csv", "--proba")) == 0
    assert "P(moved)" in capsys.readouterr().out


DRAFTS = {
    "a missing file": (("none.csv",), ("no file 'none.csv'",)),
    "an empty file": (("empty.csv",), ("is empty",)),
    "an unknown class column": (("rows.csv", "--target", "bed"), ("no column 'bed'", "outcome")),
    "one class only": (("one.csv",), ("'outcome'",)),
    "a missing folder": (("rows.csv", "--out", "none/s.json"), ("no folder 'none'",)),
}


@pytest.mark.parametrize("claim", DRAFTS)
def test_no_schema_is_drafted_from(refuses, claim):
    Path("empty.csv").write_text("")
    Path("one.csv").write_text(HEAD + f"1,2,{CANARY},home\n" * 3)
    args, says = DRAFTS[claim]
    refuses("schema", "draft", *args, says=says)


def test_a_process_of_its_own_says_the_same(refuses):
    Path("rows.csv").write_text(HEAD + f"31,{CANARY},east,home\n")
    done = subprocess.run([sys.executable, "-m", "dpcore.cli", *FIT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("dpcore: 'rows.csv': attribute 'fee' is numeric")
    assert len(done.stderr.splitlines()) == 1
    assert CANARY not in done.stderr
