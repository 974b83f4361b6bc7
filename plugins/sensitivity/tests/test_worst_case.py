"""No row moves an answer further than the global bound, over all small tables; and some row moves it that far."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.partition import EqualBins, Product, Values
from dpcore.privacy import Adjacency
from dpcore.query import CellCount, Choice, Counts, Deviations, Means, Query, Sums, Variances
from dpcore.schema import Nominal, Numeric
from dpcore_sensitivity.worst_case import Global

ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
CLASSES = Values(Nominal("class", ("a", "b")))
NAN = float("nan")
# ranges whose halves are whole numbers of grid steps, and some whose halves are rounded up and down to one
RANGES = [(0.0, 8.0), (0.0, 0.3), (0.0, 1.1), (-1.0, 100 / 3 - 1), (-1e6, 3.7), (1e6, 1e6 + 7)]


def queries(a: Numeric) -> dict[str, Query]:
    return {
        "counts": Counts(CLASSES),
        "cells": Counts(Product((EqualBins(a, 3), CLASSES))),
        "sums": Sums(a, CLASSES),
        "squares": Sums(a, CLASSES, power=2),
        "means": Means(a, CLASSES),
        "variances": Variances(a, CLASSES),
        "deviations": Deviations(a, CLASSES),
    }


def attribute(bounds: tuple[float, float]) -> Numeric:
    return Numeric("x", *bounds, missing=True)


def domain(a: Numeric) -> list[tuple[float, int]]:
    """Both bounds, the middle, beyond a bound, and nothing; in both classes."""
    return list(itertools.product([a.lower, a.upper, a.lower + 0.3 * a.width, a.upper + 9, NAN], (0, 1)))


def neighbours(values: list[Any], adjacency: Adjacency, most: int) -> Iterator[tuple[Any, Any]]:
    """Pairs of multisets of places in a list of rows."""
    for size in range(most + 1):
        for rows in itertools.combinations_with_replacement(range(len(values)), size):
            for new in range(len(values)):
                if adjacency is ADD:
                    yield rows, tuple(sorted((*rows, new)))
                else:
                    for i in range(size):
                        yield rows, tuple(sorted((*rows[:i], *rows[i + 1 :], new)))


def norm(change: Any, kind: str) -> float:
    """The L1 or L2 norm of a change in whole steps, in exact integer arithmetic up to the root."""
    steps = [abs(int(c)) for c in change.ravel()]
    return float(sum(steps)) if kind == "l1" else math.sqrt(sum(s * s for s in steps))


@pytest.mark.parametrize("bounds", RANGES)
@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
def test_over_all_small_tables_the_bound_holds_and_is_attained(
    table: Any, bounds: tuple[float, float], adjacency: Adjacency
) -> None:
    a = attribute(bounds)
    values, asked = domain(a), queries(a)
    answers: dict[Any, dict[str, Any]] = {}

    def answer(places: Any) -> dict[str, Any]:
        if places not in answers:
            held = table(a, [values[i] for i in places])
            answers[places] = {name: held.answer(q) for name, q in asked.items()}
        return answers[places]

    worst = dict.fromkeys(itertools.product(asked, ("l1", "l2")), 0.0)
    for one, two in neighbours(values, adjacency, 3):
        first, second = answer(one), answer(two)
        for name, kind in worst:
            moved = norm(first[name] - second[name], kind)
            worst[name, kind] = max(worst[name, kind], moved)
    for (name, kind), moved in worst.items():
        found = Global().bound(asked[name], adjacency, kind)
        assert found is not None
        assert (found.form, found.norm, found.grid) == ("global", kind, asked[name].grid)
        assert moved * found.grid <= found.scalar(), (name, kind)
        assert moved * found.grid >= 0.99 * found.scalar(), (name, kind)


@settings(max_examples=150, deadline=None)
@given(data=st.data(), adjacency=st.sampled_from([ADD, REPLACE]), bounds=st.sampled_from(RANGES))
def test_no_row_of_a_larger_table_moves_an_answer_further(
    table: Any, data: st.DataObject, adjacency: Adjacency, bounds: tuple[float, float]
) -> None:
    a = attribute(bounds)
    inside = st.floats(a.lower - a.width, a.upper + a.width)
    row = st.tuples(st.one_of(st.sampled_from([a.lower, a.upper, a.middle, NAN]), inside), st.integers(0, 1))
    # one row many times over and a few others: where moments cancel worst
    rows = [data.draw(row)] * data.draw(st.sampled_from([0, 1, 2, 50, 3000])) + data.draw(st.lists(row, max_size=6))
    changed = [*rows[1:], data.draw(row)] if adjacency is REPLACE and rows else [*rows, data.draw(row)]
    one, two = table(a, rows), table(a, changed)
    for asked in queries(a).values():
        change = one.answer(asked) - two.answer(asked)
        for kind in ("l1", "l2"):
            found = Global().bound(asked, adjacency if rows else ADD, kind)
            assert found is not None
            assert norm(change, kind) * asked.grid <= found.scalar()


@settings(max_examples=200)
@given(st.floats(-1e100, 1e100), st.floats(1e-12, 1e100), st.floats(0, 1), st.floats(0, 1))
def test_for_ranges_of_any_size_two_values_stay_within_the_bound(
    lower: float, width: float, x: float, y: float
) -> None:
    try:
        a = Numeric("x", lower, min(lower + width, 1e100))
    except ValueError:
        return
    values = np.array([a.lower + x * a.width, a.lower + y * a.width, a.lower, a.upper])
    for power in (1, 2):
        asked = Sums(a, CLASSES, power=power)
        terms = asked.terms(values)
        found = Global().bound(asked, ADD, "l1")
        assert found is not None
        assert np.abs(terms).max() * asked.grid <= found.scalar() <= a.width**power / 2**power * (1 + 1e-12)


@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
def test_scores_of_a_choice_move_by_the_bound_and_together_where_they_are_said_to(
    table: Any, adjacency: Adjacency
) -> None:
    a = attribute((0.0, 8.0))
    asked = Choice(Counts(Product((EqualBins(a, 2), CLASSES))), CellCount())
    found = Global().bound(asked, adjacency, "score")
    assert found is not None
    values, worst, together = domain(a), 0.0, True
    for one, two in neighbours(values, adjacency, 2):
        held = [table(a, [values[i] for i in places]).answer(asked) for places in (one, two)]
        change = held[1] - held[0]
        worst = max(worst, float(np.abs(change).max()))
        together = together and (bool((change >= 0).all()) or bool((change <= 0).all()))
    assert worst == found.scalar()
    assert together == found.monotone == (adjacency is ADD)


@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
def test_one_person_raises_at_most_one_count(table: Any, adjacency: Adjacency) -> None:
    a = attribute((0.0, 8.0))
    asked = Counts(Product((EqualBins(a, 2), CLASSES)))
    found = Global().bound(asked, adjacency, "l1")
    assert found is not None
    values = domain(a)
    risen = [
        int((table(a, [values[i] for i in two]).answer(asked) > table(a, [values[i] for i in one]).answer(asked)).sum())
        for one, two in neighbours(values, adjacency, 1)
    ]
    assert max(risen) == found.rises == 1
    assert Global().bound(Sums(a, CLASSES), adjacency, "l1").rises is None  # type: ignore[union-attr]


def test_what_the_rule_does_not_know_has_no_bound() -> None:
    a = attribute((0.0, 8.0))

    class Other(Query):
        kind, shape = "other", ()

        def describe(self) -> str:
            return ""

    assert Global().bound(Counts(CLASSES), ADD, "score") is None
    assert Global().bound(Choice(Counts(CLASSES), CellCount()), ADD, "l1") is None
    assert Global().bound(Other(), ADD, "l1") is None
    assert Global().bound(Means(a, CLASSES), ADD, "l2") is not None
