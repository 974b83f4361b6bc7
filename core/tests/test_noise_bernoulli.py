"""Coins are exact: where floats cannot tell, the decision is that of exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy import stats

from dpcore.noise import bernoulli
from dpcore.noise.bernoulli import Bounds, coins, exp_bounds, exp_coins, leading, runs, unit_exp_coins
from dpcore.noise.entropy import Entropy
from noise_words import Words

ALPHA = 1e-6
EXPONENTS = [Fraction(1, 3), Fraction(1), Fraction(1, 10**6), Fraction(2**53 - 1, 2**53), Fraction(7, 2**60)]


def rational_coins(entropy: Any, numerators: Any, denominator: int) -> Any:
    """Coins with probability numerators[i] / denominator."""

    def exact(i: int) -> Bounds:
        p = Fraction(int(numerators[i]), denominator)
        return lambda _bits: (p, p)

    return coins(entropy, numerators / float(denominator), 2.0**-51, exact)


def limbs(x: Fraction) -> tuple[int, int, int]:
    """The leading words of exp(-x), from mpmath."""
    with mpmath.workprec(400):
        digits = int(mpmath.floor(mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator) * mpmath.mpf(2) ** 192))
    return digits >> 128, digits >> 64 & 2**64 - 1, digits & 2**64 - 1


@pytest.mark.parametrize("denominator", [1, 2, 10, 255, 256, 257])
def test_over_all_short_words_a_rational_coin_shows_heads_for_exactly_those_below_p(denominator: int) -> None:
    """All 256 words of 8 bits (followed by zeros): the number of heads is the number of j with j/256 < p."""
    short = [j << 56 for j in range(256)]
    for numerator in range(denominator + 1):
        heads = rational_coins(Words(*short), np.full(256, numerator), denominator)
        assert heads.tolist() == [j * denominator < 256 * numerator for j in range(256)]


def test_a_rational_coin_near_its_probability_is_settled_by_more_bits() -> None:
    third = (2**64 - 1) // 3
    for last, verdict in ((third - 1, True), (third + 1, False)):
        entropy = Words(third, third, last)
        assert rational_coins(entropy, np.array([1]), 3).tolist() == [verdict]
        assert entropy.left == []


@pytest.mark.parametrize("x", EXPONENTS)
def test_an_exponential_coin_near_its_probability_is_settled_by_more_bits(x: Fraction) -> None:
    first, second, third = limbs(x)
    cases = [
        ((first - 1,), True),
        ((first + 1,), False),
        ((first, second - 1), True),
        ((first, second + 1), False),
        ((first, second, third - 1), True),
        ((first, second, third + 1), False),
    ]
    for words, verdict in cases:
        if max(words) < 2**64:
            entropy = Words(*words)
            heads = unit_exp_coins(entropy, np.array([float(x)]), 2.0**-51, lambda _: x)
            assert heads.tolist() == [verdict]
            assert entropy.left == []


@pytest.mark.parametrize("k", [1, 2, 20, 43])
def test_a_run_near_a_power_of_exp_minus_one_is_settled_by_more_bits(k: int) -> None:
    first, second, _ = limbs(Fraction(k))
    assert leading(k) == first
    assert runs(Words(first - 1), 1)[0] >= k
    assert runs(Words(first + 1), 1).tolist() == [k - 1]
    assert runs(Words(first, second + 1), 1).tolist() == [k - 1]
    assert runs(Words(first, second - 1), 1).tolist() == [k]


def test_a_run_longer_than_one_word_can_tell_goes_on() -> None:
    """U between exp(-60) and exp(-59), and so below 2**-64."""
    second = int(mpmath.floor((mpmath.exp(-59) + mpmath.exp(-60)) / 2 * mpmath.mpf(2) ** 128))
    assert runs(Words(0, second), 1).tolist() == [59]


@pytest.mark.parametrize("x", [Fraction(0), Fraction(1, 7), Fraction(1), Fraction(5, 2), Fraction(300)])
def test_bounds_on_exp_enclose_it_and_close_in(x: Fraction) -> None:
    for bits in (64, 128, 700):
        low, high = exp_bounds(x, bits)
        with mpmath.workprec(2000):
            true = mpmath.exp(-mpmath.mpf(x.numerator) / x.denominator)
            assert mpmath.mpf(low.numerator) / low.denominator <= true * (1 + mpmath.mpf(2) ** -1990)
            assert mpmath.mpf(high.numerator) / high.denominator >= true * (1 - mpmath.mpf(2) ** -1990)
        assert high - low < Fraction(1, 1 << bits)


def test_the_polynomial_keeps_its_error_bound() -> None:
    x = np.concatenate([np.linspace(0.0, 1.0, 500), np.random.default_rng(0).random(500)])
    value = bernoulli._exp(x)
    for point, approximate in zip(x.tolist(), value.tolist(), strict=True):
        low, high = exp_bounds(Fraction(point), 100)
        assert max(abs(low - Fraction(approximate)), abs(high - Fraction(approximate))) < Fraction(1, 1 << 46)


@pytest.mark.parametrize("gamma", [0.0, 0.5, 1.0, 2.75, 6.0])
def test_exponential_coins_have_their_probability(gamma: float) -> None:
    n = 200_000
    g = np.full(n, gamma)
    heads = exp_coins(Entropy(), g, g * 2.0**-49, lambda _: Fraction(gamma))
    assert stats.binomtest(int(heads.sum()), n, math.exp(-gamma)).pvalue > ALPHA


def test_the_exact_path_decides_as_the_float_path_on_the_same_words() -> None:
    exact = [Fraction(int(j), 997) for j in np.random.default_rng(1).integers(0, 5000, 1000)]
    gamma = np.array([float(x) for x in exact])
    words = np.random.default_rng(2).integers(0, 2**64, 2000, dtype=np.uint64).tolist()
    fast = exp_coins(Words(*words), gamma, gamma * 2.0**-49, lambda i: exact[i])
    slow = exp_coins(Words(*words), gamma, np.full(1000, 1e-4), lambda i: exact[i])
    slowest = exp_coins(Words(*words), np.floor(gamma), np.ones(1000), lambda i: exact[i])
    assert fast.tolist() == slow.tolist()
    # A wide error lowers k, which uses other words for the same probability.
    assert abs(int(slowest.sum()) - int(fast.sum())) < 120


def test_runs_follow_the_geometric_distribution() -> None:
    lengths = np.minimum(runs(Entropy(), 500_000), 10)
    tail = np.exp(-np.arange(11.0))
    expected = np.append(tail[:-1] - tail[1:], tail[-1]) * 500_000
    assert stats.chisquare(np.bincount(lengths, minlength=11), expected).pvalue > ALPHA
