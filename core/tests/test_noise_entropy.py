"""Random words are never shared, and a lazily drawn number is compared exactly."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from dpcore.noise import ExactNoise
from dpcore.noise.entropy import Entropy, LazyUniform
from noise_words import Words

FORK = """
import os, warnings
warnings.simplefilter("ignore")
from fractions import Fraction
from dpcore.noise import ExactNoise
noise = ExactNoise()
noise.discrete_laplace(Fraction(2**40), 8)
child = os.fork()
print(noise.discrete_laplace(Fraction(2**40), 8).tolist(), flush=True)
if child:
    os.waitpid(child, 0)
    print(noise.discrete_laplace(Fraction(2**40), 8).tolist(), flush=True)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_forked_processes_never_draw_the_same_stream() -> None:
    """Three streams of eight draws, of about 40 bits each: equal draws by chance are below 1e-7."""
    output = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, check=True).stdout
    streams = [line.strip("[]").split(", ") for line in output.splitlines()]
    assert len(streams) == 3
    assert len({value for stream in streams for value in stream}) == 24


def test_threads_never_draw_the_same_stream() -> None:
    """64 draws uniform on 2**80 values: equal draws by chance are below 1e-20."""
    noise = ExactNoise()
    with ThreadPoolExecutor(8) as pool:
        streams = list(pool.map(lambda _: noise.integers(1 << 80, 8).tolist(), range(8)))
    assert len({value for stream in streams for value in stream}) == 64


def test_the_system_words_are_fresh_at_each_call() -> None:
    assert len(set(Entropy().words(1000).tolist() + Entropy().words(1000).tolist())) == 2000
    assert Entropy().words(0).shape == (0,)


@pytest.mark.parametrize(("further", "verdict"), [((0,), True), ((2**63,), False), ((2**62,), True)])
def test_a_lazy_uniform_draws_more_bits_only_when_it_must(further: tuple[int, ...], verdict: bool) -> None:
    p = Fraction(5, 1 << 64) + Fraction(1, 1 << 65)
    entropy = Words(*further)
    assert LazyUniform(entropy, 5).below(lambda _: (p, p)) is verdict
    assert entropy.left == []
    assert LazyUniform(Words(), 4).below(lambda _: (p, p))
    assert not LazyUniform(Words(), 6).below(lambda _: (p, p))


def test_all_comparisons_with_one_lazy_uniform_agree() -> None:
    u = LazyUniform(Words(2**63), 0)
    p = Fraction(1, 1 << 66)
    assert not u.below(lambda _: (p, p))
    assert not u.below(lambda _: (p, p))
    assert u.below(lambda _: (4 * p, 4 * p))
