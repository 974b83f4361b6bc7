"""Random words for the noise tests to put in the operating system's place."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpcore.noise.entropy import Entropy


class Pseudo(Entropy):
    """Words from a seeded generator."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def words(self, n: int) -> Any:
        return self.rng.integers(0, 2**64, n, dtype=np.uint64)


class Words(Entropy):
    """Given words, in order."""

    def __init__(self, *words: int) -> None:
        self.left = list(words)

    def words(self, n: int) -> Any:
        taken, self.left = self.left[:n], self.left[n:]
        assert len(taken) == n, "more words were drawn than the test expects"
        return np.array(taken, dtype=np.uint64)
