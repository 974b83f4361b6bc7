"""Charges are whole units, rounded up, and hold for the ledger's neighbours."""

from __future__ import annotations

import math
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.errors import BudgetError
from dpcore.ledger import Entry
from dpcore.privacy import Adjacency
from dpcore_budget.charge import ATTO, NANO, charge, down, exact, number, plain, up

ADD_REMOVE, REPLACE_ONE = Adjacency.ADD_REMOVE, Adjacency.REPLACE_ONE


def entry(epsilon: float, delta: float = 0.0, adjacency: Adjacency = ADD_REMOVE) -> Entry:
    return Entry("naive_bayes", {}, "", epsilon, delta, adjacency, "pure", False)


@pytest.mark.parametrize(
    ("epsilon", "delta", "units"),
    [
        (0.1, 0.0, (10**8, 0)),
        (0.09999999999999859, 0.0, (10**8, 0)),  # what a plan for 0.1 comes to
        (0.1000000001, 0.0, (100_000_001, 0)),
        (1e-30, 1e-30, (1, 1)),
        (0.0, 0.0, (0, 0)),
        (1.0, 1e-6, (10**9, 10**12)),
        (0.3, 1.1e-18, (3 * 10**8, 2)),
        (1e308, 1.0, (10**317, 10**18)),
    ],
)
def test_a_cost_is_rounded_up_to_whole_units(epsilon: float, delta: float, units: tuple[int, int]) -> None:
    assert charge(entry(epsilon, delta), ADD_REMOVE) == units
    assert charge(entry(epsilon, delta, REPLACE_ONE), REPLACE_ONE) == units


@given(st.floats(min_value=0, allow_infinity=False), st.sampled_from([NANO, ATTO]))
def test_rounding_never_gains_a_unit_or_more(number: float, unit: int) -> None:
    assert down(exact(number), unit) <= exact(number) * unit <= up(exact(number), unit)
    assert up(exact(number), unit) - down(exact(number), unit) <= 1
    # the decimal that a float prints as is within half a unit of its last place
    assert abs(exact(number) - Fraction(number)) <= Fraction(math.ulp(number)) / 2


@given(st.integers(0, 10**19), st.sampled_from([NANO, ATTO]))
def test_units_print_as_the_decimal_they_are(count: int, unit: int) -> None:
    assert Fraction(plain(count, unit)) == Fraction(count, unit)
    assert number(count, unit) == float(plain(count, unit))


@given(st.floats(0, 50), st.floats(0, 1))
def test_a_replaced_row_counts_as_a_group_of_two(epsilon: float, delta: float) -> None:
    epsilon_units, delta_units = charge(entry(epsilon, delta), REPLACE_ONE)
    assert epsilon_units == math.ceil(2 * exact(epsilon) * NANO)
    with mpmath.workdps(80):
        true = (1 + mpmath.exp(mpmath.mpf(repr(epsilon)))) * mpmath.mpf(repr(delta)) * ATTO
        assert true <= delta_units <= true * (1 + mpmath.mpf(10) ** -30) + 1


@pytest.mark.parametrize("epsilon", [800.0, 1e9, 1e300])
def test_beyond_counting_no_delta_can_be_paid(epsilon: float) -> None:
    assert charge(entry(epsilon, 1e-18), REPLACE_ONE)[1] > ATTO


def test_a_fit_that_no_ledger_can_hold_is_refused() -> None:
    for adjacency in Adjacency:
        with pytest.raises(BudgetError, match="no finite epsilon"):
            charge(entry(math.inf), adjacency)
    with pytest.raises(BudgetError, match="a row more or less"):
        charge(entry(0.1, 0.0, REPLACE_ONE), ADD_REMOVE)
