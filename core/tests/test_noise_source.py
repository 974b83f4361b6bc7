"""Both sources take the same arguments, refuse the same ones, and answer with the same shapes."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

from dpcore.errors import ParameterError
from dpcore.noise import ExactNoise, NoiseSource, SeededNoise, noise_source

SOURCES = [ExactNoise(), SeededNoise(0)]
DRAWS = ["discrete_laplace", "discrete_gaussian", "gaussian"]


def test_only_a_random_state_makes_noise_reproducible() -> None:
    assert isinstance(noise_source(None), ExactNoise)
    assert not noise_source(None).reproducible
    for state in (0, np.int64(3), np.random.default_rng(0), np.random.RandomState(0)):
        assert noise_source(state).reproducible


@pytest.mark.parametrize("state", ["a", -1, 1.5, [1]])
def test_a_random_state_of_another_type_is_refused(state: object) -> None:
    with pytest.raises(ParameterError, match="random_state"):
        noise_source(state)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("scale", [0, -1, float("inf"), float("-inf"), float("nan"), None, "x"])
def test_a_scale_that_is_not_positive_and_finite_is_refused(source: NoiseSource, draw: str, scale: object) -> None:
    with pytest.raises(ParameterError, match="finite number above 0"):
        getattr(source, draw)(scale, 3)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("scale", [Fraction(1, 3), 2, Fraction(1, 10**400), 1e300, Fraction(10**400), 2**45])
@pytest.mark.parametrize("size", [0, 2])
def test_every_positive_scale_gives_integers_of_the_asked_size(
    source: NoiseSource, draw: str, scale: object, size: int
) -> None:
    values = getattr(source, draw)(scale, size)
    assert values.shape == (size,)
    assert values.dtype in (np.dtype(np.int64), np.dtype(object))
    assert all(type(value) is int for value in values.tolist())


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("scores", [[], [0.0, np.nan], [np.inf, 0.0], [-np.inf, 1.0], [[1.0]], ["a"], 1.0])
def test_scores_that_cannot_be_compared_are_refused(source: NoiseSource, scores: object) -> None:
    for choose in (source.exponential_choice, source.permute_and_flip):
        with pytest.raises(ParameterError, match="scores"):
            choose(scores, Fraction(1))  # type: ignore[arg-type]


@pytest.mark.parametrize("source", SOURCES)
def test_sizes_rates_and_ranges_are_checked(source: NoiseSource) -> None:
    with pytest.raises(ParameterError, match="size"):
        source.discrete_laplace(Fraction(1), -1)
    with pytest.raises(ParameterError, match="high"):
        source.integers(0, 1)
    with pytest.raises(ParameterError, match="rate"):
        source.exponential_choice(np.zeros(2), Fraction(-1))


def test_importing_the_noise_loads_neither_scipy_nor_mpmath() -> None:
    code = "import sys, dpcore.noise; sys.exit(any(m in sys.modules for m in ('scipy', 'mpmath')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
