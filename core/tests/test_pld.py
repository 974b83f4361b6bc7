"""Optimal composition never claims less than is spent, and saves noise where many pure releases are planned."""

from __future__ import annotations

import math
from itertools import product

import pytest

from dpcore.errors import BudgetError, InputError
from dpcore.planning import make_plan
from dpcore.pld import PldAccountant, composed
from dpcore.privacy import ZCDP, Pure
from dpcore.schema import Nominal, Schema

pytest.importorskip("dp_accounting", reason="an option: pip install dpcore[pld]")


def exact_delta(asks: list[float], epsilon: float) -> float:
    """Of randomised responses, by adding up all outcomes (Kairouz, Oh & Viswanath 2015, Theorem 3.3)."""
    total = 0.0
    for signs in product((1, -1), repeat=len(asks)):
        loss = math.fsum(s * e for s, e in zip(signs, asks, strict=True))
        p = math.prod(1 / (1 + math.exp(-s * e)) for s, e in zip(signs, asks, strict=True))
        total += p * max(0.0, 1 - math.exp(epsilon - loss))
    return total


@pytest.mark.parametrize("asks", [[0.5], [0.1] * 8, [0.3, 0.3, 0.05, 0.2, 0.2, 0.2], [1.0, 0.01, 0.01]])
@pytest.mark.parametrize("delta", [1e-3, 1e-6])
def test_the_composed_epsilon_is_true_and_nearly_tight(asks: list[float], delta: float) -> None:
    epsilon = composed({a: asks.count(a) for a in asks}, delta)
    assert exact_delta(asks, epsilon) <= delta * (1 + 1e-9)
    assert epsilon <= math.fsum(asks)
    assert exact_delta(asks, epsilon * 0.99) > delta or epsilon == math.fsum(asks)


def test_a_plan_of_many_steps_gets_more_than_basic_composition_gives() -> None:
    schema = Schema([Nominal(f"a{i}", ["0", "1"]) for i in range(40)], Nominal("class", ["0", "1"]))
    given = {"epsilon": 1.0, "delta": 1e-6, "mechanism": "geometric"}
    basic = make_plan("naive_bayes", schema, **given, accounting="pure")
    optimal = make_plan("naive_bayes", schema, **given, accounting="pld")
    assert optimal.steps[1].calibration.scale < 0.7 * basic.steps[1].calibration.scale
    assert optimal.total[0] <= 1.0
    bank = optimal.accountant()
    for planned in optimal.steps:
        bank.charge(planned.cost)
    assert bank.spent()[0] <= 1.0
    with pytest.raises(BudgetError, match="not in the plan"):
        bank.charge(optimal.steps[0].cost)


def test_what_is_not_in_the_plan_is_refused() -> None:
    bank = PldAccountant(1.0, 1e-6, [0.5, 0.25])
    for cost in (Pure(0.3), ZCDP(0.1)):
        with pytest.raises(BudgetError):
            bank.charge(cost)
    bank.charge(Pure(0.25))
    assert 0.249 < bank.spent()[0] <= 0.25


def test_a_release_without_guarantee_has_none_under_any_accounting() -> None:
    assert composed({0.1: 3, math.inf: 1}, 1e-6) == math.inf


def test_it_needs_a_delta() -> None:
    with pytest.raises(InputError, match="delta > 0"):
        PldAccountant.for_shares(1.0, 0.0, [1.0])
