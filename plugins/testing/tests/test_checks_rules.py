"""The checks of sensitivity rules fail bounds that do not hold or are not claimed, and pass ours."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

from dpcore import SensitivityRule, load_plugins
from dpcore.bound import Bound
from dpcore.privacy import Adjacency
from dpcore.query import Choice, Counts, Means, Query, Sums
from dpcore_testing import checks

REGISTRY = load_plugins()
ADDED = Adjacency.ADD_REMOVE


@pytest.mark.parametrize("name", ["global", "vaidya2013", "lopuhaa2021"])
def test_our_rules_pass_every_check_but_the_audit(name: str) -> None:
    """The audit of them is in test_audit.py."""
    subject = checks.subject(REGISTRY, "sensitivity", name)
    results = [checks.run_one(subject, c.name) for c in checks.checks_of("sensitivity") if c.name != "audited"]
    assert [r for r in results if r.status == "failed"] == []
    (held,) = [r for r in results if r.check == "bounds-hold"]
    assert held.status == ("ok" if name == "global" else "skipped")


class Histogram(SensitivityRule):
    """A sound rule for counts in L1: a row more moves one count, and a row that is replaced two."""

    kinds: ClassVar[tuple[str, ...]] = ("counts",)
    norms: ClassVar[tuple[str, ...]] = ("l1",)
    notes: ClassVar[str] = "Made for tests."

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        if norm != "l1" or query.kind not in self.kinds:
            return None
        return Bound(1.0 if adjacency is ADDED else 2.0, "l1", grid=query.grid, rises=1)


class SmoothSums(SensitivityRule):
    """A sound smooth bound for sums: it never falls below the global one, and shrinks as a class grows."""

    kinds: ClassVar[tuple[str, ...]] = ("sums",)
    norms: ClassVar[tuple[str, ...]] = ("l1",)
    adjacency: ClassVar[tuple[str, ...]] = ("add-remove",)
    reads_rows: ClassVar[bool] = True
    notes: ClassVar[str] = "Made for tests."
    growth: ClassVar[float] = 0.1

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        if norm != "l1" or not isinstance(query, Sums) or adjacency is not ADDED:
            return None
        value = None
        if table is not None:
            rows = float(table.answer(Counts(query.by)).sum())
            value = query.largest * (1 + math.exp(-self.growth * rows))
        return Bound(value, "l1", "smooth", grid=query.grid, beta=0.1)


@pytest.mark.parametrize("cls", [Histogram, SmoothSums])
def test_sound_rules_pass(judge, cls: type) -> None:
    for check in ("knows-what-it-claims", "bounds-hold"):
        assert judge(check, cls).status == "ok"
    assert "pairs of neighbours" in judge("bounds-hold", cls).message


# -- knows-what-it-claims --------------------------------------------------------------------------------------------


class KnowsEverything(Histogram):
    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        return Bound(1.0, norm, grid=query.grid)


class BoundsWhatItDoesNotClaim(Histogram):
    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        if isinstance(query, Sums) and norm == "l1":
            return Bound(query.largest * 2, "l1", grid=query.grid)
        return super().bound(query, adjacency, norm, table)


class ClaimsMore(Histogram):
    kinds = ("counts", "sums")

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        return super().bound(query, adjacency, norm, table) if isinstance(query, Counts) else None


class ClaimsMoreNorms(Histogram):
    norms = ("l1", "l2")


class OtherAdjacency(Histogram):
    adjacency = ("replace-one",)


class OneAdjacencyOnly(Histogram):
    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        return super().bound(query, adjacency, norm, table) if adjacency is ADDED else None


class ReadsWithoutRows(SmoothSums):
    """It gives a value where there is no table: that value would be shown in the plan."""

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        found = super().bound(query, adjacency, norm, table)
        return found and attrs.evolve(found, value=found.value or 1.0)


class NoBoundWithoutRows(SmoothSums):
    reads_rows = False


class OneNumber(Histogram):
    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Any:
        found = super().bound(query, adjacency, norm, table)
        return found and found.value


class AnyNorm(Histogram):
    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        return super().bound(query, adjacency, "l1", table)


class WrongGrid(SmoothSums):
    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        found = super().bound(query, adjacency, norm, table)
        return found and attrs.evolve(found, grid=1.0)


class Infinite(Histogram):
    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        found = super().bound(query, adjacency, norm, table)
        return found and attrs.evolve(found, value=math.inf)


class NoBeta(SmoothSums):
    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        found = super().bound(query, adjacency, norm, table)
        return found and attrs.evolve(found, beta=None)


class LocalAndSilent(SmoothSums):
    """Local sensitivity, with the guarantee of a global one."""

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        found = super().bound(query, adjacency, norm, table)
        return found and attrs.evolve(found, form="local", beta=None)


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (KnowsEverything, "it bounds a kind of query that it does not know; it must give None"),
        (BoundsWhatItDoesNotClaim, "it bounds sums queries under add-remove and does not claim sums queries"),
        (ClaimsMore, "it claims sums queries and gives no bound for any of them under add-remove"),
        (ClaimsMoreNorms, "`norms` claims l1, l2; there are bounds in l1"),
        (OtherAdjacency, "it bounds counts queries under add-remove and does not claim add-remove adjacency"),
        (OneAdjacencyOnly, "it claims counts queries and gives no bound for any of them under replace-one"),
        (ReadsWithoutRows, "it `reads_rows`, and knows the bound without a table"),
        (NoBoundWithoutRows, "it reads no rows; its bound must be global and have a value"),
        (OneNumber, "it gives a float, not a Bound"),
        (AnyNorm, "l2: it gives a bound in l1"),
        (WrongGrid, "the bound's grid is 1, the answer's"),
        (Infinite, "a bound must be finite and above 0. Got inf"),
        (NoBeta, "a smooth bound must say its beta"),
        (LocalAndSilent, "a `local` bound protects nothing, and `guarantee` says 'a bound for every pair"),
    ],
)
def test_a_rule_must_bound_what_it_claims_and_nothing_else(fails, cls: type, words: str) -> None:
    assert words in fails("knows-what-it-claims", cls)


class Unheard(Histogram):
    kinds = ("moments of moments",)

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        return None


def test_a_rule_for_a_kind_of_query_of_its_own_is_not_judged(judge) -> None:
    for check in ("knows-what-it-claims", "bounds-hold"):
        result = judge(check, Unheard)
        assert result.status == "skipped"
        assert "no queries at hand" in result.message


class PartlyUnheard(Histogram):
    kinds = ("counts", "moments of moments")
    norms = ("l1", "gradient")


def test_norms_may_be_for_kinds_of_query_that_nobody_else_has(judge) -> None:
    result = judge("knows-what-it-claims", PartlyUnheard)
    assert result.status == "ok"
    assert result.message.endswith("; no queries at hand of the kinds moments of moments")


# -- bounds-hold -----------------------------------------------------------------------------------------------------


class MissesTheReplaced(Histogram):
    """A row that is replaced leaves one cell and enters another: 2, not the square root of 2."""

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        found = super().bound(query, adjacency, norm, table)
        return found and attrs.evolve(found, value=math.sqrt(found.scalar()))


class MissesTheEmptyClass(SensitivityRule):
    """A quarter of the range; the first row moves the mean of no rows, the middle of it, by up to a half."""

    kinds: ClassVar[tuple[str, ...]] = ("means",)
    norms: ClassVar[tuple[str, ...]] = ("l2",)
    notes: ClassVar[str] = "Made for tests."

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        if not isinstance(query, Means) or norm != "l2":
            return None
        return Bound(query.attribute.width / 4, "l2", grid=query.grid)


class PerCell(Histogram):
    """1 for each count, which is right for each alone; a row that is replaced moves two of them."""

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        found = super().bound(query, adjacency, norm, table)
        cells = np.full(query.cells, 1.0)
        return found and attrs.evolve(found, value=cells, rises=None)


class NothingRises(Histogram):
    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        found = super().bound(query, adjacency, norm, table)
        return found and attrs.evolve(found, rises=0)


class AlwaysMonotone(SensitivityRule):
    """Scores move the same way only where a row is added."""

    kinds: ClassVar[tuple[str, ...]] = ("choice",)
    norms: ClassVar[tuple[str, ...]] = ("score",)
    notes: ClassVar[str] = "Made for tests."

    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        return Bound(1.0, "score", monotone=True) if isinstance(query, Choice) and norm == "score" else None


class HalfTheScore(AlwaysMonotone):
    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        found = super().bound(query, adjacency, norm, table)
        return found and attrs.evolve(found, value=0.5)


class NotSmooth(SmoothSums):
    """It shrinks faster than its beta allows: a row more takes a factor of up to 2 off."""

    growth = 20.0


class Lost(SmoothSums):
    def bound(self, query: Query, adjacency: Adjacency, norm: str, table: Any = None) -> Bound | None:
        return super().bound(query, adjacency, norm) if table is None else None


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (MissesTheReplaced, "replace-one, l1: the answer moves by 2, the bound is 1.41421, between the neighbours"),
        (MissesTheEmptyClass, "between the neighbours no rows | "),
        (PerCell, "the answer moves by 2 of the cells' bounds"),
        (NothingRises, "more than rises = 0 numbers rise"),
        (AlwaysMonotone, "replace-one, score: a monotone bound, and some scores rise while others fall"),
        (HalfTheScore, "the answer moves by 1, the bound is 0.5"),
        (NotSmooth, "S grows 2 times, more than e^beta = 1.10517, between the neighbours"),
        (Lost, "it gives a bound without a table, and None with one"),
    ],
)
def test_a_bound_must_hold_between_all_small_neighbours(fails, cls: type, words: str) -> None:
    assert words in fails("bounds-hold", cls)
