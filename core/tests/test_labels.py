"""Class labels found privately: common ones are found, and none is released because a row has it."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpcore.accounting import PureAccountant
from dpcore.errors import BudgetError, InputError
from dpcore.labels import _Universe, find_labels
from dpcore.noise import ExactNoise, SeededNoise
from dpcore.privacy import Adjacency

AR = Adjacency.ADD_REMOVE


def found(labels: Any, epsilon: float = 1.0, noise: Any = None) -> list[str]:
    return find_labels(np.asarray(labels), epsilon, PureAccountant(epsilon), AR, noise or ExactNoise())


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ([3] * 500 + [-1] * 500, ["-1", "3"]),
        ([1.0] * 500 + [2.0] * 500, ["1", "2"]),
        (["yes"] * 1000 + ["no"] * 1000, ["no", "yes"]),
        ([True] * 500 + [False] * 500, ["False", "True"]),
    ],
)
def test_common_labels_are_found_in_order(labels: Any, expected: list[str]) -> None:
    assert found(labels) == expected


def test_a_label_of_few_rows_is_not_released() -> None:
    rare = ["secret"] * 3
    assert found(["a"] * 2000 + ["b"] * 2000 + rare) == ["a", "b"]


def test_fewer_than_two_common_labels_are_refused_with_the_rows_that_a_class_needs() -> None:
    with pytest.raises(InputError, match=r"about 7[0-9] rows"):
        found([1] * 500 + [2] * 3)


def test_it_is_charged_before_any_noise() -> None:
    class Never:
        def __getattr__(self, name: str) -> Any:
            raise AssertionError("noise was drawn")

    bank = PureAccountant(0.5)
    with pytest.raises(BudgetError):
        find_labels(np.array([0, 1]), 0.6, bank, AR, Never())  # type: ignore[arg-type]


def test_labels_of_other_forms_are_refused_without_showing_them() -> None:
    with pytest.raises(InputError, match="32 bytes") as caught:
        found(["canary" * 10, "b"])
    assert "canary" not in str(caught.value)
    with pytest.raises(InputError, match="whole numbers"):
        found([0.5, 1.0])


@pytest.mark.parametrize("labels", [np.array([5, -7, 0]), np.array(["é", "", "abc"]), np.array([True, False])])
def test_numbers_and_labels_are_one_to_one(labels: Any) -> None:
    universe = _Universe(labels)
    texts = {universe.text(n) for n in universe.counts(labels)}
    assert texts == set(map(str, labels))
    assert all(0 <= n < universe.size for n in universe.counts(labels))


def test_labels_that_no_row_has_pass_as_often_as_their_noise_does() -> None:
    """At a threshold that many pass: the number of them is binomial; the test fails by chance once in 1e6."""
    universe = _Universe(np.array([0]))
    universe.size = 20_000
    scale, threshold = Fraction(2), 9
    a = math.exp(-0.5)
    p = a**threshold / (1 + a)
    passed = [len(list(universe.absent(scale, threshold, SeededNoise(seed)))) for seed in range(20)]
    mean, deviation = 400_000 * p, math.sqrt(400_000 * p * (1 - p))
    assert abs(sum(passed) - mean) < 4.9 * deviation
    numbers = list(universe.absent(scale, threshold, SeededNoise(1)))
    assert numbers == sorted(set(numbers))
    assert numbers[-1] < universe.size


def test_none_of_the_labels_that_no_row_has_passes_the_real_threshold() -> None:
    for _ in range(200):
        assert len(found([0] * 500 + [1] * 500)) == 2
