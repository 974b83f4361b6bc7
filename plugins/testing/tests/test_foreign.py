"""Estimators from elsewhere are judged by what they show, beside what they claim.

False alarms: at most 1e-4 a finding.
"""

from __future__ import annotations

import math
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcore.errors import InputError, ParameterError
from dpcore_testing.foreign import audit_estimator, shown
from dpcore_testing.loading import load, parse

SURE = 1 - 1e-4


class NoisyMeans:
    """Class means by noisy counts and noisy sums, half of epsilon each: private for neighbours that replace a row.

    A replaced row takes 1 from one class's count and gives 1 to another's; its values, at most max(|l|, |u|) each,
    leave one class's sums and enter another's.
    """

    def __init__(self, epsilon: float = 1.0, bounds: Any = None, random_state: Any = None) -> None:
        self.epsilon = epsilon
        self.bounds = bounds
        self.random_state = random_state
        self._rng = np.random.default_rng(random_state)

    def moves(self) -> float:
        """How far one row moves one sum."""
        return float(max(map(abs, self.bounds)))

    def fit(self, X: Any, y: Any) -> NoisyMeans:
        x = np.clip(X, *self.bounds)
        self.classes_ = np.array([0, 1])
        counts = np.array([np.sum(y == c) for c in self.classes_])
        sums = np.array([x[y == c].sum(axis=0) for c in self.classes_])
        half = self.epsilon / 2
        self.class_count_ = counts + self._rng.laplace(scale=2 / half, size=2)
        noisy = sums + self._rng.laplace(scale=2 * x.shape[1] * self.moves() / half, size=sums.shape)
        self.theta_ = noisy / np.maximum(self.class_count_, 1)[:, None]
        self._rows = X  # private by its name: not looked at
        return self

    def predict_proba(self, X: Any) -> Any:
        distance = ((X[:, None, :] - self.theta_) ** 2).sum(axis=2)
        odds = np.exp(-(distance - distance.min(axis=1, keepdims=True)))
        return odds / odds.sum(axis=1, keepdims=True)


class RangeAsSensitivity(NoisyMeans):
    """Takes the range for the sensitivity of a sum, though a record can leave a class with its whole value."""

    def moves(self) -> float:
        return float(self.bounds[1] - self.bounds[0])


class FailsOnFewRows(NoisyMeans):
    """Refuses tables of fewer than ten rows."""

    def fit(self, X: Any, y: Any) -> NoisyMeans:
        if len(y) < 10:
            raise ValueError("needs ten rows")
        return super().fit(X, y)


class Fails(NoisyMeans):
    """Refuses all tables."""

    def fit(self, X: Any, y: Any) -> NoisyMeans:
        raise ValueError("no")


class ManyParameters:
    """Takes anything."""

    def __init__(self, sizes: Any = (), order: Any = [], **others: Any) -> None:  # noqa: B006
        self.settings = {"sizes": sizes, "order": order, **others}

    def fit(self, X: Any, y: Any) -> ManyParameters:
        return self


def test_an_estimator_with_the_right_sensitivity_is_not_flagged() -> None:
    found = audit_estimator(NoisyMeans, adjacency="replace-one", trials=3000, confidence=SURE)
    assert [(f.verdict, f.kind, f.charged) for f in found] == [("ok", "estimator", 1.0)]


def test_a_range_taken_for_a_sensitivity_is_caught_far_from_zero() -> None:
    (found,) = audit_estimator(RangeAsSensitivity, adjacency="replace-one", trials=4000, confidence=SURE)
    assert found.verdict == "LEAKS"
    assert found.loss > 3
    assert found.case == "bounds [100, 101]"
    assert "label flipped" in found.words


def test_the_same_mistake_does_not_show_where_the_range_is_the_largest_value() -> None:
    (found,) = audit_estimator(
        RangeAsSensitivity, bounds=[(0.0, 1.0)], adjacency="replace-one", trials=2400, confidence=SURE
    )
    assert (found.verdict, found.case) == ("ok", "bounds [0, 1]")


def test_the_estimators_own_bounds_are_kept_to() -> None:
    (found,) = audit_estimator(
        NoisyMeans, parameters={"bounds": (3, 4.5), "epsilon": 9}, adjacency="replace-one", trials=40
    )
    assert found.case == "bounds [3, 4.5]"
    assert found.epsilon == 9


def test_an_estimator_without_noise_gives_everything_away() -> None:
    (found,) = audit_estimator(
        "sklearn.naive_bayes:GaussianNB", epsilon=1.0, bounds=[(0, 1)], adjacency="add-remove", trials=200
    )
    assert found.verdict == "LEAKS"
    assert found.loss > 2


def test_failing_on_one_of_two_neighbours_is_a_finding() -> None:
    (found,) = audit_estimator(FailsOnFewRows, adjacency="add-remove", trials=200)
    assert found.verdict == "diverged"
    assert "needs ten rows" in found.detail
    assert "removed" in found.words


def test_failing_on_both_is_an_error() -> None:
    with pytest.raises(InputError, match="every run fails, on both of two neighbours: ValueError: no"):
        audit_estimator(Fails, trials=200)


def test_each_adjacency_has_its_own_finding() -> None:
    found = audit_estimator(NoisyMeans, trials=60)
    assert [f.adjacency for f in found] == ["add-remove", "replace-one"]


def test_what_is_looked_at_is_public() -> None:
    fitted = NoisyMeans(bounds=(0, 1)).fit(np.zeros((4, 2)), np.array([0, 1, 0, 1]))
    assert set(shown(fitted, np.zeros((1, 2)))) == {"classes_", "class_count_", "theta_", "predict_proba"}


class TestArguments:
    def test_a_claim_is_needed(self) -> None:
        with pytest.raises(InputError, match="GaussianNB has no parameter 'epsilon': say which epsilon it claims"):
            audit_estimator("sklearn.naive_bayes:GaussianNB")
        with pytest.raises(InputError, match="the claimed epsilon must be a number of at least 0"):
            audit_estimator(NoisyMeans, parameters={"epsilon": "much"})
        with pytest.raises(InputError, match="the claimed epsilon must be a number of at least 0"):
            audit_estimator(NoisyMeans, epsilon=math.nan)

    def test_a_fixed_seed_is_refused(self) -> None:
        with pytest.raises(InputError, match="leave it out"):
            audit_estimator(NoisyMeans, parameters={"random_state": 1})

    @pytest.mark.parametrize("bounds", [[(1.0, 0.0)], [(0.0, math.inf)]])
    def test_bounds_must_be_in_order_and_finite(self, bounds: Any) -> None:
        with pytest.raises(InputError, match="the lower first"):
            audit_estimator(NoisyMeans, bounds=bounds)

    def test_its_own_bounds_must_be_two(self) -> None:
        for wrong in (3, (1, 2, 3), ("a", "b")):
            with pytest.raises(InputError, match="a lower and an upper bound"):
                audit_estimator(NoisyMeans, parameters={"bounds": wrong})

    def test_bounds_that_differ_by_attribute_are_covered_by_one_range(self) -> None:
        given = {"bounds": (np.array([0, 5]), np.array([1, 9])), "epsilon": 1.0}
        (found,) = audit_estimator(ManyParameters, parameters=given, adjacency="add-remove", trials=40)
        assert found.case == "bounds [0, 9]"
        assert found.loss == 0

    @pytest.mark.parametrize("spec", ["", "math", "math:", ":Class", "nowhere.at.all:Class", "math:Nothing", "math:pi"])
    def test_a_class_that_is_not_there_is_an_error_in_one_line(self, spec: str) -> None:
        with pytest.raises(InputError) as error:
            load(spec)
        assert "\n" not in str(error.value)

    def test_a_module_that_breaks_or_exits_is_an_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.syspath_prepend(tmp_path)
        for name, text in (("breaks_on_import", "1 / 0"), ("exits_on_import", "raise SystemExit(0)")):
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text))
            with pytest.raises(InputError, match=f"{name}:Class' cannot be imported"):
                load(f"{name}:Class")
            assert name not in sys.modules

    def test_values_are_json_or_python_words_or_text(self) -> None:
        texts = {
            "sizes": "[1, [2, 3]]",
            "order": "[1, 2]",
            "a": "1",
            "b": "1e-3",
            "c": "True",
            "d": "None",
            "e": "word",
        }
        values = parse(ManyParameters, {**texts, "f": "null"})
        assert values == {
            "sizes": (1, (2, 3)), "order": [1, 2], "a": 1, "b": 0.001, "c": True, "d": None, "e": "word", "f": None
        }  # fmt: skip

    def test_an_unknown_parameter_is_named_beside_the_known_ones(self) -> None:
        with pytest.raises(ParameterError, match=r"no parameter 'epsilo'; it has: bounds, epsilon, random_state"):
            parse(NoisyMeans, {"epsilo": "1"})
