"""Seeded noise repeats itself and follows the distributions of exact noise. Every seed here is fixed."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpcore.noise import GAUSSIAN, NoiseSource, Quantile, SeededNoise

ALPHA = 1e-6
N = 100_000
CAUCHY = Quantile("cauchy", lambda q: 1.0 / np.tan(q * (np.pi / 2)), lambda mp, z: 2 * mp.acot(z) / mp.pi)


def everything(noise: NoiseSource) -> list[Any]:
    return [
        noise.integers(10, 5).tolist(),
        noise.integers(10**30, 5).tolist(),
        noise.discrete_laplace(Fraction(3), 5).tolist(),
        noise.discrete_laplace(Fraction(2**40), 5).tolist(),
        noise.discrete_gaussian(Fraction(3), 5).tolist(),
        noise.discrete_gaussian(Fraction(2**70), 5).tolist(),
        noise.gaussian(Fraction(3), 5).tolist(),
        noise.rounded(CAUCHY, Fraction(1000), 5).tolist(),
        noise.exponential_choice(np.arange(5.0), Fraction(1, 9)),
        noise.permute_and_flip(np.arange(5.0), Fraction(1, 9)),
    ]


@pytest.mark.parametrize("seed", [lambda: 7, lambda: np.random.default_rng(7), lambda: np.random.RandomState(7)])
def test_the_same_seed_gives_the_same_noise(seed: Any) -> None:
    assert everything(SeededNoise(seed())) == everything(SeededNoise(seed()))
    assert everything(SeededNoise(seed())) != everything(SeededNoise(8))


def test_a_random_state_moves_on_so_that_two_sources_from_it_differ() -> None:
    state = np.random.RandomState(7)
    assert everything(SeededNoise(state)) != everything(SeededNoise(state))


def chi_square(draws: Any, weight: Any, width: int) -> float:
    expected = weight / weight.sum() * len(draws)
    counts = np.bincount(draws + width, minlength=len(weight))
    keep = expected > 10
    return float(stats.chisquare(counts[keep], expected[keep] * counts[keep].sum() / expected[keep].sum()).pvalue)


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(1), Fraction(20), Fraction(333, 7)])
def test_discrete_laplace_follows_its_distribution(scale: Fraction) -> None:
    draws = SeededNoise(1).discrete_laplace(scale, N)
    width = math.ceil(40 * scale)
    x = np.arange(-width, width + 1)
    assert draws.dtype == np.int64
    assert chi_square(draws, np.exp(-np.abs(x) / float(scale)), width) > ALPHA


@pytest.mark.parametrize("variance", [Fraction(1, 5), Fraction(1), Fraction(10), Fraction(10**4, 7)])
def test_discrete_gaussian_follows_its_distribution(variance: Fraction) -> None:
    draws = SeededNoise(1).discrete_gaussian(variance, N)
    width = math.ceil(13 * math.sqrt(variance)) + 1
    x = np.arange(-width, width + 1)
    assert draws.dtype == np.int64
    assert chi_square(draws, np.exp(-(x**2) / (2 * float(variance))), width) > ALPHA


@pytest.mark.parametrize("scale", [Fraction(2**21), Fraction(2**61), Fraction(10**350)])
def test_wide_noise_has_its_shape(scale: Fraction) -> None:
    noise = SeededNoise(2)
    for draws, cdf, root in (
        (noise.discrete_laplace(scale, 5_000), stats.laplace.cdf, scale),
        (noise.discrete_gaussian(scale**2, 5_000), stats.norm.cdf, scale),
        (noise.gaussian(scale, 5_000), stats.norm.cdf, scale),
        (noise.rounded(GAUSSIAN, scale, 5_000), stats.norm.cdf, scale),
        (noise.rounded(CAUCHY, scale, 5_000), stats.cauchy.cdf, scale),
    ):
        assert stats.kstest([float(Fraction(int(x)) / root) for x in draws.tolist()], cdf).pvalue > ALPHA


def test_values_too_large_for_int64_are_python_ints() -> None:
    draws = SeededNoise(3).gaussian(Fraction(2**80), 10)
    assert draws.dtype == object
    assert all(type(x) is int for x in draws)
    assert SeededNoise(3).discrete_laplace(Fraction(1, 10**400), 3).tolist() == [0, 0, 0]
    assert SeededNoise(3).discrete_gaussian(Fraction(1, 10**400), 3).tolist() == [0, 0, 0]
