"""`DPClassifier` is a scikit-learn classifier whose budget cannot be copied."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_backend
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import parametrize_with_checks

from dpcore import Budget, DPClassifier, Nominal, Numeric, Schema, load_plugins
from dpcore.errors import BudgetError, DpcoreError, InputError, NotPrivateError, ParameterError

EXPECTED_FAILURES: dict[str, str] = {}
"""None: every check that scikit-learn runs here must pass."""

SCHEMA = Schema(
    [Numeric("x", 0, 1), Nominal("colour", ["red", "green"], missing=True), Numeric("y", -5, 5)],
    Nominal("class", ["0", "1"]),
)


@parametrize_with_checks(
    [DPClassifier("naive_bayes", epsilon=1e6, schema="private", random_state=0)],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::FutureWarning")
def test_scikit_learns_checks_pass(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture
def rows() -> tuple[pd.DataFrame, Any]:
    draw = np.random.default_rng(0)
    x, z = draw.uniform(size=2000), draw.normal(size=2000).clip(-5, 5)
    colour = np.where(draw.uniform(size=2000) < 0.1, "?", draw.choice(["red", "green"], 2000))
    return pd.DataFrame({"x": x, "colour": colour, "y": z}), (x + z / 5 > 0.5).astype(int)


def test_without_a_schema_it_does_not_peek(rows: Any) -> None:
    with pytest.raises(InputError, match="needs a schema"):
        DPClassifier().fit(*rows)


def test_classes_have_the_type_of_y_and_columns_may_stand_in_any_order(rows: Any) -> None:
    X, y = rows
    model = DPClassifier(epsilon=20, schema=SCHEMA, random_state=1).fit(X[["y", "x", "colour"]], y)
    assert model.classes_.dtype == y.dtype
    assert list(model.feature_names_in_) == ["y", "x", "colour"]
    assert model.score(X[["y", "x", "colour"]], y) > 0.9
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X)


def test_pipelines_searches_and_cross_validation_work(rows: Any) -> None:
    X, y = rows
    model = DPClassifier(epsilon=50, schema=SCHEMA)
    assert cross_val_score(make_pipeline(FunctionTransformer(), model), X, y, cv=3).min() > 0.8
    grid = {"parameters": [{"bins": 2}, {"model": "moments"}], "epsilon": [1.0, 50.0]}
    assert GridSearchCV(model, grid, cv=2).fit(X, y).best_score_ > 0.8


def test_a_budget_shared_through_clone_is_one_budget(rows: Any) -> None:
    X, y = rows
    shared = Budget(epsilon=1.0)
    first = DPClassifier(epsilon=0.6, schema=SCHEMA, budget=shared).fit(X, y)
    assert shared.spent()[0] == pytest.approx(0.6)
    with pytest.raises(BudgetError, match="shared budget refuses"):
        clone(first).fit(X, y)
    assert shared.spent()[0] == pytest.approx(0.6)


def test_cross_validation_beyond_the_shared_budget_raises(rows: Any) -> None:
    X, y = rows
    shared = Budget(epsilon=1.0)
    model = DPClassifier(epsilon=0.3, schema=SCHEMA, budget=shared)
    with pytest.raises(BudgetError):
        cross_val_score(model, X, y, cv=5, error_score="raise")
    assert shared.spent()[0] <= 1.0


def test_a_fitted_classifier_pickles(rows: Any) -> None:
    X, y = rows
    model = DPClassifier(epsilon=1, schema=SCHEMA, random_state=0).fit(X, y)
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()


def test_arrays_of_numbers_are_read_in_the_schemas_order() -> None:
    draw = np.random.default_rng(1)
    matrix = draw.uniform(size=(500, 2))
    labels = np.where(matrix[:, 0] > 0.5, "yes", "no")
    schema = Schema([Numeric("a", 0, 1), Numeric("b", 0, 1)], Nominal("class", ["no", "yes"]))
    model = DPClassifier(epsilon=30, schema=schema, random_state=0).fit(matrix, labels)
    assert model.score(matrix, labels) > 0.9
    assert model.predict_proba(matrix).sum(axis=1) == pytest.approx(1)
    with pytest.raises(ValueError, match="features"):
        model.predict(matrix[:, :1])
    with pytest.raises(InputError, match="3 columns"):
        DPClassifier(schema=schema).fit(draw.uniform(size=(500, 3)), labels)


def test_an_array_is_neither_copied_nor_changed() -> None:
    matrix = np.random.default_rng(2).uniform(-2, 2, size=(300, 2))
    before = matrix.copy()
    schema = Schema([Numeric("a", 0, 1), Numeric("b", 0, 1)], Nominal("class", ["0", "1"]))
    matrix.setflags(write=False)
    DPClassifier(schema=schema).fit(matrix, np.arange(300) % 2)
    assert (matrix == before).all()


def test_wrong_rows_are_refused_without_showing_a_value(rows: Any) -> None:
    X, y = rows
    model = DPClassifier(schema=SCHEMA)
    with pytest.raises(InputError, match="'x'"):
        model.fit(X.assign(x=np.where(X.index == 3, np.inf, X["x"])), y)
    with pytest.raises(InputError, match="'class'") as caught:
        model.fit(X, np.where(y == 1, "canary", "1"))
    assert "canary" not in str(caught.value)
    with pytest.raises(InputError, match="one class"):
        model.fit(X, np.zeros(len(X), dtype=int))
    with pytest.raises(InputError, match="extra"):
        model.fit(X.assign(extra=1), y)
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_wrong_arguments_are_refused(rows: Any) -> None:
    for wrong in ({"epsilon": 0}, {"epsilon": -1.0}, {"delta": 1.0}, {"adjacency": "neighbour"}, {"accounting": "x"}):
        with pytest.raises(InputError):
            DPClassifier(schema=SCHEMA, **wrong).fit(*rows)
    with pytest.raises(ParameterError, match="'bins' parameter of NaiveBayes must be an int in the range"):
        DPClassifier(schema=SCHEMA, parameters={"bins": 0}).fit(*rows)
    with pytest.raises(ParameterError, match="no parameter 'bin'"):
        DPClassifier(schema=SCHEMA, parameters={"bin": 2}).fit(*rows)
    with pytest.raises(NotPrivateError):
        DPClassifier(schema=SCHEMA, parameters={"variant": "lopuhaa2021"}).fit(*rows)


def test_what_was_spent_is_stated(rows: Any) -> None:
    model = DPClassifier(epsilon=0.7, schema=SCHEMA, adjacency="replace-one").fit(*rows)
    assert model.privacy_["spent"]["epsilon"] == pytest.approx(0.7)
    assert model.privacy_["spent"]["epsilon"] <= 0.7
    assert model.privacy_["adjacency"] == "replace-one"
    assert model.privacy_["reproducible"] is False
    assert sum(step["epsilon"] for step in model.privacy_["steps"]) == pytest.approx(0.7)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_a_private_schema_and_the_fit_share_one_epsilon(rows: Any, adjacency: str) -> None:
    X, y = rows
    typed = X.assign(colour=pd.Categorical(X["colour"].where(X["colour"] != "?"), ["red", "green"]))
    shared = Budget(epsilon=40.0)
    model = DPClassifier(epsilon=40, schema="private", adjacency=adjacency, budget=shared, random_state=0)
    model.fit(typed, y)
    assert model.score(typed, y) > 0.85
    assert model.privacy_["spent"]["epsilon"] == pytest.approx(40)
    assert shared.spent()[0] == pytest.approx(40)
    assert shared.spent()[0] <= 40
    with pytest.raises(InputError, match="categories would have to be read"):
        DPClassifier(schema="private").fit(X, y)


def test_a_wrong_argument_costs_nothing_of_a_private_schema(rows: Any) -> None:
    X, y = rows
    for wrong in ({"parameters": {"bins": 0}}, {"classifier": "nothing"}, {"random_state": "x"}, {"allocator": "no"}):
        shared = Budget(epsilon=1.0)
        with pytest.raises(DpcoreError):
            DPClassifier(schema="private", budget=shared, **wrong).fit(X[["x", "y"]], y)
        assert shared.spent() == (0.0, 0.0)


# -- with a ledger --------------------------------------------------------------------------------


@pytest.fixture
def ledger(tmp_path: Path) -> Any:
    """A ledger of epsilon 1."""
    return load_plugins().get("ledger", "sqlite").create(tmp_path / "people.ledger", "people", 1.0)


def entries(ledger: Any) -> list[tuple[str, float]]:
    """Who spent what."""
    spent = [row for row in ledger.rows() if row.kind == "spend"]
    return [(json.loads(row.body)["learner"], row.epsilon / 1e9) for row in spent]


@pytest.mark.parametrize("form", ["path", "text", "ledger"])
def test_every_clone_spends_from_the_one_ledger(form: str, rows: Any, ledger: Any, tmp_path: Path) -> None:
    X, y = rows
    path = tmp_path / "people.ledger"
    where = {"path": path, "text": str(path), "ledger": ledger}[form]
    model = DPClassifier(epsilon=0.4, schema=SCHEMA, ledger=where)
    first = model.fit(X, y)
    clone(model).fit(X, y)
    with pytest.raises(BudgetError, match=r"costs epsilon = 0\.4, delta = 0, and epsilon = 0\.2, delta = 0 are left"):
        clone(clone(model)).fit(X, y)
    assert entries(ledger) == [("naive_bayes", 0.4)] * 2
    assert first.privacy_["ledger"]["dataset"] == "people"


def test_a_search_spends_every_fit_and_stops_where_the_ledger_refuses(rows: Any, ledger: Any) -> None:
    X, y = rows
    model = DPClassifier(epsilon=0.3, schema=SCHEMA, ledger=ledger)
    search = GridSearchCV(model, {"parameters": [{"bins": 2}, {"bins": 4}]}, cv=2, error_score="raise")
    with pytest.raises(BudgetError, match="refuses"):
        search.fit(X, y)
    assert entries(ledger) == [("naive_bayes", 0.3)] * 3
    assert ledger.remaining() == (pytest.approx(0.1), 0.0)


def test_threads_share_a_ledger_without_losing_an_entry(rows: Any, ledger: Any) -> None:
    X, y = rows
    model = DPClassifier(epsilon=0.1, schema=SCHEMA, ledger=ledger)
    with parallel_backend("threading", n_jobs=4):
        assert len(cross_val_score(model, X, y, cv=10)) == 10
    assert entries(ledger) == [("naive_bayes", 0.1)] * 10
    assert ledger.remaining() == (0.0, 0.0)


def test_a_private_schema_is_an_entry_of_its_own(rows: Any, tmp_path: Path) -> None:
    X, y = rows
    ledger = load_plugins().get("ledger", "sqlite").create(tmp_path / "people.ledger", "people", 100.0)
    model = DPClassifier(epsilon=60, schema="private", ledger=ledger).fit(X[["x", "y"]], y)
    assert entries(ledger) == [("private_schema", 12.0), ("naive_bayes", 48.0)]
    with pytest.raises(BudgetError, match="costs epsilon = 60, delta = 0, and epsilon = 40"):
        clone(model).fit(X[["x", "y"]], y)  # a schema that no fit could follow is not bought
    model.release_.save(tmp_path / "m.json")
    privacy = json.loads((tmp_path / "m.json").read_text())["privacy"]
    assert privacy == json.loads(json.dumps(model.privacy_))
    assert (privacy["schema"]["ledger"]["entry"], privacy["ledger"]["entry"]) == (1, 2)
    assert [row.entry for row in ledger.rows() if row.kind == "seal"] == [1, 2]


def test_the_file_of_a_model_states_what_its_private_schema_cost(rows: Any, tmp_path: Path) -> None:
    X, y = rows
    DPClassifier(epsilon=60, schema="private").fit(X[["x", "y"]], y).release_.save(tmp_path / "m.json")
    privacy = json.loads((tmp_path / "m.json").read_text())["privacy"]
    assert privacy["epsilon"] == 60
    assert privacy["spent"]["epsilon"] == pytest.approx(60)
    assert privacy["schema"]["epsilon"] == pytest.approx(12)


@pytest.mark.parametrize("schema", [SCHEMA, "private"], ids=["public", "private"])
def test_a_wrong_ledger_or_argument_is_found_before_anything_is_spent(
    schema: Any, rows: Any, ledger: Any, tmp_path: Path
) -> None:
    X, y = rows
    (tmp_path / "other.txt").write_text("no ledger")
    for where in (tmp_path / "none", tmp_path, tmp_path / "other.txt", 3):
        shared = Budget(1.0)
        with pytest.raises(InputError, match="ledger"):
            DPClassifier(schema=schema, ledger=where, budget=shared).fit(X[["x", "colour", "y"]].assign(colour=1.0), y)
        assert shared.spent() == (0.0, 0.0)
    for wrong in ({"parameters": {"bins": 0}}, {"random_state": "x"}, {"adjacency": "near"}, {"epsilon": -1}):
        with pytest.raises(DpcoreError):
            DPClassifier(schema=schema, ledger=ledger, **wrong).fit(X[["x", "colour", "y"]].assign(colour=1.0), y)
    with pytest.raises(BudgetError, match="add-remove adjacency"):
        DPClassifier(schema=schema, ledger=ledger, adjacency="replace-one").fit(X.assign(colour=1.0), y)
    assert entries(ledger) == []


def test_a_fitted_classifier_with_a_ledger_pickles_and_can_still_be_saved(
    rows: Any, ledger: Any, tmp_path: Path
) -> None:
    X, y = rows
    model = pickle.loads(pickle.dumps(DPClassifier(epsilon=0.5, schema=SCHEMA, ledger=ledger).fit(X, y)))
    model.release_.save(tmp_path / "m.json")
    assert [row.kind for row in ledger.rows()] == ["open", "spend", "seal"]


def test_the_schema_of_a_data_set_or_a_file_is_found_by_name(tmp_path: Any) -> None:
    iris = load_plugins().get("dataset", "iris")()
    frame = iris.frame()
    X, y = frame.drop(columns=iris.schema().target.name), frame[iris.schema().target.name]
    path = tmp_path / "iris.schema.json"
    path.write_text(json.dumps(iris.schema().to_json()))
    for schema in ("iris", str(path)):
        assert DPClassifier(epsilon=100, schema=schema, random_state=0).fit(X, y).score(X, y) > 0.85
    with pytest.raises(InputError, match=r"nearest: iris"):
        DPClassifier(schema="irsi").fit(X, y)
