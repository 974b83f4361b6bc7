"""What an estimator from elsewhere sees is in [0, 1] by public facts; what it claims is only said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpcore.errors import DpcoreError
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import Rows
from dpcore_experiments.foreign import Estimator, columns, log_proba, matrix

SCHEMA = Schema(
    (Nominal("a", ("x", "y", "z"), missing=True), Numeric("b", -1.0, 3.0, missing=True), Numeric("c", 0.0, 10.0)),
    Nominal("class", ("no", "yes")),
)
ROWS = Rows(
    SCHEMA,
    {"a": np.array([0, 2, 3], np.uint8), "b": np.array([-1.0, np.nan, 9.0]), "c": np.array([5, 0, 10])},
    3,
)


class Private:
    """Claims to be private, and says what it was told."""

    def __init__(self, epsilon: float = 1.0, bounds: Any = None, random_state: Any = None, size: Any = 1) -> None:
        self.told = (epsilon, bounds, random_state, size)

    def fit(self, x: np.ndarray, y: np.ndarray) -> Private:
        """Learn which classes there are."""
        self.classes_ = np.unique(y)
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        """Always the first."""
        return np.full(len(x), self.classes_[0])

    def predict_proba(self, x: np.ndarray) -> np.ndarray:
        """As sure of one as of the other."""
        return np.full((len(x), len(self.classes_)), 1 / len(self.classes_))


HERE = f"{__name__}:Private"


@pytest.mark.parametrize("encoding", ["onehot", "ordinal"])
def test_columns_are_named_and_lie_between_0_and_1(encoding: str) -> None:
    seen = matrix(ROWS, encoding)
    assert seen.shape == (3, len(columns(SCHEMA, encoding)))
    assert seen.min() >= 0
    assert seen.max() <= 1


def test_values_are_scaled_by_the_schema_and_missing_ones_are_told() -> None:
    assert columns(SCHEMA, "onehot") == ["a=x", "a=y", "a=z", "a=(missing)", "b", "b=(missing)", "c"]
    assert matrix(ROWS, "onehot").tolist() == [
        [1, 0, 0, 0, 0, 0, 0.5], [0, 0, 1, 0, 0.5, 1, 0], [0, 0, 0, 1, 1, 0, 1],
    ]  # fmt: skip
    assert matrix(ROWS, "ordinal")[:, 0].tolist() == pytest.approx([0, 2 / 3, 1])


def test_an_estimator_is_told_the_budget_and_the_public_bounds() -> None:
    found = Estimator(Private, {"size": [3, [4]]}, "onehot")
    epsilon, bounds, seed, size = found.build(0.5, 0.0, 2**40 + 7, SCHEMA).told
    assert (epsilon, seed, size) == (0.5, 7, (3, (4,)))
    assert np.array(bounds).tolist() == [[0] * 7, [1] * 7]
    assert found.claims
    assert not Estimator.find("sklearn.naive_bayes:BernoulliNB", {}).claims


@pytest.mark.parametrize(
    ("spec", "given", "words"),
    [
        ("sklearn.naive_bayes", {}, "module:Class"),
        ("no_such_module:X", {}, "cannot be imported"),
        ("sklearn.naive_bayes:Nothing", {}, "has no class 'Nothing'"),
        ("math:sqrt", {}, "has no class"),
        ("sklearn.naive_bayes:BernoulliNB", {"alfa": 1}, "has no parameter 'alfa'; it has: alpha"),
        ("sklearn.naive_bayes:BernoulliNB", {"epsilon": 1}, "gets epsilon from the experiment"),
    ],
)
def test_what_cannot_be_made_is_said_in_one_line(spec: str, given: dict[str, Any], words: str) -> None:
    with pytest.raises(DpcoreError, match=words) as caught:
        Estimator.find(spec, given)
    assert "\n" not in str(caught.value)


def test_a_class_that_it_never_saw_has_no_probability() -> None:
    fitted = Private().fit(np.zeros((2, 1)), np.array([1, 1]))
    predicted, log = log_proba(fitted, np.zeros((4, 1)), 3)
    assert predicted.tolist() == [1] * 4
    assert log is not None
    assert log.argmax(axis=1).tolist() == [1] * 4
    assert np.isfinite(log).all()
