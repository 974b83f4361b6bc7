"""Noisy tables of counts: what is asked, and the free post-processing that makes probabilities of them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpcore.classifier import Task
from dpcore.partition import EqualBins, Product, Values
from dpcore.query import Counts
from dpcore.schema import Attribute, Nominal

Floats = npt.NDArray[np.float64]

_FINE, _COARSE = 64, 32
_FINE_NOISE = 50.0
"""Noise scale of a count up to which the finer bins are asked for (Adult and skin, see the README)."""


def partition(attribute: Attribute, bins: int) -> Values | EqualBins:
    """The cells of one attribute: its values, or equal bins (one a whole number, where that is fewer)."""
    if isinstance(attribute, Nominal):
        return Values(attribute)
    if attribute.integer and attribute.width + 1 <= bins:
        return EqualBins(attribute, int(attribute.width) + 1)
    return EqualBins(attribute, bins)


def by_class(cells: Values | EqualBins, task: Task) -> Counts:
    """The counts of an attribute's cells in each class."""
    return Counts(Product((cells, Values(task.schema.target))))


def default_bins(task: Task) -> int:
    """How many bins a numeric attribute gets, from public facts alone: more where the noise is small.

    The noise of one count has scale (number of attributes) / epsilon.
    """
    return _FINE if len(task.schema.attributes) <= _FINE_NOISE * task.epsilon else _COARSE


def consistent(tables: Sequence[Floats]) -> tuple[list[Floats], Floats]:
    """Tables that agree on the class totals, and these totals.

    All tables count the same rows, with noise of about the same variance v a cell, so the column sum of a table of
    m cells has variance m v; the totals are their weighted mean, and each column is moved to it by the same
    amount a cell (weighted least squares).
    """
    weights = np.array([1 / len(table) for table in tables])
    sums = np.array([table.sum(axis=0) for table in tables])
    totals = weights @ sums / weights.sum()
    return [t + (totals - t.sum(axis=0)) / len(t) for t in tables], totals


def roll_up(table: Floats, bins: int, noise: float, totals: Floats) -> Floats:
    """A table whose first `bins` rows are ordered, averaged over as many neighbours as its noise asks for.

    The mean count of a cell should not be under the noise's scale; both are public (the totals are noisy).
    """
    wanted = float(totals.sum()) / (len(totals) * max(noise, 1e-9))
    width = 1
    while bins / width > max(wanted, 4.0):
        width *= 2
    if width == 1:
        return table
    rolled = table.copy()
    for start in range(0, bins, width):
        stop = min(start + width, bins)
        rolled[start:stop] = table[start:stop].mean(axis=0)
    return rolled


def log_likelihood(table: Floats, smoothing: float) -> Floats:
    """log P(cell | class): counts clamped at 0 (free), `smoothing` added to each, columns summing to 1."""
    counts = np.maximum(table, 0.0) + smoothing
    log: Floats = np.log(counts) - np.log(counts.sum(axis=0))
    return log


def log_prior(totals: Floats) -> Floats:
    """log P(class) from noisy totals, none less than one row."""
    counts = np.maximum(totals, 1.0)
    log: Floats = np.log(counts) - np.log(counts.sum())
    return log
