"""The checks of models fail what does not survive its file, predicts badly or keeps rows; one override a fault.

Those of plans and fits are in test_checks_classifiers.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

import attrs
import numpy as np
import pytest

from dpcore import Model, Nominal, Numeric, Schema
from dpcore_testing.checks.classifiers.models import numbers_in, strange_rows
from sound_learner import Pool, Sound, cells

# -- survives-its-file -------------------------------------------------------------------------------------------------


class NotPlain(Pool):
    def to_json(self) -> dict[str, Any]:
        return {"logs": self.logs}


class NotFinite(Pool):
    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "unknown": math.nan}


class Rounded(Pool):
    def to_json(self) -> dict[str, Any]:
        return {"logs": [np.round(log, 2).tolist() for log in self.logs]}


class Restamped(Pool):
    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "object": id(self)}


class Unreadable(Pool):
    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        return cls(schema, data["tables"])


def learner(model: type[Model], name: str) -> type:
    """The sound learner with another model; the name is where discovery finds it, in this module."""
    return type(name, (Sound,), {"model_class": model, "__module__": __name__})


LearnsNotPlain = learner(NotPlain, "LearnsNotPlain")
LearnsNotFinite = learner(NotFinite, "LearnsNotFinite")
LearnsRounded = learner(Rounded, "LearnsRounded")
LearnsRestamped = learner(Restamped, "LearnsRestamped")
LearnsUnreadable = learner(Unreadable, "LearnsUnreadable")


class AnotherModel(Sound):
    model_class = NotPlain

    def model(self, schema: Schema, logs: list[Any]) -> Any:
        return Pool(schema, logs)


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (LearnsNotPlain, "NotPlain.to_json() is not plain, finite JSON: Object of type ndarray"),
        (LearnsNotFinite, "NotFinite.to_json() is not plain, finite JSON: Out of range float"),
        (LearnsRounded, "read back from JSON, it predicts otherwise"),
        (LearnsRestamped, "read back from JSON, it writes another file"),
        (LearnsUnreadable, "read back from JSON, mixed schema, add-remove: KeyError"),
        (AnotherModel, "`learn` gives a Pool, `model_class` is NotPlain"),
    ],
)
def test_a_model_must_survive_its_file(fails, cls: type, words: str) -> None:
    assert words in fails("survives-its-file", cls)


# -- predicts-whatever-it-is-shown, ignores-the-class-column -----------------------------------------------------------


class KnowsTheListed(Pool):
    """An index past the table for a value that the schema does not list."""

    def scores(self, rows: Any) -> Any:
        pairs = zip(self.schema.attributes, self.logs, strict=True)
        return sum(log[:-1][cells(a).codes(rows.columns)] for a, log in pairs)


class NotNormalised(Pool):
    def log_proba(self, rows: Any) -> Any:
        return np.minimum(self.scores(rows), 0.0)


class Probabilities(Pool):
    def log_proba(self, rows: Any) -> Any:
        return np.exp(super().log_proba(rows))


class OneClassOnly(Pool):
    def log_proba(self, rows: Any) -> Any:
        return super().log_proba(rows).max(axis=1)


class Clips(Pool):
    """Values beyond the bounds are put at the bounds: in the rows of whoever asks."""

    def log_proba(self, rows: Any) -> Any:
        for a in self.schema.numeric():
            np.clip(rows.columns[a.name], a.lower, a.upper, out=rows.columns[a.name])
        return super().log_proba(rows)


class Peeks(Pool):
    def scores(self, rows: Any) -> Any:
        found = super().scores(rows)
        label = rows.columns.get(self.schema.target.name)
        if label is not None:
            found[np.arange(rows.size), label] += 1
        return found


class Demands(Pool):
    def scores(self, rows: Any) -> Any:
        return super().scores(rows) + 0.0 * rows.columns[self.schema.target.name][:, None]


LearnsKnowsTheListed = learner(KnowsTheListed, "LearnsKnowsTheListed")
LearnsNotNormalised = learner(NotNormalised, "LearnsNotNormalised")
LearnsProbabilities = learner(Probabilities, "LearnsProbabilities")
LearnsOneClassOnly = learner(OneClassOnly, "LearnsOneClassOnly")
LearnsClips = learner(Clips, "LearnsClips")
LearnsPeeks = learner(Peeks, "LearnsPeeks")
LearnsDemands = learner(Demands, "LearnsDemands")


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (LearnsKnowsTheListed, "predicting strange rows, mixed schema, add-remove: IndexError"),
        (LearnsNotNormalised, "the probabilities of 12 rows do not sum to 1"),
        (LearnsProbabilities, "log_proba holds NaN or positive numbers"),
        (LearnsOneClassOnly, "log_proba has shape (12,); it must be (12, 2)"),
        (LearnsClips, "predicting changes the rows that it is shown"),
        (LearnsDemands, "KeyError"),
    ],
)
def test_whatever_it_is_shown_must_get_probabilities(fails, cls: type, words: str) -> None:
    assert words in fails("predicts-whatever-it-is-shown", cls)


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (LearnsPeeks, "rows without the class column are predicted otherwise"),
        (LearnsDemands, "predicting rows without the class column, mixed schema, add-remove: KeyError"),
    ],
)
def test_the_class_of_a_row_must_not_tell_its_prediction(fails, cls: type, words: str) -> None:
    assert words in fails("ignores-the-class-column", cls)


def test_strange_rows_are_strange() -> None:
    schema = Schema([Nominal("colour", ["red", "green"]), Numeric("age", 0, 10)], Nominal("class", ["a", "b"]))
    rows = strange_rows(schema)
    assert list(rows.columns) == ["colour", "age"]
    assert max(rows.columns["colour"]) == 2
    assert np.isnan(rows.columns["age"]).any()
    assert np.nanmax(np.abs(rows.columns["age"])) == 1e99


# -- keeps-no-rows -----------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Keeper(Pool):
    kept: Any = None


class Keeps(Sound):
    model_class = Keeper

    def kept(self, curator: Any) -> Any:
        return None

    def learn(self, curator: Any) -> Any:
        return attrs.evolve(super().learn(curator), kept=self.kept(curator))


class KeepsTheCurator(Keeps):
    """For later questions, as its author says."""

    def kept(self, curator: Any) -> Any:
        return {"ask": curator.ask}


class KeepsAnArray(Keeps):
    def kept(self, curator: Any) -> Any:
        return {"examples": curator._table._rows.columns[curator.task.schema.target.name][:3]}


class KeepsAValue(Keeps):
    def kept(self, curator: Any) -> Any:
        numeric = curator.task.schema.numeric()
        return [float(curator._table._rows.columns[a.name][0]) for a in numeric if not a.integer]


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (KeepsTheCurator, "the model keeps a WatchedCurator"),
        (KeepsAnArray, "the model keeps an array of the rows"),
        (KeepsAValue, "the model holds 1 number of the rows, as they stand"),
    ],
)
def test_nothing_of_the_rows_may_be_reached_from_the_model(fails, cls: type, words: str) -> None:
    assert words in fails("keeps-no-rows", cls)


def test_numbers_are_found_wherever_they_stand() -> None:
    secret = 0.1234567

    def closure() -> float:
        return secret

    held = {"deep": [(np.array([1.5, 2.5]), np.array([{"x": 7.5}], dtype=object)), closure, 3]}
    assert {1.5, 2.5, 7.5, secret} <= set(numbers_in(held))
