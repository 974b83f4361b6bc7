"""What a run gives becomes one row of numbers, by itself and the same way every time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore_testing.features import STRUCTURE, attempt, columns, hashed, outcome

keys = st.text(alphabet="abc", min_size=1, max_size=3)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=3),
    max_leaves=12,
)


def rows(*data: Any) -> tuple[np.ndarray, list[str]]:
    left, _, names = columns([outcome(one) for one in data], [outcome(data[0])])
    return left, names


@given(plain, plain)
def test_any_json_is_a_row_that_does_not_depend_on_the_others(one: Any, other: Any) -> None:
    alone, names = rows(one)
    beside, more = rows(one, other)
    at = [more.index(name) for name in names]
    assert len(set(more)) == len(more)
    assert np.array_equal(alone[0], beside[0][at], equal_nan=True)
    rest = [j for j in range(len(more)) if j not in at]
    assert np.isnan(beside[0][rest]).all()


def test_numbers_keep_their_place_and_their_value() -> None:
    left, names = rows({"prior": [0.5, -1.0], "parts": [{"log": [[1, 2], [3, 4]]}], "deep": np.arange(3), "n": 7})
    assert names[1:] == [
        *("prior[0]", "prior[1]"),
        *(f"parts[0].log[2, 2][{i}]" for i in range(4)),
        *("deep[0]", "deep[1]", "deep[2]", "n"),
    ]
    assert left[0, 1:].tolist() == [0.5, -1, 1, 2, 3, 4, 0, 1, 2, 7]


def test_another_structure_is_another_number_in_the_first_column() -> None:
    left, names = rows({"a": [1.0, 2.0]}, {"a": [5.0, 2.0]}, {"a": [1.0, 2.0, 3.0]}, {"b": [1.0, 2.0]})
    assert names[0] == STRUCTURE
    assert left[0, 0] == left[1, 0]
    assert len(set(left[:, 0])) == 3


def test_text_and_numbers_are_not_taken_for_each_other() -> None:
    left, _ = rows("1", 1, "2", None, True, [1.0, None])
    assert left[0, 1] != left[1, 1]
    assert left[0, 1] != left[2, 1]
    assert hashed("a") == hashed("a") != hashed("b")
    assert 0 <= hashed("a") < 2**52


def test_odd_values_are_numbers_too() -> None:
    left, _ = rows([math.nan, math.inf, -math.inf], 10**400, {1, 2}, [[1, 2], [3]], np.array(["x", 1.5], dtype=object))
    assert left.shape[0] == 5
    assert np.isposinf(left[0]).sum() == 1


def test_an_error_is_an_outcome_of_its_own() -> None:
    def fails() -> None:
        raise KeyError("first line\nsecond")

    said = attempt(fails)
    assert said.error.startswith("KeyError: ")
    assert "\n" not in said.error
    left, right, names = columns([said], [attempt(lambda: {"a": 1})])
    assert left[0, 0] != right[0, 0]
    assert "raises" in names


def test_exiting_is_not_swallowed() -> None:
    def leaves() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        attempt(leaves)
