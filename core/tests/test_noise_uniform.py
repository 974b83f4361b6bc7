"""Uniform integers and signs are uniform."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from scipy import stats

from dpcore.noise.entropy import Entropy
from dpcore.noise.uniform import collect, integers, signs

ALPHA = 1e-6


class Cycle(Entropy):
    """Given words, over and over."""

    def __init__(self, words: list[int]) -> None:
        self.all = np.array(words, dtype=np.uint64)
        self.at = 0

    def words(self, n: int) -> Any:
        taken = np.take(self.all, np.arange(self.at, self.at + n), mode="wrap")
        self.at += n
        return taken


@pytest.mark.parametrize("high", [1, 2, 7, 10, 1000, 2**32, 3 * 2**61, 2**63, 2**64, 2**64 + 1, 10**30])
def test_integers_are_uniform(high: int) -> None:
    draws = integers(Entropy(), high, 20_000)
    assert draws.dtype == (object if high > 2**63 else np.int64)
    assert all(0 <= value < high for value in draws.tolist())
    cells = min(high, 50)
    ends = [-(-i * high // cells) for i in range(cells + 1)]
    counts = np.bincount([int(value) * cells // high for value in draws.tolist()], minlength=cells)
    expected = np.array([20_000 * (b - a) / high for a, b in itertools.pairwise(ends)])
    assert cells == 1 or stats.chisquare(counts, expected).pvalue > ALPHA


@pytest.mark.parametrize("high", [3, 2**63 - 1, 2**63])
def test_words_above_the_last_whole_multiple_are_rejected(high: int) -> None:
    last = 2**64 - 2**64 % high
    kept = [0, 1, last - 1]
    refused = [] if last == 2**64 else [last, 2**64 - 1]
    draws = integers(Cycle([*kept, *refused]), high, 6)
    assert draws.tolist() == [0, 1, high - 1] * 2


def test_signs_are_fair_and_use_every_bit() -> None:
    heads = int(signs(Entropy(), 1_000_003).sum())
    assert stats.binomtest(heads, 1_000_003, 0.5).pvalue > ALPHA
    pattern = signs(Cycle([0x0123456789ABCDEF]), 64)
    assert pattern.sum() == bin(0x0123456789ABCDEF).count("1")


def test_collect_keeps_the_order_of_accepted_proposals() -> None:
    stream = iter(range(10**6))

    def propose(n: int) -> Any:
        values = np.array([next(stream) for _ in range(n)])
        return values[values % 3 == 0]

    assert collect(100, propose, 1.0).tolist() == list(range(0, 300, 3))
