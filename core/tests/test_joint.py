"""All classes at once: gradients, sensitivities and rounding are what the text of `dpcore.joint` says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime

from dpcore.features import FeatureMap, OneHot, Scaled
from dpcore.joint import JointMinimiser
from dpcore.partition import Values
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows

COLOUR, SIZE = Nominal("colour", ("red", "green", "blue")), Numeric("size", 0.0, 10.0)
SCHEMA = Schema((COLOUR, SIZE), Nominal("class", ("a", "b", "c", "d")))
QUERY = JointMinimiser(FeatureMap([OneHot(Values(COLOUR)), Scaled(SIZE)]), SCHEMA.target)
WIDTH = 4 * 5


def risk(n: int, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    columns = {
        "colour": rng.integers(0, 3, n).astype(np.uint8),
        "size": rng.uniform(0, 10, n),
        "class": rng.integers(0, 4, n).astype(np.uint8),
    }
    return MemoryTable(Rows(SCHEMA, columns, n)).answer(QUERY).item()


def weights(seed: int = 1) -> Any:
    each = np.random.default_rng(seed).normal(0, 2, (4, 5))
    return (each - each.mean(axis=0)).ravel()


def test_the_answer_has_one_vector_a_class() -> None:
    assert QUERY.shape == (WIDTH,)
    assert QUERY.classes == 4
    with pytest.raises(ValueError, match="centre"):
        JointMinimiser(QUERY.features, SCHEMA.target, centre=(0.0,) * 5)


def test_the_gradient_is_the_slope_of_the_value_and_sums_to_zero() -> None:
    found, w = risk(200), weights()
    gradient = found.gradient(w)
    assert gradient == pytest.approx(approx_fprime(w, found.value, 1e-6), abs=1e-2)
    assert gradient.reshape(4, 5).sum(axis=0) == pytest.approx(np.zeros(5), abs=1e-9)


def test_the_determinant_is_that_of_the_gradients_slope_where_weights_sum_to_zero() -> None:
    found, w, lam = risk(60), weights(), 0.7
    hessian = np.array([(found.gradient(w + 1e-5 * e) - found.gradient(w - 1e-5 * e)) / 2e-5 for e in np.eye(WIDTH)])
    # the mean over the classes adds an eigenvalue of lam for each of the features
    whole = np.linalg.slogdet(hessian + lam * np.eye(WIDTH))[1]
    assert found.log_determinant(w, lam) == pytest.approx(whole - 5 * np.log(lam), abs=1e-4)


@settings(deadline=None)
@given(st.integers(0, 2), st.floats(0, 10), st.integers(0, 3), st.integers(0, 999), st.floats(0.01, 10))
def test_one_row_moves_gradient_and_determinant_by_no_more_than_stated(
    colour: int, size: float, label: int, seed: int, lam: float
) -> None:
    one = {"colour": np.array([colour], np.uint8), "size": np.array([size]), "class": np.array([label], np.uint8)}
    found, w = MemoryTable(Rows(SCHEMA, one, 1)).answer(QUERY).item(), weights(seed) * 10
    gradient = found.gradient(w)
    assert np.linalg.norm(gradient) <= np.sqrt(2) * (1 + 1e-12)
    assert np.abs(gradient).sum() <= 2 * QUERY.features.longest_l1 * (1 + 1e-12)
    grown = found.log_determinant(w, lam) - 15 * np.log(lam)
    assert -1e-9 <= grown <= 3 * np.log1p((1 - 1 / 4) / 3 / lam) + 1e-9


def test_the_certificate_covers_rounding_whichever_way_it_is_summed() -> None:
    found, w = risk(5000), weights()
    coarse, slack = found.certified(w, enough=1.0)
    fine, less = found.certified(w, enough=0.0)
    assert 0 < less < slack < 1e-6
    assert np.linalg.norm(coarse - fine) <= slack + less
    assert found.gradient(w) == pytest.approx(fine, abs=1e-9)


def test_a_sample_of_the_rows_points_the_same_way() -> None:
    found, w = risk(40_000), weights() / 10
    rough, exact = found.rough().gradient(w), found.gradient(w)
    assert np.linalg.norm(rough - exact) < 0.4 * np.linalg.norm(exact)
    assert (np.diagonal(found.rough().hessian(w), axis1=1, axis2=2) > 0).all()
