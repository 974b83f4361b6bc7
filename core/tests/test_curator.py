"""The curator charges before it looks and looks before it draws, and refuses before either."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import pytest

from dpcore.accounting import PureAccountant
from dpcore.allocator import Step
from dpcore.bound import Bound
from dpcore.classifier import Task
from dpcore.curator import Curator
from dpcore.errors import BudgetError, InputError, NotPrivateError, PluginError
from dpcore.mechanism import Calibration, Mechanism
from dpcore.noise import SeededNoise
from dpcore.partition import EqualBins, Values
from dpcore.planned import PlannedStep
from dpcore.privacy import Adjacency, Pure
from dpcore.query import Counts, Query, Sums
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.sensitivity import SensitivityRule
from dpcore.table import MemoryTable, Rows

TARGET = Nominal("c", ("no", "yes"))
AGE = Numeric("age", 0, 10)
SCHEMA = Schema((AGE,), TARGET)
TASK = Task(SCHEMA, 1.0)
CLASSES = Counts(Values(TARGET))
AGES = Counts(EqualBins(AGE, 4))
ROWS = Rows(SCHEMA, {"age": np.array([1.0, 9, 9]), "c": np.array([0, 1, 1], np.uint8)}, 3)


@attrs.define
class Log:
    """What happened, in order."""

    events: list[str] = attrs.field(factory=list)


class SpyAccountant(PureAccountant):
    """Notes each charge that it accepts."""

    def __init__(self, epsilon: float, log: Log) -> None:
        super().__init__(epsilon)
        self.log = log

    def charge(self, cost: Any) -> None:
        super().charge(cost)
        self.log.events.append("charge")


class SpyTable(MemoryTable):
    """Notes each time exact answers are computed or fetched."""

    def __init__(self, rows: Rows, log: Log) -> None:
        super().__init__(rows)
        self.log = log

    def aggregate(self, queries: Any) -> Any:
        self.log.events.append("aggregate")
        return super().aggregate(queries)

    def answer(self, query: Query) -> Any:
        self.log.events.append("answer")
        return super().answer(query)


@attrs.frozen
class SpyMechanism(Mechanism):
    """Adds one half, so that it shows which answer it was given."""

    log: Log
    accepts = ("l1",)

    def calibrate(self, bound: Bound, cost: Any) -> Calibration:
        return Calibration(1.5, 1.0, 1.0)

    def release(self, exact: Any, bound: Bound, cost: Any, noise: Any) -> Any:
        self.log.events.append("draw")
        return exact + 0.5

    def log_density(self, output: Any, exact: Any, bound: Bound, cost: Any) -> float:
        return 0.0


@attrs.frozen
class Rule(SensitivityRule):
    """One, whatever is asked; notes whether it was given the rows."""

    log: Log
    form: str = "global"
    kinds = ("counts", "sums")

    @property
    def reads_rows(self) -> bool:  # type: ignore[override]
        return self.form == "local"

    def bound(self, query: Query, adjacency: Any, norm: str, table: Any = None) -> Bound | None:
        self.log.events.append("bound" if table is None else "bound from rows")
        return Bound(1.0, norm, self.form)


def curator(log: Log, *steps: Step, form: str = "global", epsilon: float = 1.0, **options: Any) -> Curator:
    """A curator whose parts note what they do; each ask costs 0.25."""
    planned = tuple(
        PlannedStep(
            step,
            Rule(log, form),
            Bound(1.0, "l1"),
            "spy",
            SpyMechanism(log),
            Pure(0.25),
            Pure(0.25),
            Calibration(1.5, 1.0, 1.0),
        )
        for step in steps
    )
    accountant = SpyAccountant(epsilon, log)
    return Curator(SpyTable(ROWS, log), TASK, planned, accountant, SeededNoise(0), **options)


def test_it_charges_before_it_looks_and_looks_before_it_draws() -> None:
    log = Log()
    asked = curator(log, Step("classes", CLASSES), Step("ages", AGES))
    assert log.events == []
    assert asked.ask("classes").tolist() == [1.5, 2.5]
    assert log.events == ["charge", "aggregate", "bound", "answer", "draw"]
    log.events.clear()
    assert asked.ask("ages").tolist() == [1.5, 0.5, 0.5, 2.5]
    assert log.events == ["charge", "bound", "answer", "draw"]  # one pass served both


def test_a_rule_that_reads_rows_reads_them_after_the_charge() -> None:
    log = Log()
    curator(log, Step("classes", CLASSES), form="local", allow_local=True).ask("classes")
    assert log.events[0] == "charge"
    assert log.events.index("bound from rows") < log.events.index("draw")


def test_overspending_is_refused_before_anything_is_looked_at_or_drawn() -> None:
    log = Log()
    asked = curator(log, Step("classes", CLASSES, times=9), epsilon=0.6)
    asked.ask("classes")
    asked.ask("classes")
    log.events.clear()
    with pytest.raises(BudgetError, match="budget refuses"):
        asked.ask("classes")
    assert log.events == []
    assert len(asked.releases) == 2


def test_a_step_is_asked_no_oftener_than_planned() -> None:
    log = Log()
    asked = curator(log, Step("classes", CLASSES, times=2))
    asked.ask("classes")
    asked.ask("classes")
    log.events.clear()
    with pytest.raises(BudgetError, match="planned 2 times"):
        asked.ask("classes")
    assert log.events == []


WIDER = Numeric("age", 0, 1000)


@pytest.mark.parametrize(
    ("step", "query", "reason"),
    [
        ("other", None, "no step 'other'; it has: fixed, free"),
        ("fixed", AGES, "nothing else"),
        ("free", Counts(EqualBins(AGE, 5)), "at most 4 cells"),
        ("free", Sums(AGE, Values(TARGET)), "planned as counts"),
        ("free", Sums(WIDER, Values(TARGET)), "planned as counts"),
    ],
)
def test_what_was_not_planned_is_refused_before_it_is_charged(step: str, query: Any, reason: str) -> None:
    log = Log()
    asked = curator(log, Step("fixed", CLASSES), Step("free", AGES, fixed=False))
    with pytest.raises(PluginError, match=reason):
        asked.ask(step, query)
    assert log.events == []
    assert asked.releases == []


def test_a_free_step_may_ask_less_and_a_fixed_one_itself() -> None:
    log = Log()
    asked = curator(log, Step("fixed", CLASSES), Step("free", AGES, fixed=False, times=2))
    assert asked.ask("fixed", CLASSES).shape == (2,)
    assert asked.ask("free", Counts(EqualBins(AGE, 2))).tolist() == [1.5, 2.5]
    assert asked.ask("free").shape == (4,)


@pytest.mark.parametrize("allowed", [True, False])
def test_bounds_set_by_the_rows_pass_only_where_that_was_allowed(allowed: bool) -> None:
    log = Log()
    asked = curator(log, Step("classes", CLASSES), form="local", allow_local=allowed)
    if allowed:
        asked.ask("classes")
        return
    with pytest.raises(NotPrivateError, match="protects nothing"):
        asked.ask("classes")
    assert "draw" not in log.events
    assert asked.releases == []


class Silent(Rule):
    """A rule that knows no bound once the question is there."""

    def bound(self, query: Query, adjacency: Any, norm: str, table: Any = None) -> Bound | None:
        return None


class Other(Rule):
    """A rule that changes the norm."""

    def bound(self, query: Query, adjacency: Any, norm: str, table: Any = None) -> Bound | None:
        return Bound(1.0, "l2")


@pytest.mark.parametrize("rule", [Silent, Other])
def test_no_bound_that_fits_means_no_noise_and_no_answer(rule: Any) -> None:
    log = Log()
    asked = curator(log, Step("classes", CLASSES))
    asked._steps["classes"] = attrs.evolve(asked._steps["classes"], rule=rule(log))
    with pytest.raises(PluginError, match="no bound"):
        asked.ask("classes")
    assert "draw" not in log.events


def test_releases_are_what_was_returned_and_cannot_be_written_to() -> None:
    asked = curator(Log(), Step("classes", CLASSES), Step("ages", AGES, fixed=False))
    smaller = Counts(EqualBins(AGE, 2))
    got = [asked.ask("classes"), asked.ask("ages", smaller)]
    assert all(r.value is value for r, value in zip(asked.releases, got, strict=True))
    assert [(r.step, r.query) for r in asked.releases] == [("classes", CLASSES), ("ages", smaller)]
    for value in got:
        with pytest.raises(ValueError, match="read-only"):
            value[0] = 0


def test_preparing_releases_nothing_draws_nothing_and_costs_nothing() -> None:
    log = Log()
    asked = curator(log, Step("classes", CLASSES), Step("ages", AGES, fixed=False))
    asked.prepare({"classes": CLASSES, "ages": Counts(EqualBins(AGE, 2))})
    assert log.events == ["aggregate"]
    assert asked.releases == []


def test_only_what_was_planned_can_be_prepared() -> None:
    log = Log()
    asked = curator(log, Step("classes", CLASSES))
    with pytest.raises(PluginError, match="nothing else"):
        asked.prepare({"classes": AGES})
    with pytest.raises(PluginError, match="no step"):
        asked.prepare({"ages": AGES})
    assert log.events == []


def test_the_scale_of_a_step_is_public() -> None:
    log = Log()
    asked = curator(log, Step("classes", CLASSES))
    assert asked.scale("classes") == 1.5
    assert log.events == []
    with pytest.raises(PluginError, match="no step"):
        asked.scale("other")


def test_a_table_of_another_schema_is_refused() -> None:
    other = Task(Schema((WIDER,), TARGET), 1.0, 0.0, Adjacency.ADD_REMOVE)
    with pytest.raises(PluginError, match="schema"):
        Curator(MemoryTable(ROWS), other, (), PureAccountant(1.0), SeededNoise(0))


def test_a_query_that_the_table_cannot_answer_is_refused_before_noise() -> None:
    @attrs.frozen
    class Unheard(Counts):
        kind = "unheard"

        @property
        def requires(self) -> tuple[Query, ...]:
            return (Nothing(),)

    @attrs.frozen
    class Nothing(Query):
        kind = "nothing"
        shape = ()

        def describe(self) -> str:
            return "nothing"

    log = Log()
    with pytest.raises(InputError, match="nothing"):
        curator(log, Step("odd", Unheard(Values(TARGET)))).ask("odd")
    assert "draw" not in log.events
