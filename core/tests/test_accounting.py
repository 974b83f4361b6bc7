"""Accountants add exactly, refuse what exceeds the budget, and convert never to the user's harm."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.accounting import Accountant, GdpAccountant, ZcdpAccountant, accountant, gdp_delta, zcdp_delta
from dpcore.errors import BudgetError, InputError
from dpcore.privacy import GDP, ZCDP, Approximate, Pure

KINDS = ["pure", "zcdp", "gdp"]
DELTAS = [1e-12, 1e-9, 1e-6, 1e-3, 0.5]


def bank(kind: str, epsilon: float, delta: float = 1e-6) -> Accountant:
    """An accountant of each kind."""
    return accountant(kind, epsilon, 0.0 if kind == "pure" else delta)


def exact_zcdp_delta(rho: float, epsilon: float) -> float:
    """inf over alpha > 1, by golden sections in log(alpha − 1) with 50 digits."""
    with mpmath.workdps(50):
        r, e = mpmath.mpf(rho), mpmath.mpf(epsilon)

        def log_delta(t: Any) -> Any:
            less = mpmath.exp(t)
            alpha = 1 + less
            return less * (alpha * r - e) - t + alpha * (t - mpmath.log(alpha))

        low, high = mpmath.mpf(-30), mpmath.mpf(40)
        golden = (mpmath.sqrt(5) - 1) / 2
        for _ in range(120):
            a, b = high - golden * (high - low), low + golden * (high - low)
            low, high = (low, b) if log_delta(a) < log_delta(b) else (a, high)
        return float(min(mpmath.mpf(1), mpmath.exp(log_delta(low))))


def exact_gdp_delta(mu: float, epsilon: float) -> Any:
    """Φ(mu/2 − epsilon/mu) − e^epsilon Φ(−mu/2 − epsilon/mu), with 60 digits."""
    m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
    first, second = (mpmath.erfc(-x / mpmath.sqrt(2)) / 2 for x in (m / 2 - e / m, -m / 2 - e / m))
    return first - mpmath.exp(e) * second


@pytest.mark.parametrize("rho", [1e-12, 1e-6, 1e-3, 0.02, 0.5, 3.0, 40.0, 1e4])
@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0, 3.0, 7.0])
def test_the_delta_of_zcdp_is_the_best_over_all_orders(rho: float, factor: float) -> None:
    epsilon = rho + factor * math.sqrt(rho)
    best = exact_zcdp_delta(rho, epsilon)
    assert best * (1 - 1e-9) <= zcdp_delta(rho, epsilon) <= best * (1 + 1e-4)


@pytest.mark.parametrize("mu", [1e-6, 1e-4, 0.01, 0.3, 1.0, 4.0, 12.0, 30.0])
@pytest.mark.parametrize("epsilon", [0.0, 1e-6, 3e-6, 1e-3, 0.1, 1.0, 5.0, 20.0, 50.0])
def test_the_delta_of_gdp_is_the_analytic_one(mu: float, epsilon: float) -> None:
    with mpmath.workdps(60 + int(2 * (epsilon / mu) ** 2) if epsilon < 40 * mu else 60):
        exact = exact_gdp_delta(mu, epsilon) if epsilon < 40 * mu else mpmath.mpf(0)
        got = mpmath.mpf(gdp_delta(mu**2, epsilon))
        rounding = 1e-14 * float(mpmath.erfc((epsilon / mu - mu / 2) / math.sqrt(2)))
        assert abs(got - exact) <= 1e-8 * exact + rounding + mpmath.mpf(10) ** -320
    assert 0 <= gdp_delta(mu**2, epsilon) <= 1


@settings(deadline=None, max_examples=40)
@given(st.floats(1e-6, 50), st.sampled_from(DELTAS), st.sampled_from([ZcdpAccountant, GdpAccountant]))
def test_the_number_of_a_budget_and_back_never_gives_more_than_the_budget(
    epsilon: float, delta: float, kind: Any
) -> None:
    number = kind.budget(epsilon, delta)
    delta_of = zcdp_delta if kind is ZcdpAccountant else gdp_delta
    assert 0 < delta_of(number, epsilon) <= delta
    assert delta_of(number * 1.0001, epsilon) > delta * (1 - 1e-6)  # nothing is left lying about
    assert delta_of(number, kind.epsilon_of(number, delta)) <= delta
    assert kind.epsilon_of(number, delta) <= epsilon * (1 + 1e-8)
    assert kind.epsilon_of(number, delta) >= epsilon * (1 - 1e-3)


@given(st.floats(0.01, 10), st.sampled_from(DELTAS[:4]))
@settings(deadline=None, max_examples=25)
def test_gdp_pays_for_at_least_as_much_gaussian_noise_as_zcdp(epsilon: float, delta: float) -> None:
    # a Gaussian mechanism with mu has rho = mu²/2, and GDP is exact for it
    assert GdpAccountant.budget(epsilon, delta) >= 2 * ZcdpAccountant.budget(epsilon, delta) * (1 - 1e-6)


EPSILON = st.floats(-12, 6).map(lambda power: 10.0**power)


@settings(deadline=None, max_examples=150)
@given(st.sampled_from(KINDS), EPSILON, st.lists(st.floats(1e-6, 1), min_size=1, max_size=40), st.integers(1, 30))
def test_fractions_that_sum_to_one_are_always_paid_and_never_overspend(
    kind: str, epsilon: float, weights: list[float], times: int
) -> None:
    account = bank(kind, epsilon)
    total = math.fsum(weights)
    for weight in weights:
        cost = account.cost(weight / total / times)
        for _ in range(times):
            account.charge(cost)
    spent, delta = account.spent()
    assert epsilon * (1 - 2e-3) <= spent <= epsilon
    assert delta == account.delta
    before = account.spent()
    with pytest.raises(BudgetError):
        account.charge(account.cost(1e-3))
    assert account.spent() == before


@given(EPSILON, st.lists(st.floats(0, 0.2), max_size=30))
def test_sums_are_exact(epsilon: float, fractions: list[float]) -> None:
    account = accountant("pure", epsilon, 0.0)
    exact = Fraction(0)
    for fraction in fractions:
        cost = Pure(epsilon * fraction)
        if exact + Fraction(cost.epsilon) > Fraction(epsilon):
            with pytest.raises(BudgetError):
                account.charge(cost)
        else:
            account.charge(cost)
            exact += Fraction(cost.epsilon)
        assert account.spent() == (float(exact), 0.0)


def test_ten_tenths_are_more_than_one_to_the_last_bit() -> None:
    account = accountant("pure", 1.0, 0.0)
    for _ in range(9):
        account.charge(Pure(0.1))
    with pytest.raises(BudgetError):  # the float 0.1 is a hair above 1/10
        account.charge(Pure(0.1))
    account.charge(Pure(0.1 - 1e-16))


@pytest.mark.parametrize("kind", KINDS)
def test_a_refused_cost_leaves_the_state_as_it_was(kind: str) -> None:
    account = bank(kind, 1.0)
    account.charge(account.cost(0.6))
    before = account.spent()
    for cost in (account.cost(0.5), Pure(2.0), Pure(math.inf), type(account.cost(1))(math.inf)):
        with pytest.raises(BudgetError, match="refuses") as caught:
            account.charge(cost)
        assert caught.value.exit_code == 3
        assert "\n" not in str(caught.value)
        assert account.spent() == before
    account.charge(account.cost(0.4))


def test_a_pure_budget_pays_for_nothing_that_is_not_pure() -> None:
    account = accountant("pure", 1e6, 0.0)
    for cost in (ZCDP(1e-9), GDP(1e-9)):
        with pytest.raises(BudgetError, match="not pure"):
            account.charge(cost)
    assert account.spent() == (0.0, 0.0)


def test_pure_costs_under_other_accounting_are_charged_as_what_they_imply() -> None:
    zcdp, gdp = bank("zcdp", 1.0), bank("gdp", 1.0)
    for account in (zcdp, gdp):
        assert account.spent()[0] == 0
        account.charge(Pure(0.1))
    assert zcdp.spent()[0] == pytest.approx(ZcdpAccountant.epsilon_of(0.1**2 / 2, 1e-6))
    # the corner of the trade-off function: mu ≈ epsilon √(π/2) for a small epsilon
    assert gdp.spent()[0] == pytest.approx(GdpAccountant.epsilon_of(0.1**2 * math.pi / 2, 1e-6), rel=1e-2)


@pytest.mark.parametrize("kind", ["zcdp", "gdp"])
def test_accounting_that_needs_a_delta_refuses_zero(kind: str) -> None:
    with pytest.raises(InputError, match=f"{kind} needs delta > 0"):
        accountant(kind, 1.0, 0.0)


def test_unknown_accounting_is_refused_with_the_known_names() -> None:
    with pytest.raises(InputError, match="pure, zcdp, gdp"):
        accountant("rdp", 1.0, 1e-6)


@settings(max_examples=100)
@given(EPSILON, st.sampled_from(DELTAS), st.lists(st.floats(1e-6, 0.4), min_size=1, max_size=12), st.booleans())
def test_epsilons_and_deltas_add_up_exactly(epsilon: float, delta: float, fractions: list[float], pure: bool) -> None:
    account = accountant("pure", epsilon, delta)
    spent, deltas = Fraction(0), Fraction(0)
    for i, fraction in enumerate(fractions):
        share = account.cost(fraction)
        assert isinstance(share, Approximate)
        assert share.epsilon <= epsilon * fraction
        assert 0 < share.delta <= delta * fraction
        cost = Pure(share.epsilon) if pure and i % 2 else share
        more = Fraction(0) if isinstance(cost, Pure) else Fraction(cost.delta)
        if spent + Fraction(cost.epsilon) > Fraction(epsilon) or deltas + more > Fraction(delta):
            with pytest.raises(BudgetError, match="refuses"):
                account.charge(cost)
        else:
            account.charge(cost)
            spent, deltas = spent + Fraction(cost.epsilon), deltas + more
        assert account.spent() == (float(spent), float(deltas))


def test_each_of_epsilon_and_delta_is_refused_beyond_the_budget() -> None:
    account = accountant("pure", 1.0, 1e-6)
    account.charge(Approximate(0.5, 1e-6))
    for cost, words in ((Approximate(0.1, 1e-9), "of delta = 1e-06"), (Pure(0.6), "of epsilon = 1")):
        with pytest.raises(BudgetError, match=words):
            account.charge(cost)
        assert account.spent() == (0.5, 1e-6)
    account.charge(Pure(0.5))
    assert account.spent() == (1.0, 1e-6)


def test_a_delta_is_no_part_of_a_pure_budget_or_of_other_accounting() -> None:
    account = accountant("pure", 1.0, 0.0)
    with pytest.raises(BudgetError, match="not pure"):
        account.charge(Approximate(0.1, 1e-12))
    account.charge(Approximate(0.1, 0.0))
    assert account.spent() == (0.1, 0.0)
    for kind in ("zcdp", "gdp"):
        other = bank(kind, 1.0)
        with pytest.raises(BudgetError, match="refuses"):
            other.charge(Approximate(1e-9, 1e-12))
        before = other.spent()
        other.charge(Approximate(0.1, 0.0))
        same = bank(kind, 1.0)
        same.charge(Pure(0.1))
        assert before[0] == 0
        assert other.spent() == same.spent()
