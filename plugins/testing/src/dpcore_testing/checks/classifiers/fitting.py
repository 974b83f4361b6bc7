"""A fit under watch: who touched the rows, in which order costs were charged and noise drawn, and fits whose noisy
answers or refusals are decided from outside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import attrs
import numpy as np

from dpcore.accounting import Accountant
from dpcore.bound import Bound
from dpcore.classifier import Model
from dpcore.curator import Curator
from dpcore.errors import BudgetError
from dpcore.mechanism import Answer
from dpcore.noise import SeededNoise
from dpcore.planned import Plan, PlannedStep
from dpcore.privacy import Cost
from dpcore.query import Exact, Query
from dpcore.table import MemoryTable, Rows
from dpcore_testing.checks.base import Failed

_PRIVATE = frozenset({"answer", "warm", "aggregate", "_rows", "_memory"})
REFUSAL = "a refusal made by the check"


class Watched(MemoryTable):
    """Rows that know who reads them: only the curator may, while it answers."""

    def __init__(self, rows: Rows) -> None:
        self.open = 1
        self.touched: list[str] = []
        super().__init__(rows)
        self.open = 0

    def __getattribute__(self, name: str) -> Any:
        if name in _PRIVATE and not object.__getattribute__(self, "open"):
            object.__getattribute__(self, "touched").append(name)
        return super().__getattribute__(name)


class Tape(Accountant):
    """An accountant that writes down what it is charged, and can refuse one charge."""

    name = "tape"

    def __init__(self, real: Accountant, events: list[str], refuse: int | None) -> None:
        super().__init__(real.epsilon, real.delta)
        self._real, self._events, self._refuse = real, events, refuse

    def cost(self, fraction: float) -> Cost:
        return self._real.cost(fraction)

    def charge(self, cost: Cost) -> None:
        if self._refuse is not None and self._events.count("charge") >= self._refuse:
            self._events.append("refusal")
            raise BudgetError(REFUSAL)
        self._events.append("charge")
        self._real.charge(cost)

    def spent(self) -> tuple[float, float]:
        return self._real.spent()


@attrs.frozen(eq=False)
class Answered:
    """One question as it was asked, and its noisy answer."""

    step: str
    query: Query
    value: Answer


class WatchedCurator(Curator):
    """A curator that writes down what happens, and gives out forced answers where there are some."""

    def __init__(self, table: Watched, plan: Plan, bank: Accountant, seed: int, events: list[str]) -> None:
        local = not plan.within_budget
        super().__init__(table, plan.task, plan.steps, bank, SeededNoise(seed), allow_local=local)
        self.events = events
        self.answered: list[Answered] = []
        self.forced: Sequence[Answered] | None = None
        self.differs = ""
        self._watched = table

    def ask(self, step: str, query: Query | None = None) -> Any:
        self._watched.open += 1
        try:
            return super().ask(step, query)
        finally:
            self._watched.open -= 1

    def prepare(self, questions: Any) -> None:
        self._watched.open += 1
        try:
            super().prepare(questions)
        finally:
            self._watched.open -= 1

    def _release(self, planned: PlannedStep, asked: Query, exact: Exact, bound: Bound) -> Answer:
        self.events.append("release")
        value = super()._release(planned, asked, exact, bound) if self.forced is None else self._next(planned, asked)
        self.answered.append(Answered(planned.step.name, asked, value))
        return value

    def _next(self, planned: PlannedStep, asked: Query) -> Answer:
        place, forced = len(self.answered), self.forced or ()
        if place == len(forced):
            self.differs = f"step {planned.step.name!r} is asked on one table only"
        elif (planned.step.name, asked) != (forced[place].step, forced[place].query):
            self.differs = (
                f"after the same answers one table is asked {forced[place].query.describe()} and another "
                f"{asked.describe()}"
            )
        if self.differs:
            raise Failed(self.differs)
        return forced[place].value


@attrs.frozen(eq=False)
class Fit:
    """What was seen of one fit.

    Args:
        model: None where the learner raised.
        error: what it raised.
        events: `charge`, `release` and `refusal`, in order.
        answered: the questions and their answers.
        touched: what of the table was used without asking the curator.
        spent: (epsilon, delta).
        differs: how a forced fit left the script; "" where it did not.
    """

    model: Model | None
    error: BaseException | None
    events: list[str]
    answered: list[Answered]
    touched: list[str]
    spent: tuple[float, float]
    differs: str

    def learnt(self) -> Model:
        """The model; what the learner raised where there is none."""
        if self.model is None:
            raise self.error or Failed("`learn` returned nothing.")
        return self.model


def fit(
    plan: Plan, rows: Rows, seed: int, *, forced: Sequence[Answered] | None = None, refuse: int | None = None
) -> Fit:
    """Run a learner under watch.

    Args:
        plan, rows, seed: as for `dpcore.fit`.
        forced: answers to give out in place of noisy ones.
        refuse: how many charges are paid before one is refused.
    """
    events: list[str] = []
    bank, table = Tape(plan.accountant(), events, refuse), Watched(rows)
    curator = WatchedCurator(table, plan, bank, seed, events)
    curator.forced = forced
    model, error = None, None
    try:
        model = plan.classifier.learn(curator)
    except KeyboardInterrupt:
        raise
    except BaseException as raised:
        error = raised
    return Fit(model, error, events, curator.answered, table.touched, bank.spent(), curator.differs)


def text(model: Model) -> str:
    """The model as JSON, byte for byte.

    Raises:
        Failed: if it is not plain JSON.
    """
    try:
        return json.dumps(model.to_json(), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Failed(f"{type(model).__name__}.to_json() is not plain, finite JSON: {error}.") from None


def same(one: Any, other: Any) -> bool:
    """Whether two arrays are equal bit by bit."""
    first, second = np.asarray(one), np.asarray(other)
    return first.shape == second.shape and first.tobytes() == second.tobytes()
