"""Options, schemas, models and outputs that cannot be used: one clear line, exit code 2 or 3, nothing written.

Each table maps a claim to what is wrong and to words that the line must hold.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpcore.cli import main

SCHEMA: dict[str, Any] = {
    "title": "visits",
    "attributes": [
        {"name": "age", "type": "numeric", "lower": 0, "upper": 100},
        {"name": "ward", "type": "nominal", "values": ["east", "west"]},
    ],
    "class": {"name": "outcome", "values": ["home", "stay"]},
}
ROWS = "age,ward,outcome\n" + "31,east,home\n64,west,stay\n7,east,home\n" * 5


def contents() -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in Path().rglob("*")}


@pytest.fixture
def refuses(capsys, tmp_path, monkeypatch):
    """Runs one command line; asserts that it is refused in one line with these words, and leaves no trace."""
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text(ROWS)
    Path("schema.json").write_text(json.dumps(SCHEMA))
    Path("folder").mkdir()

    def command(*args: str, says: tuple[str, ...], code: int = 2) -> None:
        before = contents()
        got = main(args)
        out, err = capsys.readouterr()
        lines = [line for line in err.splitlines() if not line.startswith("dpcore: warning: ")]
        assert (got, out, len(lines)) == (code, "", 1), err
        assert lines[0].startswith("dpcore: ")
        assert [word for word in says if word not in lines[0]] == [], lines[0]
        assert "Traceback" not in err
        assert contents() == before

    return command


def fit(*args: str, epsilon: str = "1", out: str = "m.json", name: str = "naive_bayes") -> tuple[str, ...]:
    return ("fit", name, "rows.csv", "--schema", "schema.json", "--epsilon", epsilon, "--out", out, *args)


def evaluate(*args: str) -> tuple[str, ...]:
    return ("evaluate", "naive_bayes", "rows.csv", "--schema", "schema.json", "--folds", "2", *args)


POSITIVE = ("epsilon must be a finite number greater than 0",)
UNIT = ("delta must lie in [0, 1)",)
USAGE = {
    "epsilon 0": (fit(epsilon="0"), POSITIVE),
    "epsilon -1": (fit(epsilon="-1"), POSITIVE),
    "epsilon nan": (fit(epsilon="nan"), POSITIVE),
    "epsilon inf": (fit(epsilon="inf"), POSITIVE),
    "epsilon as text": (fit(epsilon="much"), ("--epsilon must be a number", "'much'")),
    "no epsilon": (fit()[:5] + fit()[7:], ("Missing option '--epsilon'",)),
    "one of many epsilons 0": (evaluate("--epsilon", "1,0"), POSITIVE),
    "a gap among many epsilons": (evaluate("--epsilon", "1,,2"), ("--epsilon must be a number",)),
    "delta 1": (fit("--delta", "1"), UNIT),
    "delta 2": (fit("--delta", "2"), UNIT),
    "delta -0.1": (fit("--delta", "-0.1"), UNIT),
    "delta nan": (fit("--delta", "nan"), UNIT),
    "delta as text": (fit("--delta", "x"), ("--delta must be a number",)),
    "an unknown verb": (("fitt",), ("'fitt'", "nearest: fit")),
    "an unknown option": (fit("--noise", "1"), ("--noise",)),
    "no arguments": (("fit",), ("Missing argument", "dpcore fit --help")),
    "an unknown learner": (fit(name="naive_bays"), ("'naive_bays'", "nearest: naive_bayes")),
    "a mechanism as learner": (fit(name="laplace"), ("no classifier is called 'laplace'",)),
    "an unknown component": (("describe", "laplas"), ("'laplas'", "nearest: laplace")),
    "an unknown mechanism": (fit("--mechanism", "laplas"), ("mechanism", "nearest: laplace")),
    "a mechanism that fits no step": (fit("--mechanism", "exponential"), ("'exponential' fits no step",)),
    "Gaussian noise without delta": (fit("--mechanism", "gaussian"), ("'gaussian' fits no step",)),
    "an unknown sensitivity": (fit("--sensitivity", "globl"), ("sensitivity", "nearest: global")),
    "an unknown allocator": (fit("--allocator", "unifrm"), ("allocator", "nearest: uniform")),
    "an unknown accounting": (fit("--accounting", "rdp"), ("accounting must be", "'rdp'")),
    "zCDP without delta": (fit("--accounting", "zcdp"), ("delta > 0",)),
    "an unknown adjacency": (fit("--adjacency", "swap"), ("adjacency must be add-remove or replace-one", "'swap'")),
    "a weight without a number": (fit("--weight", "age"), ("--weight takes", "'age'")),
    "a weight 0": (fit("--weight", "age=0"), ("finite numbers > 0", "'age'")),
    "a weight nan": (fit("--weight", "age=nan"), ("finite numbers > 0", "'age'")),
    "a weight for no step": (fit("--weight", "bed=1"), ("no step or group 'bed'",)),
    "a weight for another allocator": (fit("--weight", "age=1", "--allocator", "uniform"), ("'uniform' has none",)),
    "a parameter out of range": (
        fit("--set", "bins=0"),
        ("The 'bins' parameter of NaiveBayes must be an int in the range [1, 65536]", "Got '0' instead."),
    ),
    "a parameter of the wrong type": (fit("--set", "bins=1.5"), ("must be an int",)),
    "a parameter outside its choices": (fit("--set", "model=gauss"), ("must be a str among {'bins', ",)),
    "a parameter nan": (fit("--set", "smoothing=NaN"), ("'smoothing' parameter",)),
    "an unknown parameter": (fit("--set", "bns=3"), ("no parameter 'bns'", "bins")),
    "a parameter without a value": (fit("--set", "bins"), ("--set takes KEY=VALUE",)),
    "a parameter twice": (fit("--set", "bins=3", "--set", "bins=4"), ("--set bins is given twice",)),
    "a negative seed": (fit("--seed", "-1"), ("--seed", "-1")),
    "1 fold": (evaluate("--folds", "1"), ("folds must be between 2", "Got 1")),
    "-3 folds": (evaluate("--folds", "-3"), ("folds must be between 2", "Got -3")),
    "more folds than rows": (evaluate("--folds", "16"), ("folds must be between 2 and the number of rows",)),
    "0 repeats": (evaluate("--repeats", "0"), ("repeats must be at least 1",)),
    "a figure of an unknown kind": (evaluate("--figure", "f.xyz"), ("'f.xyz'", ".png, .svg, .pdf")),
    "a figure in a missing folder": (evaluate("--figure", "none/f.png"), ("no folder 'none'",)),
    "a model in a missing folder": (fit(out="none/m.json"), ("cannot write", "no folder 'none'")),
    "a model over a folder": (fit(out="folder"), ("'folder'", "it is a folder")),
    "a model under a file": (fit(out="rows.csv/m.json"), ("cannot write", "'rows.csv'")),
    "no schema": (("fit", "naive_bayes", "rows.csv", "--epsilon", "1", "--out", "m.json"), ("--schema", "public")),
    "a missing schema": (
        ("plan", "naive_bayes", "--schema", "no.json", "--epsilon", "1"),
        ("'no.json'", "No such file"),
    ),
    "an unknown data set's schema": (("schema", "show", "adlt"), ("'adlt'", "nearest: adult")),
}


@pytest.mark.parametrize("claim", USAGE)
def test_usage_is_refused(refuses, claim):
    args, says = USAGE[claim]
    refuses(*args, says=says)


def attribute(at: int, **changes: Any) -> Callable[[dict[str, Any]], Any]:
    return lambda schema: schema["attributes"][at].update(changes)


SCHEMAS = {
    "lower = upper": (attribute(0, lower=100), ("'age'", "lower must be less than upper")),
    "lower > upper": (attribute(0, lower=200), ("'age'", "lower must be less than upper")),
    "a bound nan": (attribute(0, upper=float("nan")), ("'age'", "upper must be a number")),
    "a bound inf": (attribute(0, upper=float("inf")), ("'age'", "upper must be a number")),
    "a bound as text": (attribute(0, upper="x"), ("'age'", "upper must be a number")),
    "an unknown type": (attribute(0, type="date"), ("'age'", "'date'")),
    "a value twice": (attribute(1, values=["east", "east"]), ("'ward'", "twice: east")),
    "no values": (attribute(1, values=[]), ("'ward'", "empty")),
    "a name twice": (attribute(1, name="age"), ("twice", "age")),
    "an attribute named as the class": (attribute(1, name="outcome"), ("twice", "outcome")),
    "no class": (lambda s: s.pop("class"), ("needs a 'class'",)),
    "one class value": (lambda s: s["class"].update(values=["home"]), ("'outcome' needs at least two values",)),
    "a class value twice": (lambda s: s["class"].update(values=["home", "home"]), ("'outcome'", "twice")),
    "no attributes": (lambda s: s.update(attributes=[]), ("at least one attribute",)),
    "a taxonomy with a gap": (
        lambda s: s.update(taxonomies={"ward": {"levels": [[["east"]]]}}),
        ("taxonomy of 'ward'", "exactly one group"),
    ),
}


@pytest.mark.parametrize("claim", SCHEMAS)
def test_a_schema_that_contradicts_itself_is_refused(refuses, claim):
    change, says = SCHEMAS[claim]
    schema = copy.deepcopy(SCHEMA)
    change(schema)
    Path("schema.json").write_text(json.dumps(schema))
    refuses("plan", "naive_bayes", "--schema", "schema.json", "--epsilon", "1", says=("'schema.json'", *says))


@pytest.mark.parametrize(("text", "says"), [("{", "not JSON"), ("", "not JSON"), ("[1]", "a JSON object")])
def test_a_file_that_is_no_schema_is_refused(refuses, text, says):
    Path("schema.json").write_text(text)
    refuses(*fit(), says=("'schema.json'", says))


def changed(change: Callable[[dict[str, Any]], Any]) -> Callable[[str], str]:
    def write(text: str) -> str:
        model = json.loads(text)
        change(model)
        return json.dumps(model)

    return write


MODELS = {
    "of another version": (changed(lambda m: m.update(format="dpcore-model/99")), ("'dpcore-model/99'",)),
    "truncated": (lambda text: text[: len(text) // 2], ("not a whole JSON file",)),
    "empty": (lambda _: "", ("not a whole JSON file",)),
    "some other JSON": (lambda _: "[]", ("not a model file",)),
    "of an unknown learner": (changed(lambda m: m.update(classifier="naive_bays")), ("nearest: naive_bayes",)),
    "of something that is no learner": (changed(lambda m: m.update(classifier="laplace")), ("no classifier",)),
    "without its numbers": (changed(lambda m: m.pop("model")), ("damaged", "'model'")),
    "with numbers for other classes": (changed(lambda m: m["model"].update(prior=[0.0])), ("damaged",)),
    "with a number that is none": (changed(lambda m: m["model"].update(prior=[0, float("nan")])), ("damaged",)),
    "with a damaged schema": (changed(lambda m: m["schema"].pop("class")), ("damaged", "'class'")),
}


@pytest.mark.parametrize("claim", MODELS)
def test_a_model_is_refused_that_is(refuses, claim, capsys):
    assert main(fit()) == 0
    capsys.readouterr()
    damage, says = MODELS[claim]
    Path("m.json").write_text(damage(Path("m.json").read_text()))
    refuses("predict", "m.json", "rows.csv", says=says)


@pytest.mark.parametrize(("out", "says"), [("none/p.csv", "no folder 'none'"), ("folder", "it is a folder")])
def test_predictions_need_a_place(refuses, out, says, capsys):
    assert main(fit()) == 0
    capsys.readouterr()
    refuses("predict", "m.json", "rows.csv", "--out", out, says=(says,))


def test_a_learner_that_asks_more_than_planned_is_refused_by_the_budget(refuses, monkeypatch):
    def greedy(self: object, curator: Any) -> None:
        curator.ask("age")
        curator.ask("age")

    monkeypatch.setattr("dpcore_naive_bayes.learner.NaiveBayes.learn", greedy)
    refuses(*fit(), says=("'age'", "once more"), code=3)


@pytest.mark.parametrize("verb", ["plan", "fit", "evaluate"])
def test_an_epsilon_too_small_for_any_signal_works_and_warns_once(refuses, capsys, verb):
    args = {
        "plan": ("plan", "naive_bayes", "--schema", "schema.json", "--epsilon", "1e-9"),
        "fit": fit(epsilon="1e-9"),
        "evaluate": evaluate("--epsilon", "1e-9,10"),
    }
    assert main(args[verb]) == 0
    (warning,) = [line for line in capsys.readouterr().err.splitlines() if "warning: " in line]
    assert warning.startswith("dpcore: warning: epsilon = 1e-09 is too small: the noise of one count is about ")
    assert "e+09 rows" in warning
