"""Vectors of noise have the density that proofs ask for, errors stay within what is stated, and the cover pays."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from dpcore.errors import NotConverged
from dpcore.noise import ExactNoise, NoiseSource, SeededNoise
from dpcore_mechanisms import cover as module
from dpcore_mechanisms.cover import (
    cover,
    grid,
    laplace,
    laplace_error,
    mean_coordinate,
    normal,
    normal_error,
    spherical,
    spherical_error,
)

ALPHA = 1e-6
WIDTHS = [1, 2, 3, 20, 300]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_length_of_spherical_noise_is_gamma_and_its_direction_uniform(width: int) -> None:
    noise = SeededNoise(5)
    drawn = np.array([spherical(noise, width) for _ in range(3000)])
    length = np.linalg.norm(drawn, axis=1)
    assert stats.kstest(length, stats.gamma(width).cdf).pvalue > ALPHA
    if width == 1:
        assert stats.binomtest(int((drawn > 0).sum()), len(drawn)).pvalue > ALPHA
        return
    # the square of one coordinate of a direction, along any axis
    axis = np.random.default_rng(0).normal(size=width)
    for along in (np.eye(width)[0], axis / np.linalg.norm(axis)):
        share = (drawn @ along / length) ** 2
        assert stats.kstest(share, stats.beta(0.5, (width - 1) / 2).cdf).pvalue > ALPHA
        assert stats.binomtest(int((drawn @ along > 0).sum()), len(drawn)).pvalue > ALPHA
        assert abs(stats.spearmanr(share, length).statistic) < 5.2 / math.sqrt(len(drawn))


def test_exact_noise_has_the_same_density() -> None:
    noise = ExactNoise()
    length = [np.linalg.norm(spherical(noise, 3)) for _ in range(150)]
    assert stats.kstest(length, stats.gamma(3).cdf).pvalue > ALPHA
    assert stats.kstest(laplace(noise, 600), stats.laplace.cdf).pvalue > ALPHA
    assert stats.kstest(normal(noise, 600), stats.norm.cdf).pvalue > ALPHA


@pytest.mark.parametrize("width", WIDTHS)
def test_the_mean_coordinate_is_about_right(width: int) -> None:
    exact = math.sqrt(2 / math.pi) * math.sqrt(2) * math.exp(math.lgamma(width / 2 + 1) - math.lgamma((width + 1) / 2))
    assert mean_coordinate(width) == pytest.approx(exact, rel=0.3 / width)


class Recorded(SeededNoise):
    """Normal and Laplace numbers of a fixed list, in steps of 2^-50; an honest rounding of real ones."""

    def __init__(self, real: list[list[Fraction]]) -> None:
        super().__init__(0)
        self.real = [list(part) for part in real]

    def rounded(self, distribution: Any, scale: Fraction, size: int) -> Any:
        part = self.real.pop(0)
        assert len(part) == size
        return np.array([round(v * scale) for v in part], dtype=object)

    def gaussian(self, sigma: Fraction, size: int) -> Any:
        return self.rounded(None, sigma, size)


def reals(seed: int, size: int, largest: float) -> list[Fraction]:
    """Real numbers with bits far below 2^-50, some as large as any that is let through."""
    rng = np.random.default_rng(seed)
    found = rng.normal(size=size)
    found[0] = largest * rng.uniform(0.5, 1) * rng.choice([-1, 1])
    return [Fraction(v) + Fraction(int(rng.integers(2**30)), 2**80) for v in found.tolist()]


def distance(drawn: Any, exact: Any) -> Any:
    return mpmath.norm([mpmath.mpf(v) - e for v, e in zip(drawn.tolist(), exact, strict=True)])


def exactly(values: list[Fraction]) -> list[Any]:
    return [mpmath.mpf(v.numerator) / v.denominator for v in values]


@pytest.mark.parametrize("width", [1, 2, 17, 200])
@pytest.mark.parametrize("largest", [3.0, 12.0, 15.9])
def test_draws_are_as_near_to_real_ones_as_is_said(width: int, largest: float) -> None:
    scale = 0.7310585786300049  # what a draw is multiplied by, once more
    with mpmath.workdps(60):
        for seed in range(6):
            h, g = exactly(reals(seed, width + 1, largest)), exactly(reals(seed + 9, width, largest))
            noise = Recorded([reals(seed, width + 1, largest), reals(seed + 9, width, largest)])
            real = [mpmath.norm(h) * v * mpmath.mpf(scale) for v in g]
            assert distance(scale * spherical(noise, width), real) <= scale * spherical_error(width)
            real = [v * mpmath.mpf(scale) for v in g]
            assert distance(scale * normal(Recorded([reals(seed + 9, width, largest)]), width), real) <= (
                scale * normal_error(width)
            )
            far = [v * 16 for v in reals(seed, width, largest)]
            real = [v * mpmath.mpf(scale) for v in exactly(far)]
            assert distance(scale * laplace(Recorded([far]), width), real) <= scale * laplace_error(width)


def test_a_draw_out_of_range_is_refused() -> None:
    for draw, far in ((normal, 18.1), (laplace, 256.5)):
        with pytest.raises(NotConverged, match="Nothing is released"):
            draw(Recorded([[Fraction(far)]]), 1)
        draw(Recorded([[Fraction(far) - 1]]), 1)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 6), st.floats(-40, 20).map(lambda e: 2.0**e), st.integers(0, 10**6))
def test_what_is_covered_lies_on_the_public_grid(width: int, far: float, seed: int) -> None:
    vector = np.random.default_rng(seed).normal(size=width) * 10.0 ** (seed % 7 - 3)
    found = cover(vector, far, 0.002, SeededNoise(seed))
    steps = found / grid(far, width)
    assert (steps == np.rint(steps)).all()
    assert far / math.sqrt(width) / 2 < grid(far, width) <= far / math.sqrt(width) * (1 + 1e-15)


class Watched(SeededNoise):
    """Notes the scale of discrete Laplace noise, and adds none."""

    def discrete_laplace(self, scale: Fraction, size: int) -> Any:
        self.scale = scale
        return np.zeros(size, dtype=np.int64)


@settings(deadline=None, max_examples=100)
@given(st.integers(1, 8), st.floats(-30, 10).map(lambda e: 2.0**e), st.floats(1e-6, 1), st.integers(0, 10**6))
def test_vectors_within_the_distance_are_covered(width: int, far: float, epsilon: float, seed: int) -> None:
    """Two vectors as far apart as allowed, rounded: no further apart in L1 than epsilon times the noise's scale."""
    rng = np.random.default_rng(seed)
    one = rng.normal(size=width) * far * 10
    for way in (rng.normal(size=width), np.ones(width), np.eye(width)[0]):
        other = one + way / np.linalg.norm(way) * far * (1 - 1e-12)
        noise = Watched(0)
        steps = [cover(v, far, epsilon, noise) / grid(far, width) for v in (one, other)]
        assert np.abs(steps[0] - steps[1]).sum() <= noise.scale * Fraction(epsilon)


def test_the_covers_noise_is_discrete_laplace_of_that_scale() -> None:
    width, far, epsilon = 4, 1.0, 0.5
    drawn = np.concatenate([cover(np.zeros(width), far, epsilon, SeededNoise(s)) for s in range(2000)])
    steps = np.rint(drawn / grid(far, width)).astype(int)
    noise = Watched(0)
    cover(np.zeros(width), far, epsilon, noise)
    ratio = math.exp(-1 / float(noise.scale))
    p = np.array([(1 - ratio) / (1 + ratio) * ratio ** abs(k) for k in range(-40, 41)])
    seen = np.array([(steps == k).sum() for k in range(-40, 41)])
    counts, expected = np.append(seen, len(steps) - seen.sum()), np.append(p, 1 - p.sum()) * len(steps)
    assert stats.chisquare(counts, expected).pvalue > ALPHA


@pytest.mark.parametrize("source", [ExactNoise(), SeededNoise(1)])
def test_huge_vectors_and_tiny_distances_lose_nothing(source: NoiseSource) -> None:
    for size, far in itertools.product((1e12, 1e-12), (1e-12, 1e12)):
        found = cover(np.array([size, -size]), far, module.SHARE, source)
        assert np.isfinite(found).all()
        assert found == pytest.approx([size, -size], rel=1e-6, abs=1e5 * far)
