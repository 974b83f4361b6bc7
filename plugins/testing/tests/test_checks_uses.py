"""Mechanisms for bounds of a kind of their own are checked on what learners ask them."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

from dpcore import load_plugins
from dpcore.allocator import Step
from dpcore.bound import Bound
from dpcore.classifier import Classifier, Model
from dpcore.partition import Values
from dpcore.privacy import Pure
from dpcore.query import Counts
from dpcore.sensitivity import SensitivityRule

Geometric = load_plugins().get("mechanism", "geometric")


@attrs.frozen(eq=False)
class TableBound(Bound):
    """A bound that nobody can make up: only a rule gives it."""


class TableRule(SensitivityRule):
    kinds: ClassVar[tuple[str, ...]] = ("counts",)
    norms: ClassVar[tuple[str, ...]] = ("l1",)
    notes: ClassVar[str] = "Made for tests."

    def bound(self, query: Any, adjacency: Any, norm: str, table: Any = None) -> Bound | None:
        return TableBound(2.0, "l1") if norm == "l1" and isinstance(query, Counts) else None


class ForTables(Geometric):
    """Sound; it takes a bound of its own and no other."""

    costs = (Pure,)

    def fits(self, bound: Any, cost: Any) -> bool:
        return isinstance(bound, TableBound) and super().fits(bound, cost)


class ForGradients(ForTables):
    """It takes bounds in another norm than that of numbers and scores."""

    accepts = ("gradient",)


class TooLittle(ForTables):
    def log_density(self, output: Any, exact: Any, bound: Any, cost: Any) -> float:
        return 4 * super().log_density(output, exact, bound, cost)


class TooMuch(ForTables):
    """Its draws are wider than its density says."""

    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return super().release(exact, bound, Pure(cost.epsilon / 4), noise)


class Quarters(ForTables):
    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return super().release(exact, bound, cost, noise) / 4


class Unseeded(ForTables):
    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return super().release(exact, bound, cost, noise) + np.random.default_rng().integers(100)


class Rowless(Model):
    """Nothing is learnt: the plan alone counts."""

    log_proba = to_json = from_json = None  # type: ignore[assignment]


class Asks(Classifier):
    """Asks a mechanism for the counts of the classes."""

    model_class: ClassVar[type[Model]] = Rowless
    notes: ClassVar[str] = "Made for tests."
    mechanism: ClassVar[str] = "for_tables"
    learn = None  # type: ignore[assignment]

    def steps(self, task: Any) -> list[Step]:
        query = Counts(Values(task.schema.target))
        return [Step("classes", query, mechanisms=(self.mechanism,), sensitivity="table_rule")]


class AsksTooLittle(Asks):
    mechanism = "too_little"


class AsksTooMuch(Asks):
    mechanism = "too_much"


class AsksQuarters(Asks):
    mechanism = "quarters"


class AsksUnseeded(Asks):
    mechanism = "unseeded"


def test_a_mechanism_for_bounds_of_its_own_is_tried_on_what_learners_ask(judge, fails) -> None:
    found = judge("draws-what-it-is-asked", ForTables, Asks, TableRule)
    assert found.status == "ok"
    assert "pairs of tables" in found.message
    for check in ("calibrates", "draws-what-it-states", "draws-from-its-source", "keeps-the-form"):
        assert judge(check, ForTables, Asks, TableRule).status == "skipped"
        assert judge(check, ForGradients).status == "skipped"
    assert "no installed learner uses it" in fails("draws-what-it-is-asked", ForTables)


@pytest.mark.parametrize(
    ("cls", "learner", "words"),
    [
        (TooLittle, AsksTooLittle, "where epsilon = 1 is charged"),
        (TooMuch, AsksTooMuch, "contradict log_density"),
        (Quarters, AsksQuarters, "released numbers are not multiples of the stated grid, 1"),
        (Unseeded, AsksUnseeded, "the same noise source gives two answers"),
    ],
)
def test_what_learners_ask_must_be_drawn_as_stated_too(fails, cls: type, learner: type, words: str) -> None:
    message = fails("draws-what-it-is-asked", cls, learner, TableRule)
    assert words in message
    assert f"as test-plugin:{learner.__name__.replace('Asks', 'asks_').lower()[:7]}" in message
