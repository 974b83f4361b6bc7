"""Directed lockstep replay: a learner run on two neighbouring tables with the same noisy answers.

A learner only meets noisy answers, and all of them come from the curator's one release point. There the audit stands:
on the first table it chooses each output (see `outputs`), on the second it forces the same ones. The log-densities of
the two sequences differ by the privacy loss of that transcript, exactly; nothing is estimated. Everything else must be
the same on both tables: which steps are asked, in which order, with which queries, costs and public bounds, and the
model that comes out. (Ding et al. 2018 and later auditors estimate the same from many runs.)
"""

from __future__ import annotations

import gc
import json
from types import FunctionType, ModuleType
from typing import Any
from unittest import mock

import attrs
import numpy as np

from dpcore.bound import Bound
from dpcore.classifier import Model
from dpcore.curator import Curator, rule_bound
from dpcore.errors import PluginError
from dpcore.isolation import one_line
from dpcore.mechanism import Answer
from dpcore.noise import SeededNoise
from dpcore.planned import Plan, PlannedStep
from dpcore.query import Query
from dpcore.table import MemoryTable, Rows, Table
from dpcore_testing.outputs import Chooser, Side, log_density, log_ratio
from dpcore_testing.pairs import Pair, probe_rows


@attrs.frozen
class Divergence:
    """What differed between the two runs though it must not.

    Args:
        what: `query`, `shape`, `scale`, `cost`, `branch`, `model`, `prediction`, `rows` (the model keeps some),
            `error`, or `density` (the mechanism's own code failed).
        detail: one line for people.
    """

    what: str
    detail: str


@attrs.frozen
class Replay:
    """What one transcript showed.

    Args:
        loss: log-ratio of the transcript's densities on the two tables.
        log_weight: log-density of the transcript over that of the way it was chosen.
        spent: (epsilon, delta) charged in the first run.
        releases: how many noisy answers there were.
        divergence: None where everything else was the same.
    """

    loss: float
    log_weight: float
    spent: tuple[float, float]
    releases: int
    divergence: Divergence | None


class _Diverged(BaseException):
    """Leaves the learner at once; not an Exception, so that no learner swallows it."""

    def __init__(self, what: str, detail: str) -> None:
        super().__init__(detail)
        self.divergence = Divergence(what, detail)


@attrs.frozen(eq=False)
class _Released:
    planned: PlannedStep
    asked: Query
    output: Answer
    density: float
    proposal: float
    bound: Bound


@attrs.define(eq=False)
class _First:
    """Stands at the release point of the first run: chooses outputs, knowing what the neighbour would answer."""

    pair_of: dict[int, Table]
    chooser: Chooser
    rng: np.random.Generator
    released: list[_Released] = attrs.field(factory=list)

    def release(self, curator: Curator, planned: PlannedStep, asked: Query, exact: Any, bound: Bound) -> Answer:
        here = Side(exact, bound)
        neighbour = self.pair_of.get(id(curator._table))
        there = here if neighbour is None else _side(planned, asked, curator, neighbour)
        if there.exact.shape != exact.shape:
            raise _Diverged("shape", f"step {planned.step.name!r} has another shape on the neighbour.")
        mechanism, cost = planned.mechanism, planned.calibrated
        chosen = self.chooser.choose(mechanism, here, there, cost, self.rng)
        density = log_density(mechanism, chosen.output, here, cost)
        output = _frozen(chosen.output)
        self.released.append(_Released(planned, asked, output, density, chosen.log_proposal, bound))
        return output


@attrs.define(eq=False)
class _Second:
    """Stands at the release point of the second run: forces the same outputs and adds up the loss."""

    expected: list[_Released]
    place: int = 0
    loss: float = 0.0

    def release(self, curator: Curator, planned: PlannedStep, asked: Query, exact: Any, bound: Bound) -> Answer:
        if self.place == len(self.expected):
            raise _Diverged("branch", f"step {planned.step.name!r} is asked on one table and not on its neighbour.")
        first = self.expected[self.place]
        self.place += 1
        name = planned.step.name
        if name != first.planned.step.name:
            raise _Diverged("branch", f"one table is asked {first.planned.step.name!r} where the other is {name!r}.")
        if asked.shape != first.asked.shape:
            raise _Diverged("shape", f"step {name!r}: {first.asked.shape} on one table, {asked.shape} on the other.")
        if asked != first.asked:
            raise _Diverged("query", f"step {name!r}: {first.asked.describe()}; or {asked.describe()}, otherwise put.")
        if planned.cost != first.planned.cost or planned.calibrated != first.planned.calibrated:
            raise _Diverged(
                "cost", f"step {name!r} costs {first.planned.cost} on one table, {planned.cost} on another."
            )
        if bound.form == "global" and not _same(bound, first.bound):
            raise _Diverged("scale", f"step {name!r}: the rows decide a bound that is called global.")
        density = log_density(planned.mechanism, first.output, Side(exact, bound), planned.calibrated)
        self.loss += log_ratio(first.density, density)
        return first.output


def _frozen(output: Answer) -> Answer:
    if isinstance(output, np.ndarray):
        output = np.array(output)
        output.setflags(write=False)
    return output


def _side(planned: PlannedStep, asked: Query, curator: Curator, table: Table) -> Side:
    rule = planned.rule
    bound = rule_bound(rule, asked, planned, curator.task, table if rule.reads_rows else None)
    return Side(table.answer(asked), bound)


def _same(one: Bound, other: Bound) -> bool:
    facts = ("norm", "form", "grid", "beta", "rises", "monotone")
    return np.array_equal(one.value, other.value) and all(getattr(one, f) == getattr(other, f) for f in facts)  # type: ignore[arg-type]


@attrs.frozen(eq=False)
class _Learnt:
    model: Model | None
    spent: tuple[float, float]
    error: str
    divergence: Divergence | None


def _learn(plan: Plan, table: Table, layer: _First | _Second) -> _Learnt:
    """One run of the learner under a layer at the release point of every curator, its own or one that it makes."""
    bank = plan.accountant()
    curator = Curator(table, plan.task, plan.steps, bank, SeededNoise(0), allow_local=not plan.within_budget)

    def release(at: Curator, planned: PlannedStep, asked: Query, exact: Any, bound: Bound) -> Answer:
        try:
            return layer.release(at, planned, asked, exact, bound)
        except Exception as found:  # of the mechanism's or the rule's own code, which this learner must not catch
            raise _Diverged("density", f"step {planned.step.name!r}: {one_line(str(found))}") from None

    model, error, divergence = None, "", None
    try:
        with mock.patch.object(Curator, "_release", release):
            model = plan.classifier.learn(curator)
    except _Diverged as found:
        divergence = found.divergence
    except Exception as found:
        error = f"{type(found).__name__}: {one_line(str(found))}"
    return _Learnt(model, bank.spent(), error, divergence)


def replay(plan: Plan, pair: Pair, chooser: Chooser, rng: np.random.Generator) -> Replay:
    """Run a plan on both tables of a pair, in step.

    Args:
        plan: for the pair's schema and adjacency.
        pair: the loss is that of its left table against its right one.
        chooser: how outputs are chosen.
        rng: decides the outputs and nothing else.
    """
    tables = MemoryTable(pair.left), MemoryTable(pair.right)
    first = _First({id(tables[0]): tables[1]}, chooser, rng)
    one = _learn(plan, tables[0], first)
    second = _Second(first.released)
    other = _learn(plan, tables[1], second)
    divergence = one.divergence or other.divergence or _compare(one, other, second, pair)
    weight = sum(r.density - r.proposal for r in first.released)
    return Replay(second.loss, weight, one.spent, len(first.released), divergence)


def _compare(  # noqa: PLR0911
    one: _Learnt, other: _Learnt, second: _Second, pair: Pair
) -> Divergence | None:
    if one.error != other.error:
        return Divergence("error", f"one table ends with {one.error or 'a model'}, the other with {other.error}.")
    if second.place < len(second.expected):
        name = second.expected[second.place].planned.step.name
        return Divergence("branch", f"step {name!r} is asked on one table and not on its neighbour.")
    if one.model is None or other.model is None:
        return None
    if _text(one.model) != _text(other.model):
        return Divergence("model", "equal answers make different models: a model holds what was not released.")
    rows = probe_rows(pair.schema)
    if one.model.log_proba(rows).tobytes() != other.model.log_proba(rows).tobytes():
        return Divergence("prediction", "equal answers make models that predict differently.")
    if kept := rows_kept(one.model, pair.left):
        return Divergence("rows", f"the model keeps {kept}.")
    return None


def _text(model: Model) -> str:
    try:
        return json.dumps(model.to_json(), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise PluginError(f"{type(model).__name__}.to_json is not plain JSON: {one_line(str(error))}.") from None


def rows_kept(model: Model, rows: Rows) -> str:
    """What of the rows can be reached from a model, in words; "" for nothing."""
    seen: set[int] = set()
    left: list[Any] = [model]
    while left:
        found = left.pop()
        if id(found) in seen or isinstance(found, (type, ModuleType)):
            continue
        seen.add(id(found))
        if isinstance(found, FunctionType):  # what it closes over; its globals are its module's
            left += [found.__closure__, found.__defaults__, found.__kwdefaults__]
            continue
        if isinstance(found, (Table, Rows, Curator)):
            return f"a {type(found).__name__}"
        if isinstance(found, np.ndarray):
            if any(np.shares_memory(found, column) for column in rows.columns.values() if column.size):
                return "an array of the rows"
            left += [] if found.base is None else [found.base]
        left += gc.get_referents(found)
    return ""
