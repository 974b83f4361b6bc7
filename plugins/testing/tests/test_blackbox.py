"""The bound from draws is a true lower bound, and a useful one.

False alarms: every bound below is wrong with probability at most 1e-3; seeds are fixed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from dpcore.accounting import gdp_delta
from dpcore.errors import InputError
from dpcore_testing.blackbox import Witness, clopper_pearson, lower_bound


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def bound(left: Any, right: Any, **options: Any) -> Witness:
    return lower_bound(left, right, rng=rng(1), **options)


def most(trials: int) -> float:
    """The bound for an event that always comes on one side and never on the other, with half of the trials held out."""
    left, fails = trials - (trials + 1) // 2, 0.0005
    return math.log(fails ** (1 / left) / (1 - fails ** (1 / left)))


class TestClopperPearson:
    @pytest.mark.parametrize("trials", [1, 7, 40])
    @pytest.mark.parametrize("fails", [1e-6, 5e-4, 0.05])
    def test_each_side_is_wrong_at_most_as_often_as_it_says(self, trials: int, fails: float) -> None:
        ends = np.array([clopper_pearson(k, trials, fails) for k in range(trials + 1)])
        for p in np.linspace(0.001, 0.999, 97):
            mass = stats.binom.pmf(np.arange(trials + 1), trials, p)
            assert mass[ends[:, 0] > p].sum() <= fails * (1 + 1e-9)
            assert mass[ends[:, 1] < p].sum() <= fails * (1 + 1e-9)

    def test_no_hits_and_all_hits_have_closed_forms(self) -> None:
        low, high = clopper_pearson(0, 50, 1e-3)
        assert (low, high) == (0.0, pytest.approx(1 - 1e-3 ** (1 / 50)))
        low, high = clopper_pearson(50, 50, 1e-3)
        assert (low, high) == (pytest.approx(1e-3 ** (1 / 50)), 1.0)


class TestPower:
    def test_half_the_noise_is_seen_and_nearly_measured(self) -> None:
        draw = rng()
        found = bound(draw.laplace(scale=0.5, size=100_000), 1 + draw.laplace(scale=0.5, size=100_000))
        assert 1.85 < found.epsilon < 2

    def test_correct_noise_is_nearly_measured_and_never_exceeded(self) -> None:
        draw = rng()
        laplace = bound(draw.laplace(size=100_000), 1 + draw.laplace(size=100_000))
        geometric = [draw.geometric(1 - math.exp(-1), (2, 100_000)) for _ in range(2)]
        discrete = bound(*(g[0] - g[1] + i for i, g in enumerate(geometric)))
        told = draw.random((2, 100_000)) < np.array([[math.e], [1]]) / (1 + math.e)
        for found in (laplace, discrete, bound(*told)):
            assert 0.9 < found.epsilon < 1

    def test_the_side_on_which_the_event_is_likelier_is_named(self) -> None:
        draw = rng()
        rare, common = draw.random(4000) < 0.01, draw.random(4000) < 0.3
        found = bound(rare, common)
        assert found.likelier == "right"
        assert found.hits[0] < found.hits[1]
        assert bound(common, rare).likelier == "left"
        assert found.trials == (2000, 2000)

    def test_a_scale_that_depends_on_the_data_shows_in_the_tails(self) -> None:
        draw = rng()
        found = bound(draw.laplace(scale=0.25, size=20_000), draw.laplace(scale=0.5, size=20_000))
        assert found.epsilon > 2

    def test_budget_used_in_every_query_shows_in_a_vector(self) -> None:
        draw = rng()
        left, right = draw.laplace(scale=2, size=(2, 2000, 50))
        right[:, :9] += 1
        assert bound(left, right).epsilon > 0.5

    def test_what_only_two_numbers_together_tell_is_seen(self) -> None:
        draw = rng()
        left, right = draw.normal(size=(2, 4000, 3))
        left[:, 1] = np.abs(left[:, 1]) * np.sign(left[:, 0])
        right[:, 1] = -np.abs(right[:, 1]) * np.sign(right[:, 0])
        assert bound(left, right).epsilon > 3


class TestOddOutputs:
    def test_an_atom_on_one_side_only_is_certain_knowledge(self) -> None:
        noise = rng().laplace(size=4000)
        found = bound(np.zeros(4000), noise)
        assert found.epsilon == pytest.approx(most(4000))
        assert found.event == "output exactly 0"

    def test_a_rare_atom_among_continuous_outputs_is_found(self) -> None:
        draw = rng()
        left, right = draw.normal(size=(2, 20_000))
        left[draw.random(20_000) < 0.05] = 0.3
        assert bound(left, right).epsilon > 3

    def test_disjoint_supports_give_the_largest_bound(self) -> None:
        draw = rng()
        assert bound(draw.random(1000), 2 + draw.random(1000)).epsilon == pytest.approx(most(1000))
        # even and odd numbers: no threshold separates them
        even, odd = 2 * draw.integers(40, size=1000), 2 * draw.integers(40, size=1000) + 1
        assert bound(even, odd).epsilon == pytest.approx(most(1000))

    @pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
    def test_an_output_that_is_no_number_is_an_output_like_others(self, odd: float) -> None:
        draw = rng()
        left, right = draw.normal(size=(2, 4000))
        left[draw.random(4000) < 0.2] = odd
        found = bound(left, right)
        assert found.epsilon > 3
        assert found.hits[1] == 0
        assert bound(np.column_stack([left, left]), np.column_stack([right, right])).epsilon > 3

    def test_outputs_that_are_all_the_same_show_nothing(self) -> None:
        assert bound(np.full(100, 7.0), np.full(100, 7.0)).epsilon == 0
        assert bound(np.full((100, 3), np.nan), np.full((100, 3), np.nan)).epsilon == 0
        assert bound(np.full(100, 7.0), np.full(100, 8.0)).epsilon == pytest.approx(most(100))

    def test_a_constant_feature_beside_a_telling_one_does_no_harm(self) -> None:
        draw = rng()
        left, right = draw.laplace(scale=0.2, size=(2, 2000, 1))
        constant = np.ones((2000, 1))
        found = bound(np.hstack([constant, left]), np.hstack([constant, 1 + right]))
        assert found.epsilon > 2.5
        assert found.event.startswith("number 2 ")


class TestDelta:
    def test_a_rare_giveaway_within_delta_is_allowed(self) -> None:
        draw = rng()
        left, right = draw.normal(size=(2, 10_000))
        left[draw.random(10_000) < 0.1] = 50
        assert bound(left, right).epsilon > 4
        assert bound(left, right, delta=0.05).epsilon > 3
        assert bound(left, right, delta=0.11).epsilon < 0.2

    def test_the_gaussian_mechanism_keeps_its_curve(self) -> None:
        draw = rng()
        left, right = draw.normal(size=(2, 100_000))
        for epsilon in (0.5, 1.0, 2.0):
            found = bound(left, right + 1, delta=gdp_delta(1.0, epsilon))
            assert 0.6 * epsilon < found.epsilon < epsilon


numbers = st.floats(allow_nan=True, allow_infinity=True) | st.sampled_from([0.0, 1.0, math.nan, math.inf])
shapes = st.tuples(st.integers(20, 60), st.integers(1, 3))


@settings(max_examples=40, deadline=None)
@given(st.data(), shapes, st.integers(20, 60))
def test_any_floats_give_a_bound_that_so_few_draws_can_support(data: Any, shape: tuple[int, int], other: int) -> None:
    left = data.draw(hnp.arrays(np.float64, shape, elements=numbers))
    right = data.draw(hnp.arrays(np.float64, (other, shape[1]), elements=numbers))
    found = bound(left, right, thorough=shape[1] == 1)
    assert 0 <= found.epsilon <= most(2 * 60)
    assert all(0 <= hits <= trials for hits, trials in zip(found.hits, found.trials, strict=True))
    assert found.to_json()["epsilon"] == found.epsilon


@pytest.mark.parametrize("seed", range(20))
def test_nothing_is_learned_from_the_half_that_is_counted(seed: int) -> None:
    # outputs that are all different on both sides, of one distribution: an event fitted to the counted half would
    # show a large loss
    left, right = rng(seed).normal(size=(2, 400, 20))
    assert lower_bound(left, right, rng=rng(seed), thorough=seed < 3).epsilon < 0.1


def test_what_cannot_be_audited_is_refused_in_words() -> None:
    with pytest.raises(InputError, match=r"at least 20 trials a side\. Got 19"):
        bound(np.zeros(30), np.zeros(19))
    with pytest.raises(InputError, match=r"the same features\. Got 2 and 3"):
        bound(np.zeros((30, 2)), np.zeros((30, 3)))
    with pytest.raises(InputError, match="at least 20"):
        bound([], [])
    with pytest.raises(InputError, match="confidence must lie"):
        bound(np.zeros(30), np.zeros(30), confidence=1.0)
    with pytest.raises(InputError, match="delta in"):
        bound(np.zeros(30), np.zeros(30), delta=-0.1)
