"""Bins of one number: quantile bins in which values that come often are alone, so that ties, NaN and infinities are
values like others."""

from __future__ import annotations

import attrs
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


@attrs.frozen(eq=False)
class Bins:
    """Bins of one number: before the first edge, from each edge to the next, and one for NaN."""

    edges: Floats

    @classmethod
    def of(cls, values: Floats, most: int, tails: int = 60) -> Bins:
        """Quantile bins; a value that comes often gets a bin of its own.

        Args:
            values: what to bin.
            most: how many bins of equal probability.
            tails: how many times the outermost halves are halved again, as long as a few values are left.
        """
        numbers = np.sort(values[~np.isnan(values)])
        size = len(numbers)
        if size == 0:
            return cls(np.empty(0))
        starts = np.flatnonzero(np.append(True, numbers[1:] != numbers[:-1]))
        if len(starts) <= most:
            return cls(numbers[starts])
        often = numbers[starts[np.diff(np.append(starts, size)) > size / (4 * most)]]
        places = np.concatenate([np.arange(most) * size // most, halvings(size, tails)])
        with np.errstate(over="ignore"):  # infinity comes after the largest number
            after = np.nextafter(often, np.inf)
        return cls(np.unique(np.concatenate([numbers[places], often, after])))

    @property
    def size(self) -> int:
        """How many bins."""
        return len(self.edges) + 2

    def codes(self, values: Floats) -> Codes:
        """The bin of each value."""
        codes = np.searchsorted(self.edges, values, side="right")
        codes[np.isnan(values)] = self.size - 1
        return codes

    def describe(self, chosen: npt.NDArray[np.bool_]) -> str:
        """Which values some bins hold, in words."""
        ends = [-np.inf, *self.edges.tolist(), np.inf]
        inside = np.flatnonzero(np.diff(np.concatenate([[False], chosen[:-1], [False]]).astype(int)))
        parts = [_interval(ends[a], ends[b]) for a, b in inside.reshape(-1, 2).tolist()]
        if len(parts) > 3:
            parts = [f"{len(parts)} intervals from {parts[0]} to {parts[-1]}"]
        if chosen[-1]:
            parts.append("NaN")
        return " or ".join(parts) or "nothing"


def _interval(low: float, high: float) -> str:
    if high == np.nextafter(low, np.inf):
        return f"exactly {low:.6g}"
    left = "(-inf" if low == -np.inf else f"[{low:.6g}"
    return f"{left}, {high:.6g})"


def halvings(size: int, most: int = 60) -> Codes:
    """Places size / 4, size / 8, … of a sorted sample, and as many from its end."""
    tail = size // 2 ** np.arange(2, max(2, min(most + 2, int(np.log2(size)) - 1)))
    return np.concatenate([tail, size - tail])
