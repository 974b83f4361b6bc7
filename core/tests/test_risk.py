"""The sum of losses, its gradient and its Hessian are those of a plain loop; what rounding can do is bounded."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from dpcore.features import FeatureMap, Lookup, OneHot, Scaled
from dpcore.losses import HuberHinge, Logistic, Loss
from dpcore.partition import Values
from dpcore.risk import Minimiser, Risk, Vectors
from dpcore.schema import Nominal, Numeric

TARGET = Nominal("class", ("a", "b", "c"))
NUMBERS = [Scaled(Numeric(f"n{i}", 0, 1)) for i in range(4)]
DENSE = FeatureMap(NUMBERS)
ONE_HOT = FeatureMap([OneHot(Values(Nominal(name, tuple("pqr")))) for name in ("s", "t")])
LOSSES = [Logistic(), HuberHinge(), HuberHinge(0.5)]


class Given(Vectors):
    """Vectors as they were given, in blocks."""

    def __init__(self, blocks: list[tuple[Any, npt.NDArray[np.int64]]], *, kept: bool = True) -> None:
        super().__init__()
        self.found, self.kept = blocks, kept

    def blocks(self) -> Iterator[tuple[Any, npt.NDArray[np.int64]]]:
        return iter(self.found)


def blocks(features: FeatureMap, sizes: list[int], seed: int, most: int = 5) -> list[tuple[Any, npt.NDArray[np.int64]]]:
    rng = np.random.default_rng(seed)
    found = []
    for n in sizes:
        matrix = np.zeros((n, features.width))
        if features.dense:
            matrix[:] = rng.normal(size=matrix.shape)
        else:
            for part in range(2):
                matrix[np.arange(n), 3 * part + rng.integers(0, 3, n)] = 1
            matrix[:, -1] = 1
        matrix /= np.maximum(np.linalg.norm(matrix, axis=1), 1)[:, None] * (1 + 2.0**-40)
        counts = rng.integers(0, most, (n, TARGET.cells))
        found.append((matrix if features.dense else csr_array(matrix), counts))
    return found


def terms(found: list[Any], positive: int) -> Iterator[tuple[npt.NDArray[np.float64], int, int]]:
    """Every vector with its label ±1 and how many rows have both."""
    for matrix, counts in found:
        whole = matrix if isinstance(matrix, np.ndarray) else matrix.toarray()
        for x, many in zip(whole, counts.tolist(), strict=True):
            for code, n in enumerate(many):
                yield x, 1 if code == positive else -1, n


@pytest.mark.parametrize("features", [DENSE, ONE_HOT], ids=["dense", "one-hot"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("kept", [True, False])
@settings(deadline=None, max_examples=20)
@given(st.lists(st.integers(0, 9), max_size=3), st.integers(0, 99))
def test_sums_are_those_of_a_loop(features: FeatureMap, loss: Loss, kept: bool, sizes: list[int], seed: int) -> None:
    found = blocks(features, sizes, seed)
    positive = seed % 3
    risk = Risk(Given(found, kept=kept), Minimiser(features, TARGET, positive=positive, loss=loss))
    w = np.random.default_rng(seed).normal(scale=(0.0, 0.1, 1.0, 30.0)[seed % 4], size=features.width)
    value, gradient, hessian = 0.0, np.zeros(len(w)), np.zeros((len(w), len(w)))
    for x, y, n in terms(found, positive):
        margin = np.array(y * (x @ w))
        value += n * float(loss.value(margin))
        gradient += n * y * float(loss.slope(margin)) * x
        hessian += n * float(loss.curve(margin)) * np.outer(x, x)
    assert risk.value(w) == pytest.approx(value)
    assert risk.gradient(w) == pytest.approx(gradient, abs=1e-12)
    assert risk.certified(w)[0] == pytest.approx(gradient, abs=1e-12)
    if not isinstance(loss, HuberHinge):  # whose curvature jumps where a margin's last bit may put it
        assert risk.hessian(w) == pytest.approx(hessian, abs=1e-12)


def exactly(found: list[Any], positive: int, loss: Loss, w: npt.NDArray[np.float64]) -> Any:
    """The gradient with 60 digits, from the vectors as they are in floats."""
    total = [mpmath.mpf(0)] * len(w)
    for x, y, n in terms(found, positive):
        if n:
            margin = y * mpmath.fsum(mpmath.mpf(a) * mpmath.mpf(b) for a, b in zip(x.tolist(), w.tolist(), strict=True))
            if isinstance(loss, HuberHinge):
                inside = min(max(mpmath.mpf(1.0 + loss.h) - margin, 0), 2 * mpmath.mpf(loss.h))
                slope = -inside / (2 * mpmath.mpf(loss.h))
            else:
                slope = -1 / (1 + mpmath.exp(margin))
            total = [t + n * y * slope * mpmath.mpf(v) for t, v in zip(total, x.tolist(), strict=True)]
    return total


@pytest.mark.parametrize("features", [DENSE, ONE_HOT], ids=["dense", "one-hot"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("most", "scale"), [(2, 1.0), (10**6, 1.0), (2, 1e4), (10**9, 1e2), (3, 1e-9)])
def test_the_error_of_a_certified_gradient_is_within_its_bound(
    features: FeatureMap, loss: Loss, most: int, scale: float
) -> None:
    with mpmath.workdps(60):
        for seed, enough in itertools.product(range(2), (math.inf, 0.0)):
            found = blocks(features, [150, 1, 300], seed, most)
            risk = Risk(Given(found), Minimiser(features, TARGET, loss=loss))
            w = np.random.default_rng(seed).normal(scale=scale, size=features.width)
            gradient, slack = risk.certified(w, enough)
            exact = exactly(found, 1, loss, w)
            error = mpmath.norm([mpmath.mpf(g) - e for g, e in zip(gradient.tolist(), exact, strict=True)])
            assert error <= slack


def test_large_terms_that_cancel_stay_within_the_bound() -> None:
    """One row more or less of each class at one vector: the gradient is a rest of 2^40 rows."""
    x = np.array([[1.0], [-1.0], [0.5]]) / (1 + 2.0**-40)
    counts = np.array([[2**40, 2**40 + 1, 0], [2**40, 2**40, 0], [3, 5, 0]])
    one = FeatureMap([])
    found = [(x[i : i + 1], counts[i : i + 1]) for i in (0, 1, 2)]
    risk = Risk(Given(found), Minimiser(one, TARGET))
    with mpmath.workdps(60):
        for at in (0.0, 1e-9, 0.3, -7.0, 1e3):
            w = np.array([at])
            gradient, slack = risk.certified(w)
            assert abs(mpmath.mpf(float(gradient[0])) - exactly(found, 1, Logistic(), w)[0]) <= slack


def test_small_pieces_promise_more_than_whole_blocks() -> None:
    found = blocks(DENSE, [8192] * 3, 0)
    risk = Risk(Given(found), Minimiser(DENSE, TARGET))
    w = np.ones(DENSE.width)
    (coarse, loose), (fine, tight) = risk.certified(w, math.inf), risk.certified(w, 0.0)
    assert tight < loose / 20
    assert np.linalg.norm(coarse - fine) <= tight + loose


def test_a_memory_is_shared_by_questions_of_one_class_and_loss() -> None:
    rows = Given(blocks(DENSE, [5], 0))
    one = Risk(rows, Minimiser(DENSE, TARGET, positive=1))
    assert Risk(rows, Minimiser(DENSE, TARGET, positive=1, lam=9.0, centre=(1.0,) * 5)).memory is one.memory
    assert Risk(rows, Minimiser(DENSE, TARGET, positive=2)).memory is not one.memory
    assert Risk(rows, Minimiser(DENSE, TARGET, positive=1, loss=HuberHinge())).memory is not one.memory


def test_what_makes_no_question_is_refused() -> None:
    for facts in ({"centre": (0.0,)}, {"lam": 0.0}, {"strength": 0.0}):
        with pytest.raises(ValueError, match=r"centre|lam|strength"):
            Minimiser(DENSE, TARGET, **facts)  # type: ignore[arg-type]


def test_a_question_says_what_it_asks() -> None:
    query = Minimiser(FeatureMap([Lookup(Values(TARGET), [1.0, 2.0, 3.0])]), TARGET)
    assert (query.shape, query.requires[0].shape) == ((2,), ())
    assert query.describe() == "minimiser of the logistic loss of class over 2 weights"
