"""The minimiser is found and certified wherever that is possible, and nothing is returned where it is not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array

from dpcore.errors import NotConverged
from dpcore.features import FeatureMap, OneHot, Scaled
from dpcore.losses import HuberHinge, Logistic, Loss
from dpcore.partition import Values
from dpcore.risk import Minimiser, Risk, Vectors
from dpcore.schema import Nominal, Numeric
from dpcore_mechanisms.newton import Objective, minimise

TARGET = Nominal("class", ("a", "b"))
ONE_HOT = FeatureMap([OneHot(Values(Nominal(f"a{i}", tuple("pqrst")))) for i in range(3)])
DENSE = FeatureMap([Scaled(Numeric(f"n{i}", 0, 1)) for i in range(3)])
LOSSES = [Logistic(), HuberHinge(), HuberHinge(0.5)]
LAMS = [1e-3, 0.1, 1.0, 50.0, 1e5, 1e13]


class Given(Vectors):
    """One block of vectors."""

    def __init__(self, matrix: Any, counts: npt.NDArray[np.int64]) -> None:
        super().__init__()
        self.found = matrix, counts

    def blocks(self) -> Any:
        return iter([self.found] if len(self.found[1]) else [])


def rows(features: FeatureMap, n: int, seed: int = 0, *, counts: Any = None, noisy: float = 0.2) -> Given:
    """Vectors with labels that mostly follow one direction."""
    rng = np.random.default_rng(seed)
    matrix = np.zeros((n, features.width))
    if features.dense:
        matrix[:, :-1] = rng.uniform(-1, 1, (n, features.width - 1))
    else:
        for part in range(3):
            matrix[np.arange(n), 5 * part + rng.integers(0, 5, n)] = 1
    matrix[:, -1] = 1
    matrix *= features.scale
    sign = (matrix @ rng.normal(size=features.width) > 0) ^ (rng.random(n) < noisy)
    many = np.zeros((n, 2), dtype=np.int64)
    many[np.arange(n), sign.astype(int)] = 1 if counts is None else counts
    return Given(matrix if features.dense else csr_array(matrix), many)


def objective(vectors: Given, features: FeatureMap, loss: Loss, lam: float, push: Any = 0.0, **facts: Any) -> Objective:
    b = np.full(features.width, push) if np.isscalar(push) else push
    return Objective(Risk(vectors, Minimiser(features, TARGET, loss=loss, **facts)), lam, np.asarray(b, dtype=float))


def value(o: Objective, w: npt.NDArray[np.float64]) -> float:
    away = w - o.risk.centre
    return o.risk.value(w) + 0.5 * o.lam * float(away @ away) + float(o.push @ w)


@pytest.mark.parametrize("features", [ONE_HOT, DENSE], ids=["one-hot", "dense"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("lam", LAMS)
def test_the_minimum_is_found_for_any_regularisation(features: FeatureMap, loss: Loss, lam: float) -> None:
    for n, seed in ((0, 0), (1, 0), (7, 1), (2000, 2)):
        vectors = rows(features, n, seed)
        for size in (0.0, lam, 30 * lam, 1e3 * lam):  # of the noise, on rows that remember earlier questions
            b = size * np.random.default_rng(seed).normal(size=features.width)
            tolerance = max(2.0**-19, 2.0**-44 * features.width * size, 2.0**-48 * lam)
            o = objective(vectors, features, loss, lam, b)
            w = minimise(o, tolerance)
            assert np.linalg.norm(o.gradient(w)) <= tolerance
            assert o.certified(w, tolerance) <= tolerance


@pytest.mark.parametrize("features", [ONE_HOT, DENSE], ids=["one-hot", "dense"])
@pytest.mark.parametrize("loss", LOSSES)
@settings(deadline=None, max_examples=15)
@given(st.integers(0, 99), st.floats(-2, 3).map(lambda e: 10.0**e), st.sampled_from([0.0, 3.0, 100.0]))
def test_it_is_the_one_that_scipy_finds(features: FeatureMap, loss: Loss, seed: int, lam: float, size: float) -> None:
    rng = np.random.default_rng(seed)
    b, centre = size * rng.normal(size=features.width), tuple(rng.normal(size=features.width).tolist())
    o = objective(rows(features, 60, seed), features, loss, lam, b, centre=centre)
    w = minimise(o, 2.0**-19)
    peer = minimize(lambda v: value(o, v), np.zeros(features.width), jac=o.gradient, method="BFGS", tol=1e-7)
    # lam-strong convexity turns gradients into distances
    assert np.linalg.norm(w - peer.x) <= (np.linalg.norm(o.gradient(peer.x)) + 2.0**-19) / lam
    assert value(o, w) <= value(o, peer.x) + 1e-8 * (1 + abs(value(o, w)) + 1 / lam)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("lam", [1e-3, 1.0, 1e3])
def test_one_class_alone_and_perfectly_separated_classes_have_a_minimum(loss: Loss, lam: float) -> None:
    for vectors in (rows(DENSE, 50, noisy=0.0), rows(ONE_HOT, 50, noisy=0.0)):
        features = DENSE if vectors.found[0].shape[1] == DENSE.width else ONE_HOT
        o = objective(vectors, features, loss, lam)
        assert o.certified(minimise(o, 1e-6), 1e-6) <= 1e-6
        one_class = vectors.found[1].sum(axis=1)[:, None] * np.array([[0, 1]])
        o = objective(Given(vectors.found[0], one_class), features, loss, lam)
        assert o.certified(minimise(o, 1e-6), 1e-6) <= 1e-6


def test_many_equal_rows_are_one_vector_that_counts_for_them() -> None:
    vectors = rows(DENSE, 40, counts=np.random.default_rng(0).integers(1, 10**5, 40))
    o = objective(vectors, DENSE, Logistic(), 2.0)
    found = minimise(o, 1e-5)
    expanded = Given(np.repeat(vectors.found[0], 3, axis=0), np.repeat(vectors.found[1], 3, axis=0))
    thrice = minimise(objective(expanded, DENSE, Logistic(), 6.0), 3e-5)
    assert found == pytest.approx(thrice, abs=1e-4)


@pytest.mark.parametrize("features", [ONE_HOT, DENSE], ids=["one-hot", "dense"])
def test_what_was_remembered_does_not_change_the_minimum(features: FeatureMap) -> None:
    kept = rows(features, 300)
    for lam in (5.0, 0.01, 300.0, 5.0):
        for seed in range(3):
            b = 10 * np.random.default_rng(seed).normal(size=features.width)
            fresh = minimise(objective(rows(features, 300), features, Logistic(), lam, b), 1e-7)
            again = minimise(objective(kept, features, Logistic(), lam, b), 1e-7)
            assert np.linalg.norm(fresh - again) <= 2e-7 / lam


def test_an_impossible_tolerance_is_refused_in_words() -> None:
    o = objective(rows(DENSE, 1000), DENSE, Logistic(), 1.0)
    for tolerance in (1e-14, 1e-300, 0.0):
        with pytest.raises(NotConverged, match="Nothing is released") as caught:
            minimise(o, tolerance)
        assert "\n" not in str(caught.value)


def test_noise_beyond_floats_is_refused_rather_than_released() -> None:
    with np.errstate(all="ignore"):
        for push in (math.nan, math.inf, 1e308):
            with pytest.raises(NotConverged):
                minimise(objective(rows(DENSE, 20), DENSE, Logistic(), 1.0, push), 1e-6)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 99), st.floats(-3, 12).map(lambda e: 10.0**e), st.floats(0, 12).map(lambda e: 10.0**e))
def test_a_certificate_is_no_smaller_than_the_gradient(seed: int, lam: float, size: float) -> None:
    rng = np.random.default_rng(seed)
    b, w = size * rng.normal(size=DENSE.width), rng.normal(size=DENSE.width)
    o = objective(rows(DENSE, 30, seed), DENSE, Logistic(), lam, b)
    # at this w terms of the noise and of the regularisation nearly cancel
    w = w if seed % 2 else o.risk.centre - b / lam
    rest = [math.fsum((lam * v, p)) for v, p in zip(w.tolist(), b.tolist(), strict=True)]
    exact = np.linalg.norm(o.risk.gradient(w) + rest)
    assert o.certified(w, 1e-6) >= exact * (1 - 1e-12)


def test_the_hessian_is_the_derivative_of_the_gradient() -> None:
    o = objective(rows(ONE_HOT, 30), ONE_HOT, Logistic(), 0.3, 2.0)
    w, step = np.linspace(-1, 1, ONE_HOT.width), 1e-5
    eye = np.eye(ONE_HOT.width)
    columns = [(o.gradient(w + step * e) - o.gradient(w - step * e)) / (2 * step) for e in eye]
    assert o.hessian(w) == pytest.approx(np.array(columns), abs=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_every_bit_of_an_answer_is_the_same_whatever_was_asked_before(loss: Loss) -> None:
    vectors, fresh = (rows(ONE_HOT, 2000, 2) for _ in range(2))
    rng = np.random.default_rng(0)
    for lam in (3.1, 2.9, 40.0):
        elsewhere = tuple(rng.normal(size=ONE_HOT.width).tolist())
        minimise(objective(vectors, ONE_HOT, loss, lam, rng.normal(size=ONE_HOT.width), centre=elsewhere), 1e-6)
    push = rng.normal(size=ONE_HOT.width)
    first, again = (minimise(objective(v, ONE_HOT, loss, 3.0, push), 1e-6) for v in (fresh, vectors))
    assert first.tobytes() == again.tobytes()
