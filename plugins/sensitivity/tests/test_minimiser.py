"""One person moves the gradient of an empirical risk, and its Hessian's determinant, no further than its bound says."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpcore.features import FeatureMap, Lookup, OneHot, Scaled
from dpcore.losses import HuberHinge, Logistic, Loss
from dpcore.partition import EqualBins, Values
from dpcore.privacy import Adjacency
from dpcore.risk import GradientBound, Minimiser
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows
from dpcore_sensitivity.worst_case import Global

ADD, REPLACE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE
COLOUR, AGE, TARGET = Nominal("colour", ("r", "g")), Numeric("age", 0, 1, missing=True), Nominal("class", ("a", "b"))
SCHEMA = Schema((COLOUR, AGE), TARGET)
MAPS = {
    "one-hot": FeatureMap([OneHot(Values(COLOUR)), OneHot(EqualBins(AGE, 2))]),
    "scaled": FeatureMap([OneHot(Values(COLOUR)), Scaled(AGE)]),
    "shortened": FeatureMap([Lookup(Values(COLOUR), [3.0, -0.1]), Scaled(AGE)], 0.5),
}
LOSSES = [Logistic(), HuberHinge(), HuberHinge(0.5)]
ROWS = list(itertools.product((0, 1), (0.0, 1.0, 5.0, math.nan), (0, 1)))
LAM = 0.7


def risk(query: Minimiser, rows: list[Any]) -> Any:
    columns = [np.array(c) for c in zip(*rows, strict=True)] if rows else [np.empty(0)] * 3
    kinds = zip(("colour", "age", "class"), columns, (np.uint8, np.float64, np.uint8), strict=True)
    table = MemoryTable(Rows(SCHEMA, {name: column.astype(kind) for name, column, kind in kinds}, len(rows)))
    return table.answer(query).item()


def neighbours(adjacency: Adjacency) -> Iterator[tuple[list[Any], list[Any]]]:
    """All pairs of a few rows with one of all rows more, or two of all in each other's place."""
    for base in ([], [ROWS[0]], [ROWS[3], ROWS[12], ROWS[12]]):
        if adjacency is ADD:
            yield from ((base, [*base, row]) for row in ROWS)
        else:
            yield from (([*base, one], [*base, other]) for one, other in itertools.combinations(ROWS, 2))


def bound(query: Minimiser, adjacency: Adjacency) -> GradientBound:
    found = Global().bound(query, adjacency, "gradient")
    assert isinstance(found, GradientBound)
    return found


@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", MAPS)
def test_no_neighbour_changes_more_than_the_bound_says(name: str, loss: Loss, adjacency: Adjacency) -> None:
    query = Minimiser(MAPS[name], TARGET, loss=loss)
    stated, rng = bound(query, adjacency), np.random.default_rng(0)
    points = [rng.normal(scale=s, size=query.features.width) for s in (0.1, 1.0, 3.0, 100.0)]
    # the steepest points: the change of one row's gradient is largest where its margin is far below 0
    points += [sign * 100 * np.eye(query.features.width)[-1] for sign in (1, -1)]
    largest = {"l2": 0.0, "l1": 0.0, "determinant": 0.0}
    eye = LAM * np.eye(query.features.width)

    @cache
    def facts(rows: tuple[Any, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Gradients and log-determinants at the points."""
        found = risk(query, list(rows))
        logs = [np.linalg.slogdet(found.hessian(w) + eye)[1] for w in points]
        return np.array([found.gradient(w) for w in points]), np.array(logs)

    for left, right in neighbours(adjacency):
        (one, first), (other, second) = facts(tuple(left)), facts(tuple(right))
        largest["l2"] = max(largest["l2"], float(np.linalg.norm(one - other, axis=1).max()))
        largest["l1"] = max(largest["l1"], float(np.abs(one - other).sum(axis=1).max()))
        largest["determinant"] = max(largest["determinant"], float(np.abs(first - second).max()))
    assert largest["l2"] <= stated.scalar()
    assert largest["l1"] <= stated.l1 * (1 + 1e-12)
    assert largest["determinant"] <= math.log1p(stated.curvature / LAM)
    assert largest["l2"] >= 0.9 * stated.scalar() / (1 if adjacency is ADD else 2)


def test_a_replaced_row_can_move_the_gradient_by_twice_its_length() -> None:
    """Two opposite vectors, each with the margin that is steepest: nothing of the factor 2 is wasted."""
    query = Minimiser(FeatureMap([Lookup(Values(COLOUR), [1e6, -1e6])]), TARGET)
    stated = bound(query, REPLACE)
    steep = np.array([0.0, -1e9])  # the constant is 1e-6 of each
    moved = risk(query, [(0, 0.0, 1)]).gradient(steep) - risk(query, [(1, 0.0, 1)]).gradient(steep)
    assert np.linalg.norm(moved) == pytest.approx(2.0)
    assert np.linalg.norm(moved) <= stated.scalar() == 2.0


@pytest.mark.parametrize(("adjacency", "rows"), [(ADD, 1), (REPLACE, 2)])
def test_the_bound_passes_on_what_the_question_says(adjacency: Adjacency, rows: int) -> None:
    query = Minimiser(MAPS["one-hot"], TARGET, loss=HuberHinge(0.1), strength=3.0, lam=9.0)
    found = bound(query, adjacency)
    assert (found.norm, found.form, found.scalar()) == ("gradient", "global", rows)
    assert (found.width, found.curvature, found.strength, found.lam) == (6, 5.0, 3.0, 9.0)
    assert found.l1 == pytest.approx(rows * math.sqrt(3))


def test_only_a_gradients_norm_fits_the_question() -> None:
    for norm in ("l1", "l2", "score"):
        assert Global().bound(Minimiser(MAPS["scaled"], TARGET), ADD, norm) is None
