"""The released model gives probabilities for any row whatever, and survives its file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcore.errors import InputError
from dpcore.partition import EqualBins, Values
from dpcore.schema import Nominal, Numeric, Schema
from dpcore_naive_bayes.model import NaiveBayesModel, NormalPart, TablePart

COLOUR, SIZE = Nominal("colour", ("red", "blue")), Numeric("size", 0.0, 10.0)
AGE = Numeric("age", -1.0, 1.0, missing=True)
SCHEMA = Schema((COLOUR, SIZE, AGE), Nominal("class", ("a", "b", "c")))
NONE = np.zeros((2, 3))


def model() -> NaiveBayesModel:
    rng = np.random.default_rng(0)

    def table(cells: int) -> Any:
        return np.log(rng.dirichlet(np.ones(cells), size=3).T)

    missing = np.log(np.array([[0.2, 0.5, 0.1], [0.8, 0.5, 0.9]]))
    normal = NormalPart(AGE, np.array([0.0, 0.5, -3.0]), np.array([0.1, 1.0, 0.4]), True, missing)
    parts = (TablePart(Values(COLOUR), table(2)), TablePart(EqualBins(SIZE, 4), table(4)), normal)
    return NaiveBayesModel(np.log(np.array([0.5, 0.3, 0.2])), parts)


def density(part: NormalPart, x: Any) -> Any:
    total = np.zeros((len(x), len(part.mean)))
    part.add({part.attribute.name: x}, total)
    return np.exp(total)


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=20),
    st.lists(st.one_of(st.floats(-1e100, 1e100), st.just(float("nan"))), min_size=1, max_size=20),
)
def test_every_row_gets_probabilities_that_sum_to_1(rows: Any, codes: list[int], values: list[float]) -> None:
    """A code of 2 is a category that the schema does not know."""
    n = min(len(codes), len(values))
    x = np.array(values[:n])
    log = model().log_proba(rows(SCHEMA, np.array(codes[:n], dtype=np.uint8), x, x))
    assert np.isfinite(log).all()
    assert np.exp(log).sum(axis=1) == pytest.approx(1.0)


def test_nothing_known_adds_nothing_and_a_declared_missing_cell_has_its_own_probability(rows: Any) -> None:
    made = model()
    log = made.log_proba(rows(SCHEMA, np.array([2], dtype=np.uint8), np.array([np.nan]), np.array([np.nan])))
    expected = np.array([0.5, 0.3, 0.2]) * np.array([0.2, 0.5, 0.1])
    assert np.exp(log[0]) == pytest.approx(expected / expected.sum())


def test_a_value_out_of_bounds_counts_as_the_bound(rows: Any) -> None:
    code = np.zeros(4, dtype=np.uint8)
    log = model().log_proba(rows(SCHEMA, code, np.array([0.0, -9.0, 10.0, 1e99]), np.array([-1.0, -50, 1, 7])))
    assert log[0] == pytest.approx(log[1])
    assert log[2] == pytest.approx(log[3])


def test_an_attribute_without_a_part_tells_nothing(rows: Any) -> None:
    prior = np.log(np.array([0.5, 0.3, 0.2]))
    bare = NaiveBayesModel(prior, ())
    assert bare.log_proba(rows(SCHEMA, np.zeros(2, dtype=np.uint8), np.zeros(2), np.zeros(2))) == pytest.approx(
        np.array([prior, prior])
    )


@settings(max_examples=300, deadline=None)
@given(st.floats(-1e3, 1e3), st.floats(-12, 12), st.floats(-2, 3))
def test_a_truncated_density_integrates_to_1_over_the_bounds(
    shift: float, log_deviation: float, log_width: float
) -> None:
    """Means from 1000 deviations under the lower bound to 1000 over the upper; deviations of any size."""
    width = 10.0**log_width
    a = Numeric("x", -1.0, -1.0 + width)
    deviation = width * 10.0**log_deviation
    mean = (a.lower if shift < 0 else a.upper) + shift * deviation
    part = NormalPart(a, np.array([mean]), np.array([deviation]), True, np.zeros((2, 1)))
    mode = min(max(mean, a.lower), a.upper)
    # from the mode to each side, spaced by ratios, so that a peak of any width is resolved
    steps = np.concatenate([[0], np.geomspace(1e-18 * width, width, 30_001)])
    x = np.unique(np.clip(np.concatenate([mode - steps, mode + steps]), a.lower, a.upper))
    if deviation / (1 + abs(shift)) < 1e-9 * width:
        # so near a bound two floats are further apart than the peak is wide: look at the shape alone
        assert np.isfinite(density(part, np.array([mode]))).all()
        return
    assert np.trapezoid(density(part, x)[:, 0], x) == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("mean", [-2.0, -0.3, 0.0, 0.9, 5.0])
@pytest.mark.parametrize("deviation", [0.05, 0.3, 2.0, 1e3, 1e9, 1e300])
def test_a_truncated_density_is_that_of_scipy(mean: float, deviation: float) -> None:
    part = NormalPart(AGE, np.array([mean]), np.array([deviation]), True, np.zeros((2, 1)))
    x = np.linspace(-1, 1, 7)
    if deviation > 1e5:
        expected = np.full(7, 0.5)  # as good as uniform
    else:
        low, high = (-1 - mean) / deviation, (1 - mean) / deviation
        expected = stats.truncnorm.pdf(x, low, high, loc=mean, scale=deviation)
    assert density(part, x)[:, 0] == pytest.approx(expected, rel=1e-6)


def test_without_truncation_the_density_is_normal() -> None:
    part = NormalPart(AGE, np.array([0.2]), np.array([0.7]), False, np.zeros((2, 1)))
    x = np.linspace(-1, 1, 5)
    assert density(part, x)[:, 0] == pytest.approx(stats.norm.pdf(x, 0.2, 0.7))


def test_a_model_comes_back_from_its_json_with_the_same_predictions(rows: Any) -> None:
    data = json.loads(json.dumps(model().to_json(), allow_nan=False))
    rng = np.random.default_rng(1)
    some = rows(SCHEMA, rng.integers(0, 3, 50).astype(np.uint8), rng.normal(5, 4, 50), rng.normal(0, 1, 50))
    again = NaiveBayesModel.from_json(SCHEMA, data)
    assert (again.log_proba(some) == model().log_proba(some)).all()
    assert again.to_json() == model().to_json()


@pytest.mark.parametrize(("part", "key", "value"), [
    (2, "deviation", [0.1, 0.0, 1.0]), (2, "deviation", [0.1, -1.0, 1.0]), (2, "mean", [0.0, 1.0]),
    (2, "mean", [0.0, float("nan"), 0.0]), (1, "bins", 5), (0, "log", [[0.0, 0.0, 0.0]]), (0, "kind", "normal"),
    (1, "kind", "odd"), (2, "missing", [[0.0] * 3]),
])  # fmt: skip
def test_a_damaged_file_is_refused(part: int, key: str, value: Any) -> None:
    data = json.loads(json.dumps(model().to_json()))
    data["parts"][part][key] = value
    with pytest.raises(InputError):
        NaiveBayesModel.from_json(SCHEMA, data)
