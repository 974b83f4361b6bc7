"""Rows as vectors of norm at most 1, by public facts alone: what a linear model is fitted to.

A row has one entry for each part of the map: a 1 in the place of its cell, a scaled value, or a number looked up for
its cell. A constant comes last. All of it is divided by the largest norm that any row could have, or by a smaller
public number; longer rows are then shortened to the unit ball, each by itself.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.partition import Partition, View
from dpcore.schema import Numeric, floats

Floats = npt.NDArray[np.float64]
_ROOM = 1 + 2.0**-40
"""Norms computed in floating point may be a hair above the true ones."""


class Part(ABC):
    """One attribute's entries."""

    width: int
    """How many entries of the vector belong to it; a row fills one of them."""

    largest: float
    """The largest |entry|."""

    @abstractmethod
    def entry(self, view: View) -> tuple[npt.NDArray[np.intp], Floats]:
        """Of each row, the place within the part and the number there; 0 where nothing is known."""

    @abstractmethod
    def telling(self, view: View) -> npt.NDArray[Any]:
        """What of each row decides its entry: rows equal in that are one."""


@attrs.frozen
class OneHot(Part):
    """A 1 in the place of the row's cell."""

    partition: Partition

    @property
    def width(self) -> int:  # type: ignore[override]
        return self.partition.size

    largest = 1.0

    def entry(self, view: View) -> tuple[npt.NDArray[np.intp], Floats]:
        codes = self.partition.codes(view)
        known = codes < self.partition.size
        return np.where(known, codes, 0), known.astype(np.float64)

    def telling(self, view: View) -> npt.NDArray[Any]:
        return self.partition.codes(view)


@attrs.frozen
class Scaled(Part):
    """A numeric value, its public bounds moved to −1 and 1; 0 where it is missing."""

    attribute: Numeric
    width = 1
    largest = 1.0

    def entry(self, view: View) -> tuple[npt.NDArray[np.intp], Floats]:
        values = self.telling(view)
        return np.zeros(len(values), dtype=np.intp), values

    def telling(self, view: View) -> npt.NDArray[Any]:
        a = self.attribute
        values = (view[a.name].astype(np.float64) - a.middle) / (a.width / 2)
        return np.clip(np.nan_to_num(values, nan=0.0, posinf=1.0, neginf=-1.0), -1.0, 1.0)


@attrs.frozen
class Lookup(Part):
    """A public number for the row's cell, such as a weight that has been released; 0 where nothing is known.

    Args:
        partition: the cells.
        values: one finite number a cell.
    """

    partition: Partition
    values: tuple[float, ...] = attrs.field(converter=floats)
    width = 1

    def __attrs_post_init__(self) -> None:
        if len(self.values) != self.partition.size or not np.isfinite(self.values).all():
            raise ValueError("a lookup needs one finite number a cell")

    @property
    def largest(self) -> float:  # type: ignore[override]
        return max(map(abs, self.values))

    def entry(self, view: View) -> tuple[npt.NDArray[np.intp], Floats]:
        codes = self.partition.codes(view)
        table = np.append(self.values, 0.0)
        return np.zeros(len(codes), dtype=np.intp), table[np.minimum(codes, len(self.values))]

    def telling(self, view: View) -> npt.NDArray[Any]:
        return self.partition.codes(view)


def _parts(parts: Iterable[Part]) -> tuple[Part, ...]:
    return tuple(parts)


@attrs.frozen
class FeatureMap:
    """Rows as vectors in the unit ball.

    Args:
        parts: what a vector is made of; a constant 1 is its last entry.
        divisor: what all of it is divided by, > 0; None for the largest norm of any row, so that none is shortened.
    """

    parts: tuple[Part, ...] = attrs.field(converter=_parts)
    divisor: float | None = attrs.field(default=None, validator=attrs.validators.optional(attrs.validators.gt(0)))

    @property
    def width(self) -> int:
        """The length of a vector."""
        return sum(part.width for part in self.parts) + 1

    @property
    def entries(self) -> int:
        """How many entries of a vector are filled at the most."""
        return len(self.parts) + 1

    @property
    def longest(self) -> float:
        """The largest norm of any row before the division."""
        return math.sqrt(math.fsum(part.largest**2 for part in self.parts) + 1)

    @property
    def longest_l1(self) -> float:
        """The largest L1 norm of any vector, after division and shortening."""
        whole = (math.fsum(part.largest for part in self.parts) + 1) * self.scale
        return min(whole, math.sqrt(len(self.parts) + 1))

    @property
    def scale(self) -> float:
        """What a vector is multiplied by; shortening comes after it."""
        return 1 / ((self.divisor or self.longest) * _ROOM)

    @property
    def starts(self) -> tuple[int, ...]:
        """Where each part's entries begin, and last the place of the constant."""
        places = [0]
        for part in self.parts:
            places.append(places[-1] + part.width)
        return tuple(places)

    @property
    def dense(self) -> bool:
        """Whether every part has one place, so that no entry is 0 by its form."""
        return all(part.width == 1 for part in self.parts)

    def encode(self, view: View, size: int) -> tuple[npt.NDArray[np.int32], Floats]:
        """The entries of a block of rows.

        Returns:
            places and numbers, each of shape (size, parts + 1); the places of a row increase.
        """
        many = len(self.parts)
        places = np.empty((size, many + 1), dtype=np.int32)
        numbers = np.empty((size, many + 1))
        for i, (part, start) in enumerate(zip(self.parts, self.starts, strict=False)):
            place, numbers[:, i] = part.entry(view)
            places[:, i] = start + place
        places[:, many], numbers[:, many] = self.starts[-1], 1.0
        numbers *= self.scale
        if self.divisor is not None and self.divisor < self.longest:
            norm = np.sqrt(np.einsum("ij,ij->i", numbers, numbers))
            numbers /= np.maximum(norm * _ROOM, 1.0)[:, None]
        return places, numbers

    def margins(self, view: View, size: int, weights: Floats) -> Floats:
        """w·x of each row of a block, for weights of shape (width,) or (width, many)."""
        places, numbers = self.encode(view, size)
        total = np.zeros((size, *weights.shape[1:]))
        for i in range(places.shape[1]):
            column = numbers[:, i] if weights.ndim == 1 else numbers[:, i, None]
            total += column * weights[places[:, i]]
        return total


@attrs.frozen
class Fourier(FeatureMap):
    """Random Fourier features of the parts: cosines and sines whose inner products approach exp(−gamma ‖x − x'‖²).

    x is the row's entries, undivided (Rahimi & Recht 2008). The waves are drawn from a public seed before any row is
    seen. A cosine and a sine of the same angle make every vector equally long, before and after the constant.

    Args:
        number: of waves; there is a cosine and a sine of each.
        gamma: how fast the kernel falls, > 0.
        seed: of the waves: the same on every machine.
    """

    number: int = attrs.field(default=64, kw_only=True, validator=attrs.validators.ge(1))
    gamma: float = attrs.field(default=1.0, kw_only=True, validator=attrs.validators.gt(0))
    seed: int = attrs.field(default=0, kw_only=True, validator=attrs.validators.ge(0))

    def __attrs_post_init__(self) -> None:
        if self.divisor is not None:
            raise ValueError("Fourier features are all equally long: they take no divisor")

    @property
    def width(self) -> int:
        return 2 * self.number + 1

    @property
    def entries(self) -> int:
        return self.width

    @property
    def longest(self) -> float:
        return math.sqrt(2)

    @property
    def longest_l1(self) -> float:
        # |cos| + |sin| ≤ √2
        return min((math.sqrt(2 * self.number) + 1) * self.scale, math.sqrt(self.width))

    @property
    def starts(self) -> tuple[int, ...]:
        return tuple(range(self.width))

    @property
    def dense(self) -> bool:
        return True

    @property
    def waves(self) -> Floats:
        """Directions, shape (entries of a row, number): independent normal numbers of variance 2 gamma."""
        many = sum(part.width for part in self.parts)
        return _normal(self.seed, many, self.number) * math.sqrt(2 * self.gamma)

    def encode(self, view: View, size: int) -> tuple[npt.NDArray[np.int32], Floats]:
        angles, waves, start = np.zeros((size, self.number)), self.waves, 0
        for part in self.parts:
            place, number = part.entry(view)
            angles += number[:, None] * waves[start + place]
            start += part.width
        numbers = np.empty((size, self.width))
        numbers[:, : self.number], numbers[:, self.number : -1] = np.cos(angles), np.sin(angles)
        numbers[:, :-1] /= math.sqrt(self.number)
        numbers[:, -1] = 1.0
        numbers *= self.scale
        return np.tile(np.arange(self.width, dtype=np.int32), (size, 1)), numbers

    def margins(self, view: View, size: int, weights: Floats) -> Floats:
        return np.asarray(self.encode(view, size)[1] @ weights)


@lru_cache(maxsize=4)
def _normal(seed: int, rows: int, columns: int) -> Floats:
    """Normal numbers that follow from the seed alone: raw words, whose sequence NumPy promises to keep."""
    from scipy.special import ndtri

    words = np.random.PCG64(seed).random_raw(rows * columns)
    drawn: Floats = ndtri(((words >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53)
    return drawn.reshape(rows, columns)
