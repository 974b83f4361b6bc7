"""Private choices have the probabilities of their mechanisms."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy import stats

from dpcore.noise import ExactNoise, NoiseSource, SeededNoise, bernoulli, choice
from noise_words import Pseudo, Words

ALPHA = 1e-6
N = 4_000
ROWS = [[0.0, 1.0, -1.5, 0.75], [3.0, 3.0, 3.0], [0.0, 0.0, 2.5, 1.0, 2.5], [5.0]]
RATES = [Fraction(1, 3), Fraction(1), Fraction(2)]


def p_value(chosen: list[int], probability: Any) -> float:
    counts = np.bincount(chosen, minlength=len(probability))
    expected = np.asarray(probability) * len(chosen)
    keep = expected > 10
    if keep.sum() < 2:
        return 1.0
    return float(stats.chisquare(counts[keep], expected[keep] * counts[keep].sum() / expected[keep].sum()).pvalue)


def flips(scores: list[float], rate: float) -> list[float]:
    """The distribution of permute-and-flip, summed over all orders."""
    heads = [math.exp(rate * (s - max(scores))) for s in scores]
    total = [0.0] * len(scores)
    orders = list(itertools.permutations(range(len(scores))))
    for order in orders:
        reached = 1.0 / len(orders)
        for i in order:
            total[i] += reached * heads[i]
            reached *= 1.0 - heads[i]
    return total


@pytest.mark.parametrize("source", [ExactNoise(), SeededNoise(5)])
@pytest.mark.parametrize("scores", ROWS)
@pytest.mark.parametrize("rate", RATES)
def test_both_choices_have_their_probabilities(source: NoiseSource, scores: list[float], rate: Fraction) -> None:
    row = np.array(scores)
    weights = np.exp(float(rate) * row)
    chosen = [source.exponential_choice(row, rate) for _ in range(N // 4)]
    assert p_value(chosen, weights / weights.sum()) > ALPHA
    chosen = [source.permute_and_flip(row, rate) for _ in range(N // 4)]
    assert p_value(chosen, flips(scores, float(rate))) > ALPHA


def test_many_far_candidates_share_the_weight_of_one_near() -> None:
    """400 candidates of weight exp(-6) against one of weight 1: the pool is larger than any one level."""
    row = np.append(np.zeros(400), 6.0)
    best = sum(ExactNoise().exponential_choice(row, Fraction(1)) == 400 for _ in range(N))
    assert stats.binomtest(best, N, 1.0 / (1.0 + 400 * math.exp(-6))).pvalue > ALPHA


@pytest.mark.parametrize("source", [ExactNoise(), SeededNoise(5)])
def test_a_dominating_candidate_among_200_000_is_found(source: NoiseSource) -> None:
    """Another is chosen with probability below 200000 exp(-100)."""
    row = np.zeros(200_000)
    row[777] = 100.0
    assert source.exponential_choice(row, Fraction(1)) == 777
    assert source.permute_and_flip(row, Fraction(1)) == 777


@pytest.mark.parametrize("source", [ExactNoise(), SeededNoise(5)])
@pytest.mark.parametrize("rate", [Fraction(1, 10**320), Fraction(1, 10**9), Fraction(1), Fraction(10**320)])
@pytest.mark.parametrize("row", [[1e308, -1e308], [5e-324, 0.0], [2.0**60, -(2.0**60)]])
def test_extreme_scores_and_rates_are_chosen_without_overflow(
    source: NoiseSource, rate: Fraction, row: list[float]
) -> None:
    choices = {source.exponential_choice(np.array(row), rate), source.permute_and_flip(np.array(row), rate)}
    assert choices <= {0, 1}
    if rate * (Fraction(row[0]) - Fraction(row[1])) > 100:
        assert choices == {0}


def test_the_exact_path_decides_as_the_float_path_on_the_same_words(monkeypatch: pytest.MonkeyPatch) -> None:
    row = np.random.default_rng(0).normal(size=50)
    entropy = Pseudo(1)
    fast = [(choice.exponential_choice(entropy, row, r), choice.permute_and_flip(entropy, row, r)) for r in RATES]
    monkeypatch.setattr(bernoulli, "_TAYLOR_ERROR", 2.0)
    entropy = Pseudo(1)
    slow = [(choice.exponential_choice(entropy, row, r), choice.permute_and_flip(entropy, row, r)) for r in RATES]
    assert fast == slow


@pytest.mark.parametrize("k", [1, 10, 45])
def test_the_trimming_coin_is_decided_exactly(k: int) -> None:
    height = bernoulli.leading(k) + 1
    with mpmath.workprec(400):
        digits = int(mpmath.floor(mpmath.exp(-k) * mpmath.mpf(2) ** 192 / height))
    first, second = digits >> 64, digits & 2**64 - 1
    assert choice._trimmed(Words(first, second - 1), k, height)
    assert not choice._trimmed(Words(first, second + 1), k, height)
