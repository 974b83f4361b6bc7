"""Costs and guarantees mean what they say: conversions between them are checked against trade-off functions."""

from __future__ import annotations

import math
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.errors import InputError
from dpcore.privacy import (
    GDP,
    ZCDP,
    Adjacency,
    Approximate,
    Cost,
    Guarantee,
    Pure,
    check_budget,
    in_terms_of,
    pure_epsilon,
)

EPSILONS = [1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.999, 1.0, 1.001, 2.0, 10.0, 35.0, 40.0, 200.0, 699.0]


def normal(x: Any) -> Any:
    """Φ(x)."""
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_pure_epsilon_costs_the_mu_that_the_corner_of_its_trade_off_function_asks_for(epsilon: float) -> None:
    cost = in_terms_of(Pure(epsilon), GDP)
    assert isinstance(cost, GDP)
    with mpmath.workdps(700):
        half = mpmath.sqrt(mpmath.mpf(cost.square)) / 2
        corner = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))  # the curve of mu-GDP goes through (a, a): a = Φ(−mu/2)
        assert abs(normal(-half) / corner - 1) < 1e-11
        log_odds = mpmath.log(normal(half) / normal(-half))
        assert abs(log_odds / epsilon - 1) < 1e-12
    assert pure_epsilon(cost) == pytest.approx(epsilon, rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 3.0, 8.0])
def test_what_is_epsilon_private_is_at_least_as_hard_to_tell_apart_as_its_gdp(epsilon: float) -> None:
    with mpmath.workdps(40):
        mu = mpmath.sqrt(in_terms_of(Pure(epsilon), GDP).square) * (1 + mpmath.mpf(10) ** -14)
        for threshold in np.linspace(-9, 9, 181):
            # a likelihood-ratio test between N(0, 1) and N(mu, 1), with its two kinds of error
            first, second = normal(-mpmath.mpf(threshold)), normal(mpmath.mpf(threshold) - mu)
            pure = max(0, 1 - mpmath.exp(epsilon) * first, mpmath.exp(-epsilon) * (1 - first))
            assert second <= pure + mpmath.mpf(10) ** -25
        less = mu * 0.999  # a smaller mu would promise too much: the corner is tight
        corner = 1 / (1 + mpmath.exp(epsilon))
        assert normal(-mpmath.erfinv(1 - 2 * (1 - corner)) * -mpmath.sqrt(2) - less) > 0
        assert normal(-less / 2) > corner


@pytest.mark.parametrize("square", [1e-24, 1e-12, 1e-4, 1.0, 3.99, 4.01, 100.0, 5000.0, 1e6, 1e12])
def test_the_pure_release_that_fits_a_mu_is_the_log_odds_of_its_corner(square: float) -> None:
    with mpmath.workdps(60):
        half = mpmath.sqrt(mpmath.mpf(square)) / 2
        log_tail = mpmath.log(normal(-half)) if half < 100 else -(half**2) / 2
        expected = mpmath.log(normal(half)) - log_tail
    assert pure_epsilon(GDP(square)) == pytest.approx(float(expected), rel=1e-13 if square < 1e5 else 1e-3)


@given(st.floats(1e-12, 1e6))
def test_costs_come_back_from_other_accounting(epsilon: float) -> None:
    for kind in (ZCDP, GDP):
        cost = in_terms_of(Pure(epsilon), kind)
        assert isinstance(cost, kind)
        assert in_terms_of(cost, kind) is cost
        assert pure_epsilon(cost) == pytest.approx(epsilon, rel=1e-12) or (kind is GDP and epsilon > 700)
        assert pure_epsilon(cost) >= epsilon * (1 - 1e-12)


@settings(deadline=None)
@given(st.floats(0.01, 8), st.floats(1.01, 50))
def test_epsilon_private_implies_half_epsilon_squared_zcdp(epsilon: float, order: float) -> None:
    # the worst pair for epsilon-DP is randomised response (Kairouz, Oh & Viswanath 2015)
    p = 1 / (1 + math.exp(-epsilon))
    moment = p**order * (1 - p) ** (1 - order) + (1 - p) ** order * p ** (1 - order)
    cost = in_terms_of(Pure(epsilon), ZCDP)
    assert isinstance(cost, ZCDP)
    assert math.log(moment) / (order - 1) <= cost.rho * order * (1 + 1e-9)


def test_zcdp_and_gdp_cannot_be_turned_into_each_other() -> None:
    for cost, kind in ((ZCDP(1.0), GDP), (GDP(1.0), ZCDP)):
        with pytest.raises(TypeError, match="cannot be added"):
            in_terms_of(cost, kind)


@pytest.mark.parametrize("kind", [Pure, ZCDP, GDP])
def test_a_cost_is_never_negative_so_that_none_can_refund_another(kind: type[Cost]) -> None:
    for number in (-1e-300, -1.0, -math.inf, math.nan):
        with pytest.raises(ValueError, match=r">= 0"):
            kind(number)
    assert pure_epsilon(kind(math.inf)) == math.inf
    assert pure_epsilon(kind(0.0)) == 0


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(0, 0), (-1, 0), (math.inf, 0), (math.nan, 0), ("x", 0), (None, 0), (1, 1), (1, -1e-9), (1, math.nan), (1, None)],
)
def test_a_budget_is_a_finite_epsilon_and_a_delta_below_one(epsilon: Any, delta: Any) -> None:
    with pytest.raises(InputError, match=r"epsilon|delta"):
        check_budget(epsilon, delta)


def test_a_cost_with_a_delta_pays_for_a_pure_release_and_implies_no_other_accounting() -> None:
    assert pure_epsilon(Approximate(0.7, 1e-6)) == 0.7
    for kind in (ZCDP, GDP):
        with pytest.raises(TypeError, match="cannot be added"):
            in_terms_of(Approximate(0.7, 1e-6), kind)
    for epsilon, delta in ((-1.0, 0.1), (math.nan, 0.1), (1.0, -1e-300), (1.0, 1.0), (1.0, math.nan)):
        with pytest.raises(ValueError, match=r">= 0|< 1"):
            Approximate(epsilon, delta)


def test_a_budget_may_be_given_as_text() -> None:
    assert check_budget("0.5", "1e-6") == (0.5, 1e-6)


def test_an_adjacency_has_a_name_and_no_other() -> None:
    for adjacency in Adjacency:
        assert Adjacency.parse(str(adjacency)) is Adjacency.parse(adjacency) is adjacency
    with pytest.raises(InputError, match="add-remove or replace-one"):
        Adjacency.parse("bounded")


@pytest.mark.parametrize(
    ("epsilon", "delta", "kind"),
    [(1.0, 0.0, "pure"), (1.0, 1e-6, "approximate"), (math.inf, 0.0, "none"), (math.inf, 1e-6, "none")],
)
def test_a_guarantee_says_of_which_kind_it_is(epsilon: float, delta: float, kind: str) -> None:
    assert Guarantee(epsilon, delta, Adjacency.REPLACE_ONE).kind == kind
