"""The check `audited` runs the exact audit on learners, mechanisms and rules, and says in one line what it saw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import attrs
import numpy as np
import pytest

from dpcore import Classifier, Model, Schema, load_plugins, param
from dpcore.allocator import Step
from dpcore.bound import Bound
from dpcore.partition import Values
from dpcore.privacy import Adjacency, Pure
from dpcore.query import Counts
from dpcore.sensitivity import SensitivityRule
from dpcore_testing import checks
from dpcore_testing.audit import Report
from dpcore_testing.checks.audits import in_words

REGISTRY = load_plugins()
Geometric = REGISTRY.get("mechanism", "geometric")


def test_one_of_ours_loses_what_it_charges_and_no_more() -> None:
    """The audits of the others are in test_audit.py."""
    result = checks.run_one(checks.subject(REGISTRY, "mechanism", "geometric", seconds=0), "audited")
    assert result.status == "ok"
    assert result.message.endswith(" transcripts, the largest loss is 1 of what is charged")


@pytest.mark.parametrize("name", ["vaidya2013", "lopuhaa2021"])
def test_a_rule_that_promises_nothing_is_not_audited(name: str) -> None:
    result = checks.run_one(checks.subject(REGISTRY, "sensitivity", name, seconds=0), "audited")
    assert (result.status, result.message) == ("skipped", "it promises nothing: `guarantee` is none.")


# -- what it says of others --------------------------------------------------------------------------------------------


class Classes(Model):
    """Noisy counts of the classes."""

    def __init__(self, counts: Any) -> None:
        self.counts = counts

    def log_proba(self, rows: Any) -> Any:
        weight = np.maximum(self.counts, 0) + 1.0
        return np.tile(np.log(weight / weight.sum()), (rows.size, 1))

    def to_json(self) -> dict[str, Any]:
        return {"counts": self.counts.tolist()}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        return cls(np.array(data["counts"]))


@attrs.frozen
class Majority(Classifier):
    """Sound: it asks the counts of the classes once."""

    model_class: ClassVar[type[Model]] = Classes
    notes: ClassVar[str] = "Made for tests."

    def query(self, task: Any) -> Counts:
        return Counts(Values(task.schema.target))

    def steps(self, task: Any) -> Sequence[Step]:
        return [Step("classes", self.query(task), mechanisms=("geometric",))]

    def learn(self, curator: Any) -> Any:
        return Classes(curator.ask("classes"))


@attrs.frozen
class Mean(Majority):
    """Sound by default; of its other choice the author averages two noisy answers and pays for one."""

    way: str = param("once", choices=("once", "twice"), help="how many answers it averages")

    def learn(self, curator: Any) -> Any:
        first = curator.ask("classes")
        if self.way == "once":
            return Classes(first)
        planned = curator._planned("classes")
        again = curator._release(planned, planned.step.query, *curator._exact(planned, planned.step.query))
        return Classes((first + again) / 2)


@attrs.frozen
class Published(Majority):
    """Its other choice is a published procedure that costs twice what was asked for; the plan charges it and warns."""

    variant: str = param("own", choices=("own", "paper2026"), help="the procedure")

    def steps(self, task: Any) -> Sequence[Step]:
        step = super().steps(task)[0]
        real = Pure(2 * task.epsilon)
        return [step if self.variant == "own" else attrs.evolve(step, cost=real, claimed=real)]

    def warning(self, task: Any) -> str:
        return "" if self.variant == "own" else "As published, it costs twice its epsilon."


@attrs.frozen
class RowsInTheModel(Majority):
    def learn(self, curator: Any) -> Any:
        curator.ask("classes")
        return Classes(curator._table.answer(self.query(curator.task)))


class UnitSums(SensitivityRule):
    """Sums as if every number were in [−1, 1]."""

    kinds: ClassVar[tuple[str, ...]] = ("sums",)
    norms: ClassVar[tuple[str, ...]] = ("l1",)
    notes: ClassVar[str] = "Made for tests."

    def bound(self, query: Any, adjacency: Any, norm: str, table: Any = None) -> Bound | None:
        if norm != "l1" or query.kind != "sums":
            return None
        return Bound(1.0 if adjacency is Adjacency.ADD_REMOVE else 2.0, "l1", grid=query.grid)


class HalfScale(Geometric):
    """Half the noise."""

    def calibrate(self, bound: Any, cost: Any) -> Any:
        return super().calibrate(bound, Pure(2 * cost.epsilon))

    def release(self, exact: Any, bound: Any, cost: Any, noise: Any) -> Any:
        return super().release(exact, bound, Pure(2 * cost.epsilon), noise)

    def log_density(self, output: Any, exact: Any, bound: Any, cost: Any) -> float:
        return super().log_density(output, exact, bound, Pure(2 * cost.epsilon))


class HalfNoise(HalfScale):
    costs = (Pure,)


class Unheard(SensitivityRule):
    kinds: ClassVar[tuple[str, ...]] = ("moments of moments",)
    notes: ClassVar[str] = "Made for tests."

    def bound(self, query: Any, adjacency: Any, norm: str, table: Any = None) -> Bound | None:
        return None


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (HalfNoise, "a loss of 2 where epsilon = 1 is charged (add-remove, "),
        (UnitSums, "is charged (add-remove, "),
        (RowsInTheModel, "model differs between neighbours: "),
    ],
)
def test_a_leak_is_told_with_the_tables_that_show_it(fails, cls: type, words: str) -> None:
    message = fails("audited", cls)
    assert words in message
    assert message.startswith(("a loss of ", "model differs"))


def test_every_choice_of_a_parameter_is_audited(fails) -> None:
    assert "mixed schema, add-remove, way=twice: a loss of 2 where epsilon = 1 is charged" in fails("audited", Mean)


def test_a_published_procedure_that_charges_what_it_costs_passes(judge) -> None:
    result = judge("audited", Published)
    assert result.status == "ok", result
    assert result.message.endswith("the largest loss is 1 of what is charged")


def test_what_no_table_shows_is_not_audited(judge) -> None:
    assert judge("audited", Majority).status == "ok"
    assert judge("audited", Unheard).status == "skipped"


def test_a_report_in_words_is_one_line() -> None:
    numbers = {"epsilon": 1.0, "delta": 0.0, "charged": 1.0, "loss": math.inf}
    counts = {"pairs": 1, "transcripts": 1, "seed": 0, "seconds": 0.0}
    words = {"words": "one row", "case": "a case", "what": "", "detail": ""}
    report = Report("x", "mechanism", {}, "add-remove", verdict="LEAKS", **numbers, **words, **counts)
    assert in_words(report) == "a loss of inf where epsilon = 1 is charged (add-remove, one row; a case)"
    other = attrs.evolve(report, verdict="diverged", what="scale", detail="1 and 2", case="")
    assert in_words(other) == "scale differs between neighbours: 1 and 2 (add-remove, one row)"
