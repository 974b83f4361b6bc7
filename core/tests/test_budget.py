"""One ceiling for several fits: no copy, no thread and no odd number gets around it."""

from __future__ import annotations

import copy
import math
import pickle
import threading
import time
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, clone

from dpcore.budget import Budget
from dpcore.errors import BudgetError, InputError


class Holder(BaseEstimator):  # type: ignore[misc]
    """An estimator with a budget among its parameters."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget


def test_every_copy_is_the_same_budget() -> None:
    budget = Budget(1.0, 1e-6)
    copies = [copy.copy(budget), copy.deepcopy(budget), copy.deepcopy({"a": [budget]})["a"][0]]
    copies += [clone(budget), clone(Holder(budget)).budget, clone(clone(Holder(budget))).budget]
    for other in copies:
        assert other is budget
    copies[-1].reserve(0.75)
    assert budget.spent() == (0.75, 0.0)


def test_it_cannot_be_sent_to_another_process() -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="another process"):
            pickle.dumps(Budget(1.0), protocol)


@given(st.floats(1e-9, 1e6), st.lists(st.tuples(st.floats(0, 0.4), st.floats(0, 0.4)), max_size=20))
def test_it_takes_all_or_nothing_and_never_more_than_its_ceiling(
    epsilon: float, asks: list[tuple[float, float]]
) -> None:
    budget = Budget(epsilon, 1e-6)
    spent = [Fraction(0), Fraction(0)]
    for share, delta_share in asks:
        cost = (epsilon * share, 1e-6 * delta_share)
        after = [s + Fraction(c) for s, c in zip(spent, cost, strict=True)]
        if after[0] <= Fraction(epsilon) and after[1] <= Fraction(1e-6):
            budget.reserve(*cost)
            spent = after
        else:
            with pytest.raises(BudgetError, match="shared budget refuses") as caught:
                budget.reserve(*cost)
            assert caught.value.exit_code == 3
        assert budget.spent() == (float(spent[0]), float(spent[1]))
        assert min(budget.remaining()) >= 0


def test_nothing_is_given_back_and_no_infinite_cost_is_paid() -> None:
    budget = Budget(1.0, 1e-6)
    budget.reserve(0.5)
    for epsilon, delta in ((-0.5, 0.0), (0.1, -1e-9), (math.nan, 0.0), (0.1, math.nan)):
        with pytest.raises(InputError, match="cannot cost"):
            budget.reserve(epsilon, delta)
    for epsilon, delta in ((math.inf, 0.0), (0.1, math.inf)):
        with pytest.raises(BudgetError):
            budget.reserve(epsilon, delta)
    assert budget.spent() == (0.5, 0.0)


def test_a_budget_without_delta_pays_for_none() -> None:
    with pytest.raises(BudgetError):
        Budget(10.0).reserve(1.0, 1e-12)


def test_racing_threads_never_overspend(monkeypatch: pytest.MonkeyPatch) -> None:
    budget, each, threads = Budget(1.0), 1 / 64, 32
    start, paid = threading.Barrier(threads), []

    def dawdle(number: float) -> Fraction:  # between reading the sum and writing it
        time.sleep(1e-4)
        return Fraction(number)

    monkeypatch.setattr("dpcore.budget.exactly", dawdle)

    def spend() -> None:
        start.wait()
        for _ in range(20):
            try:
                budget.reserve(each)
            except BudgetError:
                return
            paid.append(each)

    racers = [threading.Thread(target=spend) for _ in range(threads)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert len(paid) == 64
    assert budget.spent() == (1.0, 0.0)
    assert budget.remaining() == (0.0, 0.0)


@pytest.mark.parametrize(("epsilon", "delta"), [(0, 0), (-1, 0), (math.inf, 0), (math.nan, 0), (1, 1), (1, -1)])
def test_a_ceiling_is_finite_and_positive(epsilon: float, delta: float) -> None:
    with pytest.raises(InputError):
        Budget(epsilon, delta)


def test_it_prints_its_ceiling() -> None:
    assert repr(Budget(0.5, 1e-6)) == "Budget(epsilon=0.5, delta=1e-06)"
