"""Exact uniform integers and signs, and the loop that all rejection samplers share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from dpcore.noise.entropy import WORD, Entropy
from dpcore.noise.source import Array

CHUNK = 1 << 15
"""How many proposals are made at a time: few enough to stay in the processor's cache."""


def integers(entropy: Entropy, high: int, size: int) -> Array:
    """Exactly uniform draws from {0, ..., high - 1}, shape (size,); object dtype when `high` exceeds 2**63.

    A word is kept if it lies below the largest multiple of `high` that words can reach, and reduced modulo
    `high`, so each remainder has equally many words.
    """
    if high > 1 << (WORD - 1):
        return collect(size, lambda n: _large(entropy, high, n), 2.0)
    if high == 1:
        return np.zeros(size, dtype=np.int64)
    surplus = (1 << WORD) % high
    modulus = np.uint64(high)

    def propose(n: int) -> Array:
        words = entropy.words(n)
        if surplus:
            words = words[words < np.uint64((1 << WORD) - surplus)]
        return (words % modulus).view(np.int64)

    return collect(size, propose, 1.0 + 2.0 * surplus / 2.0**WORD)


def _large(entropy: Entropy, high: int, size: int) -> Array:
    bits = (high - 1).bit_length()
    each = -(-bits // WORD)
    raw = entropy.words(each * size).tobytes()
    width = 8 * each
    drop = WORD * each - bits
    values = (int.from_bytes(raw[i : i + width], "little") >> drop for i in range(0, len(raw), width))
    return objects([value for value in values if value < high])


def signs(entropy: Entropy, size: int) -> npt.NDArray[np.bool_]:
    """Fair coins, shape (size,), one bit each."""
    words = entropy.words(-(-size // WORD))
    return np.unpackbits(words.view(np.uint8), count=size).view(np.bool_)


def collect(size: int, propose: Callable[[int], Array], tries: float) -> Array:
    """The first `size` of the independent draws that `propose` gives, of about `tries` proposals each.

    `propose(n)` makes n proposals and returns those accepted, in order; whether one is accepted depends on
    nothing but itself.
    """
    parts: list[Array] = []
    got = 0
    while got < size:
        part = propose(min(CHUNK, int(tries * (size - got)) + (16 if tries > 1.0 else 0)))
        parts.append(part)
        got += len(part)
    if not parts:
        return np.empty(0, dtype=np.int64)
    return (parts[0] if len(parts) == 1 else np.concatenate(parts))[:size]


def objects(values: list[int]) -> Array:
    """Python ints as an object array, shape (len(values),)."""
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array
