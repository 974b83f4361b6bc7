"""Rounded continuous noise has the interval probabilities of its distribution."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import attrs
import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from scipy import stats

from dpcore.noise import GAUSSIAN, ExactNoise, Quantile
from dpcore.noise.entropy import Entropy
from dpcore.noise.rounded import rounded
from noise_words import Pseudo

ALPHA = 1e-6
CAUCHY = Quantile(
    "cauchy",
    lambda q: 1.0 / np.tan(q * (np.pi / 2)),
    lambda mp, z: 2 * mp.acot(z) / mp.pi if z else mp.mpf(1),
)


class Words(Entropy):
    """Given words, in order, and then zeros, which as signs mean plus."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, n: int) -> Any:
        taken, self.left = self.left[:n], self.left[n:]
        return np.array(taken + [0] * (n - len(taken)), dtype=np.uint64)


def limbs(n: int, scale: Fraction) -> tuple[int, int]:
    """The leading words of P(|Z| > (n + 1/2) / scale), Z normal."""
    with mpmath.workprec(400):
        z = (n + mpmath.mpf(1) / 2) * scale.denominator / scale.numerator
        digits = int(mpmath.floor(mpmath.erfc(z / mpmath.sqrt(2)) * mpmath.mpf(2) ** 128))
    return digits >> 64, digits & 2**64 - 1


@pytest.mark.parametrize("sigma", [Fraction(1, 4), Fraction(1), Fraction(7, 3), Fraction(50)])
def test_gaussian_draws_have_the_interval_probabilities_of_the_normal(sigma: Fraction) -> None:
    n = 200_000
    draws = ExactNoise().gaussian(sigma, n)
    width = math.ceil(8 * sigma) + 1
    with mpmath.workprec(100):
        s = mpmath.mpf(sigma.numerator) / sigma.denominator
        half = mpmath.mpf(1) / 2
        expected = np.array(
            [float(mpmath.ncdf((k + half) / s) - mpmath.ncdf((k - half) / s)) * n for k in range(-width, width + 1)]
        )
    counts = np.bincount(draws + width, minlength=2 * width + 1)
    keep = expected > 10
    assert draws.dtype == np.int64
    assert stats.chisquare(counts[keep], expected[keep] * counts[keep].sum() / expected[keep].sum()).pvalue > ALPHA
    zero = math.erf(0.5 / float(sigma) / math.sqrt(2))
    assert stats.binomtest(int(counts[width]), n, zero).pvalue > ALPHA
    assert stats.binomtest(int((draws > 0).sum()), int((draws != 0).sum()), 0.5).pvalue > ALPHA


@pytest.mark.parametrize(("sigma", "n"), [(Fraction(2**30), 50_000), (Fraction(2**45), 500), (Fraction(2**70), 200)])
def test_wide_gaussian_draws_are_normal(sigma: Fraction, n: int) -> None:
    draws = ExactNoise().gaussian(sigma, n)
    assert stats.kstest([x / int(sigma) for x in draws.tolist()], stats.norm.cdf).pvalue > ALPHA


@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(10), Fraction(2**30), Fraction(2**60)])
def test_cauchy_draws_follow_their_distribution(scale: Fraction) -> None:
    size = 500 if scale > 2**40 else 20_000
    draws = ExactNoise().rounded(CAUCHY, scale, size)
    edges = [-20, -5, -2, -1, -0.3, 0.3, 1, 2, 5, 20]
    cuts = [math.floor(Fraction(e) * scale) for e in edges]
    cells = np.array([sum(x > cut for cut in cuts) for x in draws.tolist()])
    cdf = np.concatenate([[0], stats.cauchy.cdf([float((cut + Fraction(1, 2)) / scale) for cut in cuts]), [1]])
    expected = np.diff(cdf)
    keep = expected > 0.005
    observed = np.bincount(cells, minlength=11)[keep]
    assert stats.chisquare(observed, expected[keep] * observed.sum() / expected[keep].sum()).pvalue > ALPHA


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(7, 3), Fraction(10**6), Fraction(2**45)])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_word_at_a_rounding_boundary_is_settled_by_more_bits(scale: Fraction, n: int) -> None:
    """U below P(|Z| > (n + 1/2)/scale) means |Z| scale above n + 1/2."""
    n = n if scale < 10 else n * 10**5 + 7
    first, second = limbs(n, scale)
    for words, answer in (((first, second - 1), n + 1), ((first, second + 1), n)):
        entropy = Words(*words)
        assert rounded(entropy, GAUSSIAN, scale, 1).tolist() == [answer]
        assert entropy.left == []


@pytest.mark.parametrize("distribution", [GAUSSIAN, CAUCHY])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1000), Fraction(2**30)])
def test_the_exact_path_rounds_as_the_float_path_on_the_same_words(distribution: Quantile, scale: Fraction) -> None:
    fast = rounded(Pseudo(1), distribution, scale, 50)
    wide = attrs.evolve(distribution, error=min(0.5, 10 / float(scale)))
    assert rounded(Pseudo(1), wide, scale, 50).tolist() == fast.tolist()


@pytest.mark.parametrize("scale", [Fraction(1), Fraction(10**6)])
def test_the_word_zero_opens_the_far_tail(scale: Fraction) -> None:
    """U = 2**-71 with 64 further bits: the quantile at twice that tail is checked with mpmath."""
    draw = rounded(Words(0, 2**57), GAUSSIAN, scale, 1).tolist()[0]
    with mpmath.workprec(200):
        z = (draw - mpmath.mpf(1) / 2) / int(scale), (draw + mpmath.mpf(1) / 2) / int(scale)
        inner, outer = (mpmath.erfc(x / mpmath.sqrt(2)) for x in z)
        assert outer <= mpmath.mpf(2) ** -71 < inner


@pytest.mark.parametrize("scale", [Fraction(1, 10**10), Fraction(1, 10**400)])
def test_a_tail_too_small_for_any_fraction_is_still_compared(scale: Fraction) -> None:
    assert rounded(Words(0, 1), GAUSSIAN, scale, 1).tolist() == [0]
    assert rounded(Words(0, 0, 1), GAUSSIAN, scale, 1).tolist() == [0]


def test_the_gaussian_quantile_keeps_its_error_bound() -> None:
    q = np.concatenate(
        [2.0 ** -np.linspace(0, 64, 300), np.random.default_rng(0).random(300), 1 - 2.0 ** -np.arange(1, 53)]
    )
    z = GAUSSIAN.upper(q)
    with mpmath.workprec(120):
        for probability, value in zip(q.tolist(), z.tolist(), strict=True):
            slack = GAUSSIAN.error * (1 + value) / 8
            ends = [mpmath.erfc((mpmath.mpf(value) + e) / mpmath.sqrt(2)) for e in (-slack, slack)]
            assert ends[1] <= probability * (1 - 2.0**-52) < probability * (1 + 2.0**-52) <= ends[0]


def test_a_rounded_draw_leaves_the_precision_of_mpmath_alone() -> None:
    before = mpmath.mp.prec
    ExactNoise().gaussian(Fraction(2**60), 3)
    assert mpmath.mp.prec == before
