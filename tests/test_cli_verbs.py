"""Every verb from end to end, in the shapes that scripts rely on."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from pathlib import Path

import attrs
import pandas as pd
import pytest

from dpcore.cli import main

SCHEMA = {
    "title": "visits",
    "attributes": [
        {"name": "age", "type": "numeric", "lower": 0, "upper": 100, "integer": True, "has_missing": True},
        {"name": "fee", "type": "numeric", "lower": 0, "upper": 500},
        {"name": "ward", "type": "nominal", "values": ["east", "west"], "has_missing": True},
    ],
    "class": {"name": "outcome", "values": ["home", "stay", "moved"]},
}
ROWS = [
    {"age": ["", "31", "64"][i % 3], "fee": f"{100 * (i % 4) + 0.5}", "ward": ["east", "west", ""][i % 3], "outcome": o}
    for i, o in enumerate(["home", "stay", "moved", "home"] * 15)
]
NUMBER = (int, float)


@attrs.frozen
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Runs one command line in this process, in a folder that holds the visits in every format."""
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame(ROWS)
    frame.to_csv("visits.csv", index=False)
    typed = frame.assign(age=pd.to_numeric(frame["age"]).astype("Int64"), fee=pd.to_numeric(frame["fee"]))
    typed.assign(ward=frame["ward"].replace("", None)).to_parquet("visits.parquet")
    header = ["@relation visits", "@attribute age integer", "@attribute fee numeric"]
    header += ["@attribute ward {east,west}", "@attribute outcome {home,stay,moved}", "@data"]
    lines = [",".join(cell or "?" for cell in row.values()) for row in ROWS]
    Path("visits.arff").write_text("\n".join([*header, *lines]) + "\n")
    Path("schema.json").write_text(json.dumps(SCHEMA))

    def command(*args: str, code: int = 0) -> Ran:
        got = main(args)
        ran = Ran(got, *capsys.readouterr())
        assert got == code, ran.err
        return ran

    return command


def has(data: dict, **types) -> None:
    """At least these keys, with values of these types."""
    for key, kind in types.items():
        assert isinstance(data[key], kind), key


def fitted(run, *args, data="iris", epsilon="10") -> dict:
    run("fit", "naive_bayes", data, "--epsilon", epsilon, "--out", "m.json", *args)
    return json.loads(Path("m.json").read_text())


def test_list_plugins_is_an_array_of_rows(run):
    for row in run("list-plugins", "--json").json:
        assert set(row) >= {"name", "kind", "dist", "version", "status", "summary", "detail"}
        assert all(isinstance(value, str) for value in row.values())


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("laplace", "mechanism"),
        ("global", "sensitivity"),
        ("naive_bayes", "classifier"),
        ("weights", "allocator"),
        ("iris", "dataset"),
    ],
)
def test_describe_shows_each_kind(run, name, kind):
    ran = run("describe", name, "--json")
    data = ran.json
    assert (data["name"], data["kind"], ran.err) == (name, kind, "")
    has(data, summary=str, parameters=list, capabilities=dict, notes=list)
    assert {"citation", "guarantee", "adjacency"} <= set(data)
    for parameter in data["parameters"]:
        assert set(parameter) >= {"name", "type", "default", "low", "high", "choices", "help"}
    assert name in run("describe", name).out


def test_a_plan_is_a_table_of_steps(run):
    ran = run("plan", "naive_bayes", "--schema", "iris", "--epsilon", "2", "--json")
    plan = ran.json
    assert ran.err == ""
    has(plan, classifier=str, epsilon=float, delta=float, adjacency=str, allocator=str, total_epsilon=float)
    assert (plan["epsilon"], plan["total_epsilon"]) == (2.0, pytest.approx(2.0))
    assert {"sepal_length", "sepal_width", "petal_length", "petal_width"} <= {step["step"] for step in plan["steps"]}
    for step in plan["steps"]:
        has(step, step=str, query=str, cells=int, sensitivity=NUMBER, mechanism=str, epsilon=NUMBER)
        has(step, scale=NUMBER, expected_error=NUMBER)


def test_plan_opens_no_data_file_and_fit_does(tmp_path):
    code = (
        "import json, os, sys\n"
        "opened = []\n"
        "sys.addaudithook(lambda event, args: event == 'open' and opened.append(str(args[0])))\n"
        "from dpcore.cli import main\n"
        "status = main(sys.argv[1:])\n"
        "print(json.dumps([status, [p for p in opened if '.csv' in os.path.basename(p)]]))\n"
    )

    def opened(*args: str) -> list[str]:
        command = [sys.executable, "-c", code, *args]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        status, files = json.loads(done.stdout.splitlines()[-1])
        assert status == 0
        return files

    for data in ("iris", "adult"):
        assert opened("plan", "naive_bayes", "--schema", data, "--epsilon", "1") == []
    assert len(opened("fit", "naive_bayes", "iris", "--epsilon", "1", "--out", str(tmp_path / "m.json"))) == 1


def test_a_model_holds_what_was_done_and_what_it_cost(run):
    model = fitted(run)
    has(model, format=str, classifier=str, schema=dict, privacy=dict, parameters=dict, model=dict)
    has(model["privacy"], epsilon=float, delta=float, adjacency=str, spent=dict, steps=list, reproducible=bool)
    assert model["privacy"]["spent"]["epsilon"] == pytest.approx(10)
    assert not model["privacy"]["reproducible"]


def test_fit_tells_its_cost_on_stderr_and_prints_json_alone(run):
    plain = run("fit", "naive_bayes", "iris", "--epsilon", "1", "--out", "a.json")
    assert plain.out == ""
    assert "epsilon = 1 spent, add-remove" in plain.err
    ran = run("fit", "naive_bayes", "iris", "--epsilon", "1", "--out", "b.json", "--json")
    assert (ran.json["epsilon"], ran.err) == (1.0, "")


def test_a_fit_predicts_with_probabilities_that_sum_to_one(run):
    fitted(run, epsilon="100")
    plain = run("predict", "m.json", "iris")
    assert plain.err == ""
    rows = list(csv.DictReader(io.StringIO(plain.out)))
    assert list(rows[0]) == ["prediction"]
    species = ["setosa", "versicolor", "virginica"]
    right = sum(row["prediction"] == species[i // 50] for i, row in enumerate(rows))
    assert right > 0.85 * len(rows) == 127.5
    run("predict", "m.json", "iris", "--proba", "--out", "p.csv")
    proba = pd.read_csv("p.csv")
    assert list(proba) == ["prediction", *(f"P({s})" for s in species)]
    assert list(proba["prediction"]) == [row["prediction"] for row in rows]
    assert (proba.iloc[:, 1:].sum(axis=1) - 1).abs().max() < 1e-4
    assert (proba.iloc[:, 1:].idxmax(axis=1) == "P(" + proba["prediction"] + ")").all()


def test_the_same_rows_in_any_format_give_the_same_model(run):
    models = [
        fitted(run, "--schema", "schema.json", "--seed", "3", data=f"visits.{ending}")
        for ending in ("csv", "arff", "parquet")
    ]
    assert models[0] == models[1] == models[2]
    assert models[0]["schema"]["class"]["values"] == ["home", "stay", "moved"]


def test_an_arff_header_is_a_schema_where_all_is_nominal(run):
    Path("t.arff").write_text("@relation t\n@attribute a {x,y}\n@attribute b {u,v}\n@data\nx,u\ny,v\n")
    model = fitted(run, "--schema", "t.arff", data="t.arff")
    assert model["schema"]["class"] == {"name": "b", "values": ["u", "v"]}


def test_prediction_needs_no_class_and_forgives_what_a_fit_would_not(run):
    fitted(run, "--schema", "schema.json", data="visits.csv")
    Path("new.csv").write_text("age,fee,ward\n31,100.5,east\n,,\n500,-3,north\n")
    lines = run("predict", "m.json", "new.csv").out.splitlines()
    assert len(lines) == 4
    assert set(lines[1:]) <= {"home", "stay", "moved"}


def test_a_seed_repeats_the_model_and_is_stamped_on_it(run):
    first, again, other = (fitted(run, "--seed", seed) for seed in ("5", "5", "6"))
    assert first == again
    assert first["model"] != other["model"]
    assert first["privacy"]["reproducible"]
    ran = run("fit", "naive_bayes", "iris", "--epsilon", "1", "--out", "m.json", "--seed", "1")
    assert "warning: --seed makes the noise repeatable" in ran.err


def test_without_a_seed_no_two_models_are_alike(run):
    assert fitted(run)["model"] != fitted(run)["model"]


def test_evaluate_gives_one_object_an_epsilon(run):
    args = ("--epsilon", "1,100", "--folds", "3", "--repeats", "2")
    ran = run("evaluate", "naive_bayes", "iris", *args, "--json")
    assert "not themselves private" in ran.err
    assert [row["epsilon"] for row in ran.json] == [1.0, 100.0]
    for row in ran.json:
        has(row, accuracy_mean=float, accuracy_sd=float, fit_seconds_mean=float)
        assert (row["folds"], row["repeats"]) == (3, 2)
        assert 0 <= row["majority_accuracy"] < row["non_private_accuracy"] <= 1
    assert ran.json[1]["accuracy_mean"] > 0.8
    again = run("evaluate", "naive_bayes", "iris", *args, "--json").json
    assert [r["accuracy_mean"] for r in again] == [r["accuracy_mean"] for r in ran.json]


def test_evaluate_draws_a_figure(run):
    args = ("--epsilon", "1,10", "--folds", "2", "--figure", "f.svg")
    run("evaluate", "naive_bayes", "visits.csv", "--schema", "schema.json", *args)
    assert "<svg" in Path("f.svg").read_text()


def test_a_schema_is_drafted_with_a_warning_and_shown(run):
    ran = run("schema", "draft", "visits.csv", "--out", "draft.json")
    assert "NOT PRIVATE" in ran.err
    data = json.loads(Path("draft.json").read_text())
    assert "NOT PRIVATE" in data["warning"]
    assert data["class"]["name"] == "outcome"
    assert run("schema", "show", "draft.json", "--json").json["class"]["name"] == "outcome"
    assert "age" in run("schema", "show", "draft.json").out
    fitted(run, "--schema", "draft.json", data="visits.csv")
