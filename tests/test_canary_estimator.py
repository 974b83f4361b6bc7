"""`DPClassifier` tells no row: not in an error or what it came from, a warning, a log, a pickle or a saved model."""

from __future__ import annotations

import decimal
import logging
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse

from canary import DATE, NUMBER, TEXT, WHOLE, files_that_hold, holds, texts_of, told
from dpcore import DPClassifier, Schema

NUMERIC = Schema.from_json(
    {
        "attributes": [
            {"name": "fee", "type": "numeric", "lower": 0, "upper": 100_000},
            {"name": "age", "type": "numeric", "lower": 0, "upper": 1e13},
        ],
        "class": {"name": "outcome", "values": ["home", "stay"]},
    }
)
MIXED = Schema.from_json(
    {
        "attributes": [
            {"name": "fee", "type": "numeric", "lower": 0, "upper": 100_000},
            {"name": "ward", "type": "nominal", "values": ["east", "west"]},
        ],
        "class": {"name": "outcome", "values": ["home", "stay"]},
    }
)
SIZE = 12
X = np.tile([NUMBER, float(WHOLE)], (SIZE, 1))
Y = np.array(["home", "stay"] * (SIZE // 2))
FRAME = pd.DataFrame({"fee": X[:, 0], "ward": ["east", "west"] * (SIZE // 2)})


class Hostile:
    """A cell whose every method tells."""

    def fail(self, *args: Any) -> Any:
        raise KeyError(TEXT, NUMBER)

    __str__ = __repr__ = __float__ = __hash__ = __eq__ = __len__ = __iter__ = fail  # type: ignore[assignment]


class Talkative:
    """A cell that shows itself wherever it is printed, and is no number."""

    def __repr__(self) -> str:
        return TEXT

    def __float__(self) -> float:
        raise ZeroDivisionError(TEXT)


CELLS: dict[str, Any] = {
    "text": TEXT,
    "bytes": TEXT.encode(),
    "text that is not Unicode": TEXT + "\ud800",
    "text with a null": TEXT + "\0",
    "a date as text": DATE,
    "a date": pd.Timestamp(DATE),
    "a duration": pd.Timedelta(seconds=NUMBER),
    "a period": pd.Period(DATE, "D"),
    "an interval": pd.Interval(NUMBER, WHOLE),
    "a list": [TEXT, NUMBER],
    "a dict": {TEXT: NUMBER},
    "a set": frozenset([TEXT]),
    "an array": np.array([NUMBER, WHOLE]),
    "complex": complex(NUMBER, WHOLE),
    "an endless number": WHOLE * 10**400,
    "infinity": float("inf"),
    "NaN": float("nan"),
    "None": None,
    "pandas' NA": pd.NA,
    "a signalling NaN": decimal.Decimal("sNaN4711"),
    "a talkative object": Talkative(),
    "a hostile object": Hostile(),
}


def column(cell: Any, rest: Any) -> pd.Series[Any]:
    found = pd.Series([rest] * SIZE, dtype=object)
    found.iat[3] = cell
    return found


def matrix(cell: Any) -> Any:
    found = X.astype(object)
    found[3, 0] = cell
    return found


PLACES: dict[str, Callable[[Any], tuple[Any, Any, Any]]] = {
    "an array": lambda cell: (NUMERIC, matrix(cell), Y),
    "nested lists": lambda cell: (NUMERIC, matrix(cell).tolist(), Y),
    "a frame": lambda cell: (NUMERIC, pd.DataFrame({"fee": column(cell, NUMBER), "age": X[:, 1]}), Y),
    "a nominal column": lambda cell: (MIXED, FRAME.assign(ward=column(cell, "east")), Y),
    "the labels": lambda cell: (NUMERIC, X, column(cell, "home").to_numpy()),
    "the labels of a frame": lambda cell: (MIXED, FRAME, column(cell, "home")),
    "an array without a schema": lambda cell: ("private", matrix(cell), Y),
    "labels without a schema": lambda cell: ("private", X, column(cell, "home").to_numpy()),
    "a column without a schema": lambda cell: ("private", FRAME.assign(ward=column(cell, "east")), Y),
}
SHAPES: dict[str, tuple[Any, Any, Any]] = {
    "one dimension": (NUMERIC, X[:, 0], Y),
    "three dimensions": (NUMERIC, X[None], Y),
    "no dimension": (NUMERIC, NUMBER, Y),
    "a text": (NUMERIC, TEXT, Y),
    "a list of texts": (NUMERIC, [TEXT] * SIZE, Y),
    "rows of several lengths": (NUMERIC, [*X[1:].tolist(), [NUMBER]], Y),
    "a column too many": (NUMERIC, np.hstack([X, X]), Y),
    "texts only": (NUMERIC, np.full((SIZE, 2), TEXT), Y),
    "bytes only": (NUMERIC, np.full((SIZE, 2), TEXT.encode()), Y),
    "dates only": (NUMERIC, np.full((SIZE, 2), np.datetime64(DATE)), Y),
    "records": (NUMERIC, np.array([(TEXT, NUMBER)] * SIZE, dtype=[("a", "U20"), ("b", "f8")]), Y),
    "a dict": (NUMERIC, {"fee": [TEXT]}, Y),
    "a set": (NUMERIC, {TEXT}, Y),
    "a generator": (NUMERIC, (row for row in X), Y),
    "a sparse matrix": (NUMERIC, scipy.sparse.csr_matrix(X), Y),
    "a column twice": (NUMERIC, pd.DataFrame(X, columns=["fee", "fee"]), Y),
    "wrong rows in the index": (NUMERIC, pd.DataFrame(X, columns=["fee", "bed"], index=[TEXT] * SIZE), Y),
    "labels too few": (NUMERIC, X, Y[:5]),
    "labels in two columns": (NUMERIC, X, np.full((SIZE, 2), TEXT)),
    "continuous labels": (NUMERIC, X, X[:, 0] + np.arange(SIZE)),
    "whole numbers as labels": (NUMERIC, X, np.full(SIZE, WHOLE)),
    "one text as labels": (NUMERIC, X, TEXT),
    "sparse labels": (NUMERIC, X, scipy.sparse.csr_matrix(X[:, :1])),
}


@pytest.fixture
def assert_untold(caplog: pytest.LogCaptureFixture, capfd: Any) -> Callable[[Callable[[], Any]], BaseException | None]:
    """Calls something and asserts that neither its error nor anything it says tells a row; gives the error."""
    caplog.set_level(logging.DEBUG)

    def call(work: Callable[[], Any]) -> BaseException | None:
        error: BaseException | None = None
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                work()
            except Exception as raised:
                error = raised
        assert told(texts_of(error)) == []
        assert told(str(one.message) for one in warned) == []
        assert told([caplog.text, *capfd.readouterr()]) == []
        return error

    return call


@pytest.fixture(scope="module")
def fitted() -> dict[Any, DPClassifier]:
    """A classifier for each schema."""
    many = {"X": np.tile(X, (1000, 1)), "y": np.tile(Y, 1000)}
    found = {schema: DPClassifier(schema=schema, epsilon=5.0) for schema in (NUMERIC, MIXED, "private")}
    found[NUMERIC].fit(X, Y)
    found[MIXED].fit(FRAME, Y)
    found["private"].fit(many["X"], many["y"])
    return found


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_that_cannot_be_used_is_not_shown(place: str, cell: str, fitted: Any, assert_untold: Any) -> None:
    schema, rows, labels = PLACES[place](CELLS[cell])
    error = assert_untold(lambda: DPClassifier(schema=schema).fit(rows, labels))
    assert error is not None or cell not in ("text", "a list", "a hostile object") or schema == "private"
    for method in ("predict", "predict_log_proba"):
        assert_untold(lambda name=method: getattr(fitted[schema], name)(rows))
    assert_untold(lambda: fitted[schema].score(X if schema != MIXED else FRAME, labels))


@pytest.mark.parametrize("shape", SHAPES)
def test_rows_of_a_wrong_shape_are_not_shown(shape: str, fitted: Any, assert_untold: Any) -> None:
    schema, rows, labels = SHAPES[shape]
    assert assert_untold(lambda: DPClassifier(schema=schema).fit(rows, labels)) is not None
    assert_untold(lambda: fitted[schema].predict(rows))


@pytest.mark.parametrize("error", [ValueError, TypeError, KeyError, RuntimeError, MemoryError, OverflowError])
def test_a_learner_that_fails_shows_nothing_of_what_it_was_told(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch, assert_untold: Any
) -> None:
    """A learner never gets a row; what fails beneath it may have seen one, and is the error that its own came from."""

    def fail(*args: Any) -> None:
        try:
            float(TEXT)
        except ValueError:
            raise error("no answer") from ValueError(NUMBER)

    monkeypatch.setattr("dpcore.curator.Curator._release", fail)
    assert assert_untold(lambda: DPClassifier(schema=NUMERIC).fit(X, Y)) is not None


def test_neither_a_pickle_nor_a_saved_model_holds_a_row(fitted: Any, tmp_path: Path) -> None:
    assert holds(pickle.dumps(X))
    assert holds(pickle.dumps([TEXT]))
    ledger = tmp_path / "book"
    from dpcore.cli import main

    assert main(("ledger", "init", str(ledger), "--dataset", "rows", "--epsilon", "5")) == 0
    recorded = DPClassifier(schema=MIXED, ledger=ledger).fit(FRAME.set_index(pd.Index([TEXT] * SIZE)), Y)
    for number, one in enumerate((*fitted.values(), recorded)):
        assert holds(pickle.dumps(one)) == []
        assert told([repr(one), repr(one.privacy_), repr(one.plan_), repr(one.release_)]) == []
        one.release_.save(tmp_path / f"{number}.json")
    assert files_that_hold(tmp_path) == {}
