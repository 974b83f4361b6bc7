"""Checks of what a sensitivity rule claims to know, and of its bounds against all small tables."""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import NORMS, Bound
from dpcore.privacy import Adjacency
from dpcore.query import Query
from dpcore.sensitivity import SensitivityRule
from dpcore_testing.checks.base import Failed, Skipped, Subject, check, doing, plural
from dpcore_testing.checks.common import settings
from dpcore_testing.checks.rules.tables import KINDS, Key, Small, questions

_ROOM = 1e-9


@attrs.frozen
class _Unheard(Query):
    """A kind of query that no rule knows."""

    kind = "unheard-of"

    @property
    def shape(self) -> tuple[int, ...]:
        return (2,)

    def describe(self) -> str:
        return "a query that no rule knows"


@check("sensitivity")
def knows_what_it_claims(subject: Subject) -> str:
    """It bounds every kind of query and norm that it claims, and gives None for everything else."""
    cls, known = subject.factory, 0
    unknown = [kind for kind in cls.kinds if kind not in KINDS]
    for chosen in settings(cls):
        rule = cls(**chosen)
        norms: set[str] = set()
        for adjacency in Adjacency:
            claimed = str(adjacency) in cls.adjacency
            with doing(f"asked for a kind of query that it cannot know, {adjacency}"):
                if any(rule.bound(_Unheard(), adjacency, norm) is not None for norm in NORMS):
                    raise Failed("it bounds a kind of query that it does not know; it must give None.")
            for kind in KINDS:
                found = _norms(rule, kind, adjacency) if claimed or kind in cls.kinds else set()
                if found and not (claimed and kind in cls.kinds):
                    what = f"{kind} queries" if claimed else f"{adjacency} adjacency"
                    raise Failed(f"it bounds {kind} queries under {adjacency} and does not claim {what}.")
                if claimed and kind in cls.kinds and not found:
                    raise Failed(f"it claims {kind} queries and gives no bound for any of them under {adjacency}.")
                norms |= found
                known += len(found)
        # what is claimed beyond may be for the kinds that there are no queries of
        if norms - set(cls.norms) or (set(cls.norms) - norms and not unknown):
            raise Failed(f"`norms` claims {', '.join(cls.norms)}; there are bounds in {', '.join(sorted(norms))}.")
    if unknown == list(cls.kinds):
        raise Skipped(f"there are no queries at hand of the kinds {', '.join(unknown)}.")
    more = f"; no queries at hand of the kinds {', '.join(unknown)}" if unknown else ""
    return f"{plural(known, 'kind')} and norms{more}"


def _norms(rule: SensitivityRule, kind: str, adjacency: Adjacency) -> set[str]:
    """The norms in which a rule bounds queries of a kind, each bound checked for its form."""
    found = set()
    for question in questions(kind):
        for norm in NORMS:
            where = f"{question.query.describe()}, {adjacency}, {norm}"
            with doing(where):
                bound = rule.bound(question.query, adjacency, norm)
            if bound is None:
                continue
            _check_bound(rule, bound, question.query, norm, where)
            if rule.reads_rows and bound.value is not None:
                raise Failed(f"{where}: it `reads_rows`, and knows the bound without a table.")
            if not rule.reads_rows and (bound.value is None or bound.form != "global"):
                raise Failed(f"{where}: it reads no rows; its bound must be global and have a value.")
            found.add(norm)
    return found


def _check_bound(rule: SensitivityRule, bound: Bound, query: Query, norm: str, where: str) -> None:
    if not isinstance(bound, Bound):
        raise Failed(f"{where}: it gives a {type(bound).__name__}, not a Bound.")
    if bound.norm != norm:
        raise Failed(f"{where}: it gives a bound in {bound.norm}.")
    if norm != "score" and bound.grid != query.grid:
        raise Failed(f"{where}: the bound's grid is {bound.grid:g}, the answer's {query.grid:g}.")
    values = np.asarray([] if bound.value is None else bound.value, dtype=np.float64)
    if not (np.isfinite(values).all() and (values > 0).all()):
        raise Failed(f"{where}: a bound must be finite and above 0. Got {bound.value}.")
    if bound.form == "smooth" and not (bound.beta is not None and bound.beta > 0):
        raise Failed(f"{where}: a smooth bound must say its beta.")
    if bound.form == "local" and rule.guarantee != "none":
        raise Failed(f"{where}: a `local` bound protects nothing, and `guarantee` says {rule.guarantee!r}.")


@check("sensitivity")
def bounds_hold(subject: Subject) -> str:
    """No two neighbouring tables have answers further apart than the bound; smooth bounds are smooth."""
    cls, pairs, bounded = subject.factory, 0, 0
    for chosen in settings(cls):
        rule = cls(**chosen)
        for question in (q for kind in cls.kinds for q in questions(kind)):
            small = Small(question, subject.rng("larger tables"))
            for adjacency in map(Adjacency, cls.adjacency):
                norms = [n for n in NORMS if rule.bound(question.query, adjacency, n) is not None]
                with doing(f"{question.query.describe()}, {adjacency}"):
                    for norm in norms:
                        pairs += _check_pairs(rule, small, adjacency, norm)
                        bounded += 1
    if not bounded:
        raise Skipped("there are no queries at hand of the kinds that it knows.")
    if not pairs:
        raise Skipped("its bounds are local: they protect nothing, and it says so.")
    return f"{plural(bounded, 'bound')}, {plural(pairs, 'pair')} of neighbours"


def _check_pairs(rule: SensitivityRule, small: Small, adjacency: Adjacency, norm: str) -> int:
    """Every pair of neighbours under one bound; how many there were."""
    query, bounds = small.question.query, _Bounds(rule, small, adjacency, norm)
    if bounds.of(()).form == "local":
        return 0
    count = 0
    for left, right in small.pairs(adjacency):
        one, other = bounds.of(left), bounds.of(right)
        count += 1
        change = small.answer(right) - small.answer(left)
        for here, there in ((one, other), (other, one)) if one is not other else ((one, other),):
            wrong = _problem(here, there, change, norm)
            if wrong:
                tables = f"{small.question.words(left)} | {small.question.words(right)}"
                raise Failed(f"{query.describe()}, {adjacency}, {norm}: {wrong} between the neighbours {tables}.")
    return count


class _Bounds:
    """A rule's bounds, by table where it reads rows."""

    def __init__(self, rule: SensitivityRule, small: Small, adjacency: Adjacency, norm: str) -> None:
        self._rule, self._small, self._norm = rule, small, norm
        self._known: dict[Key, Bound] = {}
        self._adjacency = adjacency

    def of(self, key: Key) -> Bound:
        """The bound on one table."""
        key = key if self._rule.reads_rows else ()
        if key not in self._known:
            query = self._small.question.query
            table = self._small.table(key) if self._rule.reads_rows else None
            found = self._rule.bound(query, self._adjacency, self._norm, table)
            where = f"{query.describe()}, {self._adjacency}, {self._norm}"
            if found is None:
                raise Failed(f"{where}: it gives a bound without a table, and None with one.")
            _check_bound(self._rule, found, query, self._norm, where)
            self._known[key] = found
        return self._known[key]


def _problem(here: Bound, there: Bound, change: npt.NDArray[np.float64], norm: str) -> str:
    """What two neighbours show of a bound that does not hold; "" where it does."""
    if here is not there and (wrong := _unlike(here, there)):
        return wrong
    moved = _size(change, here.value, norm)
    if moved > 1 + _ROOM:
        if isinstance(here.value, np.ndarray):
            return f"the answer moves by {moved:.6g} of the cells' bounds"
        return f"the answer moves by {moved * here.scalar():.6g}, the bound is {here.scalar():.6g},"
    if here.rises is not None and max((change > 0).sum(), (change < 0).sum()) > here.rises:
        return f"more than rises = {here.rises} numbers rise"
    if here.monotone and (change > 0).any() and (change < 0).any():
        return "a monotone bound, and some scores rise while others fall"
    return ""


def _unlike(here: Bound, there: Bound) -> str:
    """What is wrong with the bounds of two neighbours, if they read rows."""
    one, other = np.asarray(here.value), np.asarray(there.value)
    if here.form == "global" and not np.array_equal(one, other):
        return "a bound that is called global depends on the rows"
    growth = math.exp(here.beta or 0.0)
    if here.form == "smooth" and (one > growth * other * (1 + _ROOM)).any():
        return f"S grows {float(np.max(one / other)):.6g} times, more than e^beta = {growth:.6g},"
    return ""


def _size(change: npt.NDArray[np.float64], value: Any, norm: str) -> float:
    """The change, as a part of what the bound allows."""
    parts = np.abs(change) / np.asarray(value, dtype=np.float64).ravel()
    if norm == "score":
        return float(parts.max(initial=0.0))
    return float(parts.sum() if norm == "l1" else np.linalg.norm(parts))
