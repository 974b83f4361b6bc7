"""Noisy tables of counts: what is asked, and the free post-processing that makes probabilities of them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpcore.classifier import Task
from dpcore.partition import CutBins, EqualBins, Product, Values
from dpcore.query import Counts
from dpcore.schema import Attribute, Nominal

Floats = npt.NDArray[np.float64]

FEWEST, MOST = 8, 64
"""Bins of a numeric attribute."""
_WEIGHED = 16
_ROWS_A_BIN = 30.0
"""A bin should hold this many rows of a class, times the noise that each attribute adds (see `bins_for`)."""


Cells = Values | EqualBins | CutBins


def partition(attribute: Attribute, bins: int) -> Cells:
    """The cells of one attribute: its values, the bins between the schema's cut points where it has some, or equal
    bins (one a whole number, where that is fewer)."""
    if isinstance(attribute, Nominal):
        return Values(attribute)
    if attribute.cuts:
        return CutBins(attribute, attribute.cuts)
    if attribute.integer and attribute.width + 1 <= bins:
        return EqualBins(attribute, int(attribute.width) + 1)
    return EqualBins(attribute, bins)


def by_class(cells: Cells, task: Task) -> Counts:
    """The counts of an attribute's cells in each class."""
    return Counts(Product((cells, Values(task.schema.target))))


def cells_weight(cells: Cells) -> float:
    """What a table should get of the budget, relative to others: the square root of its cells, up to 16.

    The more cells share the rows, the more the same noise does to each of them.
    """
    return math.sqrt(min(cells.size, _WEIGHED))


def bins_for(sizes: Floats, noise: float) -> int:
    """How many bins a numeric attribute gets, from noisy class sizes: a power of two in `FEWEST` … `MOST`.

    Finer bins follow the density more closely and drown sooner in noise. What counts is how many rows the classes
    have beside the largest: with pure epsilon, bins · 30 / epsilon of them is where 16, 32 and 64 bins cross on
    Adult and skin at epsilon from 0.01 to 1, and few bins are best on sets of some hundred rows.

    Args:
        sizes: noisy rows of each class.
        noise: the scale of a table's noise over the number of tables, which is 1 / epsilon where a pure epsilon is
            shared equally under add-remove adjacency; 0 where there is no noise.
    """
    if noise == 0:
        return MOST
    others = float(np.maximum(np.sort(sizes)[:-1], 1.0).mean())
    bins = FEWEST
    while bins < MOST and others >= math.sqrt(2) * bins * _ROWS_A_BIN * noise:
        bins *= 2
    return bins


def consistent(tables: Sequence[Floats], noise: Sequence[float]) -> tuple[list[Floats], Floats]:
    """Tables that agree on the class totals, and these totals: weighted least squares.

    All tables count the same rows. The column sum of a table of m cells, each with noise of scale s, has a variance
    in proportion to m s²; the totals are the sums' weighted mean, and each column is moved to it by the same
    amount a cell.

    Args:
        tables: shape (cells, classes) each.
        noise: the public noise scale of each table; all 0 where there is none.
    """
    scale = np.asarray(noise) / np.min(noise) if np.all(noise) else np.ones(len(tables))
    weights = np.array([1 / len(table) for table in tables]) / scale**2
    sums = np.array([table.sum(axis=0) for table in tables])
    totals = weights @ sums / weights.sum()
    return [t + (totals - t.sum(axis=0)) / len(t) for t in tables], totals


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
