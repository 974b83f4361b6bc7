"""Private choices lose no more than their cost, and choose with the probabilities that they state."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcore.accounting import gdp_delta
from dpcore.bound import Bound
from dpcore.noise import ExactNoise, SeededNoise
from dpcore.privacy import GDP, ZCDP, Cost, Pure, in_terms_of
from dpcore_mechanisms.choice import Exponential, PermuteAndFlip

ALPHA = 1e-6
EPSILONS = [1e-3, 0.1, 1.0, 5.0, 20.0]
BOTH = [Exponential(), PermuteAndFlip()]
ROWS = [[0, 0], [0, 1, 2], [5, 5, 5, 5], [0, 3, 3, 10], [0, 0, 0, 0, 7], [2, 1, 0, 1, 2, 1], [-40, 0, 1]]


def log_pmf(mechanism: Any, scores: Any, bound: Bound, cost: Cost) -> Any:
    row = np.asarray(scores, dtype=np.float64)
    return np.array([mechanism.log_density(i, row, bound, cost) for i in range(len(row))])


def moves(n: int, delta: float, monotone: bool) -> list[Any]:
    """The corners of the changes that one person can make."""
    ends = (0.0, delta) if monotone else (-delta, delta)
    return [np.array(c) for c in itertools.product(ends, repeat=n)]


def flips(scores: list[float], rate: float) -> list[float]:
    """Permute-and-flip by enumeration of all orders."""
    heads = [math.exp(rate * (s - max(scores))) for s in scores]
    total = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        reached = 1.0 / len(orders)
        for i in order:
            total[i] += reached * heads[i]
            reached *= 1.0 - heads[i]
    return total


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize(("delta", "monotone"), [(1.0, True), (1.0, False), (2.0, False), (0.37, True)])
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("kind", ["pure", "zcdp", "gdp"])
def test_the_loss_of_any_choice_is_within_the_cost(
    mechanism: Any, delta: float, monotone: bool, epsilon: float, kind: str
) -> None:
    bound = Bound(delta, "score", monotone=monotone)
    cost: Cost = Pure(epsilon)
    if kind != "pure":
        cost = in_terms_of(Pure(epsilon), ZCDP if kind == "zcdp" else GDP)
    allowed, worst = mechanism.epsilon(cost), 0.0
    for scores in ROWS:
        p = log_pmf(mechanism, scores, bound, cost)
        assert np.logaddexp.reduce(p) == pytest.approx(0, abs=1e-9)
        for move in moves(len(scores), delta, monotone):
            q = log_pmf(mechanism, np.array(scores) + move, bound, cost)
            worst = max(worst, float(np.abs(p - q).max()))
            check(kind, cost, p, q)
            check(kind, cost, q, p)
    assert worst <= allowed * (1 + 1e-9) + 1e-9
    assert kind == "zcdp" or allowed <= epsilon * (1 + 1e-6)


def check(kind: str, cost: Cost, p: Any, q: Any) -> None:
    """Renyi divergences within alpha · rho; hockey-stick divergences under the GDP curve."""
    if isinstance(cost, ZCDP):
        for order in (1.01, 1.5, 2.0, 4.0, 16.0, 64.0):
            divergence = np.logaddexp.reduce(order * p + (1 - order) * q) / (order - 1)
            assert divergence <= order * cost.rho * (1 + 1e-9) + 1e-9 / (order - 1)
    elif isinstance(cost, GDP):
        for other in (0.0, 0.05, 0.3, 1.0, 3.0):
            delta = np.maximum(np.exp(p) - np.exp(other + q), 0).sum()
            assert delta <= gdp_delta(cost.square, other) * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("order", [1.01, 1.2, 2.0, 3.0, 10.0, 100.0])
def test_a_loss_of_range_epsilon_costs_an_eighth_of_its_square(epsilon: float, order: float) -> None:
    """The two-point pairs with losses t and t − epsilon, all t: the extremes of bounded range."""
    for t in np.linspace(0, epsilon, 101)[1:-1]:
        # q (1 − x) e^(t − eps) + q x e^t = 1 fixes x
        low, high = math.exp(t - epsilon), math.exp(t)
        x = (1 - low) / (high - low)
        terms = np.array([math.log(x) + order * t, math.log1p(-x) + order * (t - epsilon)])
        divergence = np.logaddexp.reduce(terms) / (order - 1)
        assert divergence <= order * epsilon**2 / 8 * (1 + 1e-9) + 1e-12 / (order - 1)
    rate = Exponential().rate(Bound(1.0, "score"), ZCDP(epsilon**2 / 8))
    assert rate == pytest.approx(epsilon / 2)


@pytest.mark.parametrize("monotone", [True, False])
def test_the_losses_of_the_exponential_mechanism_have_range_epsilon(monotone: bool) -> None:
    bound, cost = Bound(1.0, "score", monotone=monotone), Pure(1.3)
    widest = 0.0
    for scores in ROWS:
        p = log_pmf(Exponential(), scores, bound, cost)
        for move in moves(len(scores), 1.0, monotone):
            widest = max(widest, float(np.ptp(p - log_pmf(Exponential(), np.array(scores) + move, bound, cost))))
    assert widest == pytest.approx(1.3)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-20, 20), min_size=1, max_size=5), st.floats(1e-3, 5))
def test_permute_and_flip_has_the_probabilities_of_all_its_orders(scores: list[float], epsilon: float) -> None:
    bound, cost = Bound(1.0, "score"), Pure(epsilon)
    p = np.exp(log_pmf(PermuteAndFlip(), scores, bound, cost))
    assert p == pytest.approx(flips(scores, epsilon / 2), rel=1e-9, abs=1e-14)
    assert p.sum() == pytest.approx(1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-30, 30), min_size=1, max_size=30), st.floats(1e-3, 20))
def test_permute_and_flip_never_errs_more_than_the_exponential_mechanism(scores: list[float], epsilon: float) -> None:
    bound, row = Bound(1.0, "score"), np.array(scores)
    gap = row.max() - row
    error = [float(np.exp(log_pmf(m, row, bound, Pure(epsilon))) @ gap) for m in BOTH]
    assert error[1] <= error[0] * (1 + 1e-9) + 1e-12


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("noise", [ExactNoise(), SeededNoise(6)])
@pytest.mark.parametrize("scores", ROWS[1:6])
def test_choices_fall_with_their_probabilities(mechanism: Any, noise: Any, scores: list[int]) -> None:
    bound, cost, row = Bound(1.0, "score", monotone=True), Pure(0.4), np.array(scores, dtype=np.float64)
    p = np.exp(log_pmf(mechanism, row, bound, cost))
    chosen = [mechanism.release(row, bound, cost, noise) for _ in range(1500)]
    seen = np.bincount(chosen, minlength=len(p))

    assert stats.chisquare(seen, p * len(chosen)).pvalue > ALPHA


@pytest.mark.parametrize("mechanism", BOTH)
@pytest.mark.parametrize("noise", [ExactNoise(), SeededNoise(2)])
@pytest.mark.parametrize("epsilon", [1e-300, 1e-12, 1e6])
def test_extreme_epsilons_choose_without_trouble(mechanism: Any, noise: Any, epsilon: float) -> None:
    bound, row = Bound(1.0, "score"), np.array([0.0, 3000.0, 5.0])
    assert math.isfinite(mechanism.calibrate(bound, Pure(epsilon)).scale)
    chosen = mechanism.release(row, bound, Pure(epsilon), noise)
    assert chosen in (0, 1, 2)
    assert epsilon < 1 or chosen == 1
    assert np.isfinite(log_pmf(mechanism, row, bound, Pure(epsilon))).all()


@pytest.mark.parametrize("mechanism", BOTH, ids=lambda m: type(m).__name__)
@pytest.mark.parametrize("noise", [SeededNoise(0), ExactNoise()], ids=["seeded", "exact"])
def test_a_matrix_of_scores_is_one_choice_a_row(mechanism: Any, noise: Any) -> None:
    scores, bound, cost = np.array([[0.0, 900.0, 1.0], [900.0, 0.0, 2.0]]), Bound(1.0, "score"), Pure(1.0)
    assert mechanism.release(scores, bound, cost, noise).tolist() == [1.0, 0.0]
    assert mechanism.without_noise(scores, bound, cost).tolist() == [1.0, 0.0]
    close = np.array([[0.0, 3.0, 1.0], [2.0, 2.0, 0.0]])
    together = mechanism.log_density(np.array([1.0, 2.0]), close, bound, cost)
    apart = mechanism.log_density(1, close[0], bound, cost) + mechanism.log_density(2, close[1], bound, cost)
    assert together == pytest.approx(apart)
