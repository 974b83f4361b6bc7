"""A ledger from the command line: what is shown, what is refused, and that no private value gets into it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from dpcore.cli import main

CANARY = ("CANARY4711", "73519.25")
SCHEMA = {
    "attributes": [
        {"name": "fee", "type": "numeric", "lower": 0, "upper": 100_000},
        {"name": "ward", "type": "nominal", "values": ["east", "west"], "has_missing": True},
    ],
    "class": {"name": "outcome", "values": ["home", "stay"]},
}
ROWS = "fee,ward,outcome\n" + f"{CANARY[1]},{CANARY[0]},home\n12.5,west,stay\n" * 30
FIT = ("fit", "naive_bayes", "clients/people.csv", "--schema", "schema.json")


@attrs.frozen
class Ran:
    out: str
    err: str


@pytest.fixture
def run(capsys, tmp_path, monkeypatch) -> Callable[..., Ran]:
    """Runs one command line in a folder with rows, a schema, and a ledger of epsilon 1."""
    monkeypatch.chdir(tmp_path)
    Path("clients").mkdir()
    Path("clients/people.csv").write_text(ROWS)
    Path("schema.json").write_text(json.dumps(SCHEMA))

    def command(*args: str, code: int = 0) -> Ran:
        got = main(args)
        ran = Ran(*capsys.readouterr())
        assert got == code, ran.err
        assert "Traceback" not in ran.err
        return ran

    command("ledger", "init", "people.ledger", "--dataset", "people", "--epsilon", "1")
    return command


def fit(run, *args: str, epsilon: str = "0.3", out: str = "m.json", code: int = 0) -> Ran:
    return run(*FIT, "--epsilon", epsilon, "--out", out, "--ledger", "people.ledger", *args, code=code)


def shown(run) -> dict:
    return json.loads(run("ledger", "show", "people.ledger", "--json").out)


def refusal(ran: Ran) -> str:
    """The one line of a refusal."""
    lines = [line for line in ran.err.splitlines() if not line.startswith("dpcore: warning: ")]
    assert (ran.out, len(lines)) == ("", 1)
    return lines[0]


def test_ten_fits_of_a_tenth_are_the_budget_of_one(run):
    for number in range(10):
        ran = fit(run, epsilon="0.1", out=f"m{number}.json")
    assert "The ledger has epsilon = 0 left." in ran.err
    assert "the ledger 'people.ledger' refuses" in refusal(fit(run, epsilon="1e-9", out="m.json", code=3))
    assert not Path("m.json").exists()
    found = shown(run)
    assert found["spent"] == found["budget"] == {"epsilon": 1.0, "delta": 0.0}
    models = [word for number in range(10) for word in ("--model", f"m{number}.json")]
    run("ledger", "verify", "people.ledger", *models, "--head", found["head"])


def test_an_entry_says_all_that_is_public(run):
    fit(run, "--set", "bins=7", "--seed", "3")
    (entry,) = shown(run)["entries"]
    assert (entry["entry"], entry["epsilon"], entry["data"], entry["learner"]) == (1, 0.3, "people.csv", "naive_bayes")
    assert entry["parameters"]["bins"] == 7
    assert entry["guarantee"]["epsilon"] == pytest.approx(0.3)
    assert entry["guarantee"]["reproducible"] is True
    assert re.fullmatch(r"[0-9a-f]{64}", entry["schema"])
    assert re.fullmatch(r"[0-9a-f]{64}", entry["model"])
    privacy = json.loads(Path("m.json").read_text())["privacy"]
    assert privacy["ledger"] == {"dataset": "people", "entry": 1, "hash": entry["hash"]}
    text = run("ledger", "show", "people.ledger").out
    for part in ("ledger for people, add-remove", "bins=7", "people.csv", entry["model"][:12], entry["who"], "0.7"):
        assert part in text


def test_the_models_privacy_is_printed_with_its_entry(run):
    assert json.loads(fit(run, "--json").out)["ledger"]["entry"] == 1


def test_a_fit_that_left_no_model_is_shown_as_spent_and_is_no_fault(run, monkeypatch):
    def boom(*args: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("dpcore.release.Release.save", boom)
        assert fit(run, code=130).err.endswith("dpcore: interrupted\n")
    assert shown(run)["left"]["epsilon"] == 0.7
    assert shown(run)["entries"][0]["model"] is None
    assert "no model" in run("ledger", "show", "people.ledger").out
    run("ledger", "verify", "people.ledger")


def test_no_private_value_and_no_folder_reaches_the_ledger(run):
    for args in ((), ("--delta", "0.1"), ("--set", "variant=lopuhaa2021"), ("--set", "bins=2")):
        main((*FIT, "--epsilon", "0.2", "--out", "m.json", "--ledger", "people.ledger", *args))
    for path in Path().glob("people.ledger*"):
        content = path.read_bytes()
        for private in (*CANARY, "clients"):
            assert private.encode() not in content


def test_rows_of_another_name_are_warned_of(run):
    assert "warning" not in fit(run).err
    Path("visits.csv").write_text(ROWS)
    ran = run(
        "fit", "naive_bayes", "visits.csv", *FIT[3:], "--epsilon", "0.3", "--out", "m.json", "--ledger", "people.ledger"
    )
    assert "warning: the ledger is for 'people' and the rows are 'visits.csv'" in ran.err


WRONG = {
    "no file": ("none.ledger", "the ledger 'none.ledger' does not exist; `dpcore ledger init` makes one."),
    "a folder": ("clients", "the ledger 'clients' is a folder."),
    "rows": ("clients/people.csv", "'clients/people.csv' is not a ledger of dpcore"),
    "a path under a file": ("schema.json/x", "the ledger 'schema.json/x' does not exist"),
    "an unknown scheme": ("stone://x", "no ledger is called 'stone'; there are: sqlite."),
    "nothing": ("", "a ledger is a path, NAME://… or a Ledger. Got an empty text instead."),
}


@pytest.mark.parametrize("claim", WRONG)
def test_a_wrong_ledger_is_found_before_the_rows_are_read(claim, run):
    where, says = WRONG[claim]
    Path("clients/people.csv").write_text("unreadable")
    ran = run(*FIT, "--epsilon", "0.3", "--out", "m.json", "--ledger", where, code=2)
    assert says in refusal(ran)
    assert not Path("m.json").exists()


@pytest.mark.parametrize(
    ("args", "code", "says"),
    [
        (("--adjacency", "replace-one"), 3, "a fit under replace-one promises nothing about a row more or less"),
        (("--set", "variant=lopuhaa2021", "--not-private"), 3, "has no finite epsilon, which nothing pays"),
        (("--set", "variant=lopuhaa2021"), 2, "--not-private"),
        (("--out", "people.ledger"), 2, "cannot write 'people.ledger': it is the ledger."),
        (("--out", "people.ledger-wal"), 2, "it is the ledger."),
        (("--out", "none/m.json"), 2, "no folder 'none'"),
        (("--set", "bins=0"), 2, "'bins'"),
        (("--delta", "2"), 2, "delta"),
        (("--mechanism", "no"), 2, "no mechanism is called 'no'"),
    ],
)
def test_a_fit_that_cannot_be_costs_nothing(args, code, says, run):
    before = Path("people.ledger").read_bytes()
    assert says in refusal(fit(run, *args, code=code))
    assert Path("people.ledger").read_bytes() == before
    assert shown(run)["entries"] == []


def test_rows_that_do_not_fit_the_schema_cost_nothing(run):
    Path("clients/people.csv").write_text(f"fee,ward,outcome\n1,east,{CANARY[0]}\n")
    fit(run, code=2)
    assert shown(run)["entries"] == []


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("people.ledger", "--dataset", "people", "--epsilon", "1"), "'people.ledger' is there already"),
        (("none/x", "--dataset", "x", "--epsilon", "1"), "cannot write the ledger 'none/x': No such file or directory"),
        (("schema.json/x", "--dataset", "x", "--epsilon", "1"), "cannot write the ledger 'schema.json/x'"),
        (("x", "--dataset", "x", "--epsilon", "much"), "--epsilon must be a number. Got 'much'."),
        (("x", "--dataset", "x", "--epsilon", "nan"), "epsilon must be a finite number greater than 0"),
        (("x", "--dataset", "x", "--epsilon", "1", "--delta", "1"), "delta must lie in [0, 1)"),
        (("x", "--dataset", "x", "--epsilon", "1", "--adjacency", "near"), "adjacency must be add-remove or"),
        (("x", "--dataset", "", "--epsilon", "1"), "printable text"),
        (("x", "--epsilon", "1"), "Missing option '--dataset'"),
        (("x", "--dataset", "x"), "Missing option '--epsilon'"),
    ],
)
def test_no_ledger_is_made_of_wrong_words(args, says, run):
    before = Path("people.ledger").read_bytes()
    assert says in refusal(run("ledger", "init", *args, code=2))
    assert Path("people.ledger").read_bytes() == before
    assert not Path("x").exists()


@pytest.mark.parametrize("verb", ["show", "verify"])
@pytest.mark.parametrize("where", ["none.ledger", "clients", "schema.json"])
def test_what_is_no_ledger_is_neither_shown_nor_verified(verb, where, run):
    assert where in refusal(run("ledger", verb, where, code=2))


def test_a_replace_one_ledger_counts_an_add_remove_fit_twice(run):
    run("ledger", "init", "r.ledger", "--dataset", "people", "--epsilon", "1", "--adjacency", "replace-one")
    words = (*FIT, "--out", "m.json", "--ledger", "r.ledger")
    run(*words, "--epsilon", "0.4", "--adjacency", "replace-one")
    assert "epsilon = 0.2 left" in run(*words, "--epsilon", "0.2").err
    ran = run(*words, "--epsilon", "0.15", code=3)
    assert "costs epsilon = 0.3, delta = 0 (its add-remove guarantee counts twice under replace-one)" in ran.err


def test_tampering_is_one_line_a_fault_and_exit_code_1(run):
    import sqlite3

    fit(run)
    base = sqlite3.connect("people.ledger", isolation_level=None)
    base.execute("DROP TRIGGER journal_is_never_changed")
    base.execute("UPDATE journal SET epsilon = 1 WHERE kind = 'spend'")
    base.close()
    ran = run("ledger", "verify", "people.ledger", code=1)
    assert ran.out.splitlines() == [
        "journal_is_never_changed is missing: the file is not protected as it was made",
        "row 2 was changed: its content does not have its hash",
        "entry 1 was not charged what it costs: epsilon = 0.3, delta = 0",
    ]
    found = json.loads(run("ledger", "verify", "people.ledger", "--json", code=1).out)
    assert (found["ok"], found["faults"]) == (False, ran.out.splitlines())
    assert "no row has the hash" in run("ledger", "verify", "people.ledger", "--head", "ab" * 32, code=1).out


def test_a_model_can_be_held_against_the_ledger(run):
    fit(run)
    assert "people.ledger: ok, 1 entry, head" in run("ledger", "verify", "people.ledger", "--model", "m.json").out
    Path("m.json").write_text(Path("m.json").read_text() + " ")
    ran = run("ledger", "verify", "people.ledger", "--model", "m.json", code=1)
    assert ran.out == "m.json: it is not the file that entry 1 was sealed with\n"
    assert "cannot read the model 'none'" in run("ledger", "verify", "people.ledger", "--model", "none", code=2).err
