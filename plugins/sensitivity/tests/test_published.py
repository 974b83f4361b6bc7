"""The published rules give the papers' formulas, read private class sizes, and say so."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpcore.errors import ParameterError
from dpcore.partition import Values
from dpcore.privacy import Adjacency
from dpcore.query import Counts, Deviations, Means, Sums, Variances
from dpcore.schema import Nominal, Numeric
from dpcore_sensitivity.published import Lopuhaa2021, Vaidya2013

CLASSES = Values(Nominal("class", ("a", "b")))
A = Numeric("x", 10.0, 13.0)
RULES = [Vaidya2013(), Vaidya2013(size=50), Lopuhaa2021()]
EITHER = list(Adjacency)


def sized(table: Any, first: int, second: int) -> Any:
    return table(A, [(11.0, 0)] * first + [(12.0, 1)] * second)


@pytest.mark.parametrize("adjacency", EITHER)
@pytest.mark.parametrize(("n", "m"), [(0, 1), (1, 4), (9, 100)])
def test_vaidya_equations_5_and_7(table: Any, adjacency: Adjacency, n: int, m: int) -> None:
    held = sized(table, n, m)
    mean = Vaidya2013().bound(Means(A, CLASSES), adjacency, "l1", held)
    deviation = Vaidya2013().bound(Deviations(A, CLASSES), adjacency, "l1", held)
    assert mean is not None
    assert deviation is not None
    assert mean.value == pytest.approx(np.array([3 / (n + 1), 3 / (m + 1)]))
    expected = [3 * math.sqrt(k) / (k + 1) if k else deviation.grid for k in (n, m)]
    assert deviation.value == pytest.approx(np.array(expected))


@pytest.mark.parametrize("adjacency", EITHER)
@pytest.mark.parametrize(("n", "m"), [(0, 1), (1, 4), (9, 100)])
def test_lopuhaa_equation_14(table: Any, adjacency: Adjacency, n: int, m: int) -> None:
    held = sized(table, n, m)
    mean = Lopuhaa2021().bound(Means(A, CLASSES), adjacency, "l1", held)
    deviation = Lopuhaa2021().bound(Deviations(A, CLASSES), adjacency, "l1", held)
    assert mean is not None
    assert deviation is not None
    sizes = np.maximum([n, m], 1)
    assert mean.value == pytest.approx(3 / sizes)
    assert deviation.value == pytest.approx(3 / np.sqrt(sizes))


def test_a_published_size_takes_the_place_of_both_class_sizes(table: Any) -> None:
    rule = Vaidya2013(size=24)
    for rows in ((0, 0), (3, 500)):
        mean = rule.bound(Means(A, CLASSES), EITHER[0], "l1", sized(table, *rows))
        deviation = rule.bound(Deviations(A, CLASSES), EITHER[0], "l1", sized(table, *rows))
        assert mean is not None
        assert deviation is not None
        assert mean.value == pytest.approx(np.full(2, 3 / 25))
        assert deviation.value == pytest.approx(np.full(2, 3 * math.sqrt(24) / 25))


@pytest.mark.parametrize("n", [1, 2, 5, 30])
def test_vaidyas_mean_is_what_one_row_more_really_moves_a_class_of_that_size(table: Any, n: int) -> None:
    """So far the paper is right: equation 5 is attained. But n is private."""
    bound = Vaidya2013().bound(Means(A, CLASSES), EITHER[0], "l1", sized(table, n, 0))
    assert bound is not None
    asked = Means(A, CLASSES)
    one, two = ([(10.0, 0)] * n, [(10.0, 0)] * n + [(13.0, 0)])
    moved = (table(A, two).answer(asked) - table(A, one).answer(asked))[0] * asked.grid
    assert moved == pytest.approx(np.asarray(bound.value)[0])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("query", [Means(A, CLASSES), Deviations(A, CLASSES)])
def test_the_bounds_are_marked_local_and_unknown_without_rows(table: Any, rule: Any, query: Any) -> None:
    planned = rule.bound(query, EITHER[0], "l1")
    found = rule.bound(query, EITHER[0], "l1", sized(table, 2, 3))
    assert planned.value is None
    assert (planned.form, found.form, found.grid) == ("local", "local", query.grid)
    assert planned.to_json() is found.to_json() is None
    assert rule.reads_rows
    assert rule.guarantee == "none"


@pytest.mark.parametrize("rule", RULES)
def test_other_questions_and_norms_have_no_bound(rule: Any) -> None:
    for query in (Counts(CLASSES), Sums(A, CLASSES), Variances(A, CLASSES)):
        assert rule.bound(query, EITHER[0], "l1") is None
    assert rule.bound(Means(A, CLASSES), EITHER[0], "l2") is None


def test_neighbours_get_noise_of_different_scales(table: Any) -> None:
    """Why nothing is guaranteed: the scale itself tells the class size."""
    for rule in (Vaidya2013(), Lopuhaa2021()):
        scales = [rule.bound(Means(A, CLASSES), EITHER[0], "l1", sized(table, n, 5)) for n in (3, 4)]
        assert np.asarray(scales[0].value)[0] > np.asarray(scales[1].value)[0] * 1.2  # type: ignore[union-attr]


@pytest.mark.parametrize("size", [0, -3, 1.5, "9"])
def test_a_published_size_must_be_a_count(size: Any) -> None:
    with pytest.raises(ParameterError, match=r"The 'size' parameter of Vaidya2013 must be an int in the range"):
        Vaidya2013(size=size)
