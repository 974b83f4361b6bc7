"""Noise is never smaller than asked for, and everything released is a whole number of a public step."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.errors import InputError
from dpcore_mechanisms.grid import add, fine_grid, in_steps, ratio, round_up, whole

positive = st.floats(1e-200, 1e200)


@given(positive, positive)
def test_rounding_up_never_loses_and_adds_less_than_two_to_the_minus_38(a: float, b: float) -> None:
    exact = Fraction(a) / Fraction(b)
    rounded = round_up(exact)
    assert exact <= rounded <= exact * (1 + Fraction(1, 2**38))


@given(positive, positive)
def test_the_scale_is_the_exact_ratio(sensitivity: float, cost: float) -> None:
    try:
        assert ratio(sensitivity, cost) == Fraction(sensitivity) / Fraction(cost)
    except InputError:
        assert Fraction(sensitivity) / Fraction(cost) > Fraction(2) ** 1000


@given(st.floats(1e-30, 1e30), st.integers(-60, 20))
def test_the_fine_grid_is_a_power_of_two_that_divides_the_exact_answers_grid(scale: float, log: int) -> None:
    grid = 2.0**log
    out = fine_grid(Fraction(scale), grid)
    assert Fraction(out).numerator & (Fraction(out).numerator - 1) == 0
    assert (Fraction(grid) / Fraction(out)).denominator == 1
    assert out <= max(scale * 2.0**-20, grid * 2.0**-200)


@given(
    st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=5),
    st.integers(-(2**70), 2**70),
    st.integers(0, 80),
)
def test_adding_is_exact_integer_arithmetic_at_any_size(exact: list[int], noise: int, finer: int) -> None:
    out = 2.0**-finer
    kind = object if abs(noise) >= 2**62 else np.int64
    drawn = np.array([noise] * len(exact), dtype=kind)
    numbers = add(np.array(exact), drawn, 1.0, out)
    assert numbers.tolist() == [float(x * 2**finer + noise) * out for x in exact]
    assert whole(numbers, 1.0, out).tolist() == (numbers / out).tolist()


@pytest.mark.parametrize(("sensitivity", "cost"), [(1.0, 0.0), (1e10, 1e-300), (np.inf, 1.0), (1.0, np.nan)])
def test_noise_beyond_floating_point_is_refused_in_one_sentence(sensitivity: float, cost: float) -> None:
    with pytest.raises(InputError, match="too small for a sensitivity"):
        ratio(sensitivity, cost)


def test_more_steps_than_a_float_can_hold_are_refused() -> None:
    with pytest.raises(InputError, match="too large for a grid"):
        in_steps(Fraction(2) ** 900, 2.0**-200)
