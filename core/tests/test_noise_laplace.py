"""The discrete Laplace sampler follows P(x) proportional to exp(-|x| / scale)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy import stats

from dpcore.noise import ExactNoise, bernoulli, laplace
from dpcore.noise.entropy import Entropy
from noise_words import Pseudo, Words

ALPHA = 1e-6
N = 200_000
SCALES = [
    Fraction(1, 10), Fraction(1, 3), Fraction(1), Fraction(7, 3), Fraction(40), Fraction(123_456_789, 2**20),
    Fraction(10**6), Fraction(2**45), 1 / Fraction(0.01), Fraction(2**62 - 1, 2**54 - 1),
]  # fmt: skip
LARGE = [Fraction(2**56), Fraction(10**40, 3), Fraction(1e300), Fraction(2**70 + 1, 2**69)]


def above(scale: Fraction, x: int) -> float:
    """P(X >= x), x >= 1."""
    rate = 1 / scale
    return math.exp(-float(rate * x)) / (1.0 + math.exp(-float(rate)))


def p_value(draws: Any, scale: Fraction) -> float:
    """Chi-square over 0 and cells of equal tail probability on both sides."""
    steps = sorted({max(1, math.ceil(scale * Fraction(math.log(20 / j)))) for j in range(1, 20)})
    tails = np.array([above(scale, x) for x in steps])
    side = np.append(tails[:-1] - tails[1:], tails[-1])
    probability = np.concatenate([side, [1.0 - 2.0 * tails[0]], side])
    keep = probability * len(draws) > 5
    values = [int(x) for x in draws]
    edges = np.array(steps, dtype=object)
    counts = np.zeros(len(probability))
    for value in values:
        if value > 0 and value >= steps[0]:
            counts[np.searchsorted(edges, value, side="right") - 1] += 1
        elif value < 0 and -value >= steps[0]:
            counts[len(side) + 1 + np.searchsorted(edges, -value, side="right") - 1] += 1
        else:
            counts[len(side)] += 1
    rest = len(draws) - counts[keep].sum()
    observed = np.append(counts[keep], rest)
    expected = np.append(probability[keep], max(1.0 - probability[keep].sum(), 0.0)) * len(draws)
    if expected[-1] < 5:
        observed, expected = observed[:-1], expected[:-1]
    return float(stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue)


@pytest.mark.parametrize("scale", SCALES[1:])
def test_draws_follow_their_distribution(scale: Fraction) -> None:
    draws = ExactNoise().discrete_laplace(scale, N // 4)
    assert draws.dtype == np.int64
    assert p_value(draws, scale) > ALPHA


@pytest.mark.parametrize("scale", LARGE)
def test_draws_beyond_int64_arithmetic_follow_their_distribution(scale: Fraction) -> None:
    draws = ExactNoise().discrete_laplace(scale, 5_000)
    assert draws.dtype == (object if scale > 2**55 else np.int64)
    assert p_value(draws, scale) > ALPHA


@pytest.mark.parametrize("scale", SCALES[:7])
def test_zero_and_the_two_tails_have_their_probabilities(scale: Fraction) -> None:
    draws = ExactNoise().discrete_laplace(scale, N)
    zero = math.tanh(0.5 / float(scale))
    assert stats.binomtest(int((draws == 0).sum()), N, zero).pvalue > ALPHA
    right, left = int((draws > 0).sum()), int((draws < 0).sum())
    assert right + left == 0 or stats.binomtest(right, right + left, 0.5).pvalue > ALPHA


@pytest.mark.parametrize("scale", [*SCALES, *LARGE])
def test_the_exact_path_decides_as_the_float_path_on_the_same_words(
    scale: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = laplace.discrete_laplace(Pseudo(3), scale, 60)
    monkeypatch.setattr(bernoulli, "_TAYLOR_ERROR", 2.0)
    slow = laplace.discrete_laplace(Pseudo(3), scale, 60)
    assert fast.tolist() == slow.tolist()


@pytest.mark.parametrize(("u", "t"), [(1, 3), (5, 7), (2**44 + 1, 2**45), (2**60 + 3, 2**61)])
def test_a_proposal_near_its_threshold_is_decided_exactly(u: int, t: int) -> None:
    with mpmath.workprec(300):
        digits = int(mpmath.floor(mpmath.exp(-mpmath.mpf(u) / t) * mpmath.mpf(2) ** 128))
    first, second = digits >> 64, digits & 2**64 - 1
    assert laplace._kept(Words(u, first, second - 1), t, 1).tolist() == [u]
    assert laplace._kept(Words(u, first, second + 1), t, 1).tolist() == []


@pytest.mark.parametrize(("t", "s"), [(2**62 - 1, 2**54 - 3), (2**55, 3), (7, 2**61), (10, 3), (2**40, 1)])
def test_the_int64_arithmetic_is_that_of_integers(t: int, s: int, monkeypatch: pytest.MonkeyPatch) -> None:
    u = np.array([0, 1, t // 2, t - 1] * 2, dtype=np.int64)
    v = np.array([0, 1, 50, 128] * 2, dtype=np.int64)
    monkeypatch.setattr(laplace, "_kept", lambda *_: u)
    monkeypatch.setattr(laplace, "runs", lambda *_: v)
    monkeypatch.setattr(laplace, "signs", lambda *_: np.zeros(8, dtype=bool))
    draws = laplace.discrete_laplace(Entropy(), Fraction(t, s), 8)
    assert draws.tolist() == [(int(a) + t * int(b)) // s for a, b in zip(u, v, strict=True)]


def test_a_run_too_long_for_int64_is_added_in_python_ints(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplace, "runs", lambda _entropy, n: np.full(n, 1000))
    draws = laplace.discrete_laplace(Entropy(), Fraction(2**54), 3)
    assert draws.dtype == object
    assert all(abs(x) >= 1000 * 2**54 for x in draws)
