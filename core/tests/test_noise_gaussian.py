"""The discrete Gaussian sampler follows P(x) proportional to exp(-x**2 / (2 variance))."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpcore.noise import ExactNoise, bernoulli, gaussian
from noise_words import Pseudo

ALPHA = 1e-6
SMALL = [Fraction(1, 10), Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(100), Fraction(12_345, 2**7)]
LARGE = [Fraction(10**10), Fraction(2**80 + 1, 3), Fraction(2**108)]
HUGE = [Fraction(2**118), Fraction(2**130), Fraction(10**400)]
TINY = [Fraction(1, 10**400), Fraction(1, 2**1000)]


def pooled(observed: Any, expected: Any) -> float:
    """Chi-square over the cells that expect more than 10 draws, the others pooled if they expect as much."""
    keep = expected > 10
    o, e = observed[keep], expected[keep]
    if expected[~keep].sum() > 10:
        o, e = np.append(o, observed[~keep].sum()), np.append(e, expected[~keep].sum())
    return float(stats.chisquare(o, e * o.sum() / e.sum()).pvalue)


@pytest.mark.parametrize("variance", SMALL[1:])
def test_draws_follow_their_distribution(variance: Fraction) -> None:
    n = 100_000
    draws = ExactNoise().discrete_gaussian(variance, n)
    width = math.ceil(12 * math.sqrt(variance)) + 2
    x = np.arange(-width, width + 1)
    weight = np.exp(-(x**2) / (2.0 * float(variance)))
    counts = np.bincount(draws + width, minlength=len(x))
    assert draws.dtype == np.int64
    assert pooled(counts, weight / weight.sum() * n) > ALPHA


@pytest.mark.parametrize("variance", LARGE)
def test_wide_draws_are_normal_to_within_rounding(variance: Fraction) -> None:
    draws = ExactNoise().discrete_gaussian(variance, 50_000)
    assert draws.dtype == np.int64
    assert stats.kstest(draws / math.sqrt(variance), stats.norm.cdf).pvalue > ALPHA


@pytest.mark.parametrize("variance", HUGE)
def test_draws_beyond_int64_are_normal_to_within_rounding(variance: Fraction) -> None:
    draws = ExactNoise().discrete_gaussian(variance, 1_000)
    root = math.isqrt(math.floor(variance))
    assert draws.dtype == object
    assert stats.kstest([x / root for x in draws], stats.norm.cdf).pvalue > ALPHA


@pytest.mark.parametrize("variance", TINY)
def test_a_tiny_variance_gives_zeros(variance: Fraction) -> None:
    assert not ExactNoise().discrete_gaussian(variance, 100).any()


@pytest.mark.parametrize("variance", SMALL)
def test_zero_and_the_two_tails_have_their_probabilities(variance: Fraction) -> None:
    n = 200_000
    draws = ExactNoise().discrete_gaussian(variance, n)
    x = np.arange(1, math.ceil(15 * math.sqrt(variance)) + 2)
    zero = 1.0 / (1.0 + 2.0 * np.exp(-(x**2) / (2.0 * float(variance))).sum())
    assert stats.binomtest(int((draws == 0).sum()), n, zero).pvalue > ALPHA
    right, left = int((draws > 0).sum()), int((draws < 0).sum())
    assert stats.binomtest(right, right + left, 0.5).pvalue > ALPHA


@pytest.mark.parametrize("variance", [*SMALL, *LARGE, HUGE[0]])
def test_the_exact_path_decides_as_the_float_path_on_the_same_words(
    variance: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = gaussian.discrete_gaussian(Pseudo(3), variance, 100)
    monkeypatch.setattr(bernoulli, "_TAYLOR_ERROR", 2.0)
    slow = gaussian.discrete_gaussian(Pseudo(3), variance, 100)
    assert fast.tolist() == slow.tolist()


@pytest.mark.parametrize("variance", [*SMALL, *LARGE])
def test_the_exponents_keep_their_error_bound(variance: Fraction) -> None:
    t = math.isqrt(math.floor(variance)) + 1
    centre = variance / t
    near = [0, 1, 2, t, 3 * t, 40 * t, math.floor(centre), math.floor(centre) + 1]
    y = np.array([min(value, 2**62) for value in near], dtype=np.int64)
    gamma, error = gaussian._exponents(y, float(centre), float(variance))
    for i, value in enumerate(y.tolist()):
        true = (value - centre) ** 2 / (2 * variance)
        assert abs(Fraction(gamma[i]) - true) + true / 2**52 <= Fraction(error[i])
