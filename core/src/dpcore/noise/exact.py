"""Noise that follows its stated distribution exactly, from the operating system's entropy."""

from __future__ import annotations

from fractions import Fraction
from typing import ClassVar

from dpcore.noise import choice, gaussian, laplace, rounded, uniform
from dpcore.noise.entropy import Entropy
from dpcore.noise.rounded import Quantile
from dpcore.noise.source import Array, NoiseSource, count, finite_scores, positive


class ExactNoise(NoiseSource):
    """The source for releases: exact samplers over fresh entropy.

    It keeps no state, so it may be shared by threads and survive a fork.

    Args:
        entropy: where random words come from; the operating system by default. Tests put their own words in
            its place.
    """

    reproducible: ClassVar[bool] = False

    def __init__(self, entropy: Entropy | None = None) -> None:
        self._entropy = Entropy() if entropy is None else entropy

    def integers(self, high: int, size: int) -> Array:
        return uniform.integers(self._entropy, count("high", high, 1), count("size", size, 0))

    def discrete_laplace(self, scale: Fraction, size: int) -> Array:
        return laplace.discrete_laplace(self._entropy, positive("scale", scale), count("size", size, 0))

    def discrete_gaussian(self, variance: Fraction, size: int) -> Array:
        return gaussian.discrete_gaussian(self._entropy, positive("variance", variance), count("size", size, 0))

    def rounded(self, distribution: Quantile, scale: Fraction, size: int) -> Array:
        return rounded.rounded(self._entropy, distribution, positive("scale", scale), count("size", size, 0))

    def exponential_choice(self, scores: Array, rate: Fraction) -> int:
        return choice.exponential_choice(self._entropy, finite_scores(scores), positive("rate", rate))

    def permute_and_flip(self, scores: Array, rate: Fraction) -> int:
        return choice.permute_and_flip(self._entropy, finite_scores(scores), positive("rate", rate))
