"""Where exact noise takes its bits: the system's random words, and real numbers made of them on demand."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[np.uint64]
Bounds = Callable[[int], tuple[Fraction, Fraction]]
"""Asked for b bits, gives fractions lo <= p <= hi around one number p, whose distance vanishes with 2**-b."""

WORD = 64


class Entropy:
    """The operating system's random words.

    It keeps no state and buffers nothing, so forked processes and threads never share a stream. Tests put
    their own words in its place.
    """

    def words(self, n: int) -> Words:
        """`n` independent words, uniform on {0, ..., 2**64 - 1}."""
        return np.frombuffer(os.urandom(8 * n), dtype=np.uint64) if n else np.empty(0, dtype=np.uint64)


class LazyUniform:
    """One uniform real number in [0, 1), of which only the leading bits have been drawn.

    What is known is word / 2**bits <= U < (word + 1) / 2**bits. It is never collapsed to a point: a
    comparison draws as many further bits as it needs, and all comparisons with one object are about the same
    U.
    """

    __slots__ = ("_bits", "_entropy", "_word")

    def __init__(self, entropy: Entropy, word: int) -> None:
        self._entropy = entropy
        self._word = word
        self._bits = WORD

    def below(self, bounds: Bounds) -> bool:
        """Whether U < p, decided exactly."""
        while True:
            low, high = bounds(self._bits)
            if Fraction(self._word + 1, 1 << self._bits) <= low:
                return True
            if Fraction(self._word, 1 << self._bits) >= high:
                return False
            self._word = self._word << WORD | int(self._entropy.words(1)[0])
            self._bits += WORD
