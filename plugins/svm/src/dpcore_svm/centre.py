"""Where the weights are drawn to: naive Bayes from noisy tables, written as weights of the same vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from dpcore.features import FeatureMap
from dpcore.partition import Partition, Values
from dpcore.query import Counts
from dpcore.schema import Nominal

Floats = npt.NDArray[np.float64]
_WEIGHED = 16
_ADDED = 0.3
"""What is added to every count for each unit of its noise's scale: cells with fewer rows than noise say little."""
_REPEATED = 0.25
"""Evidence of m attributes is divided by m to this power: independent evidence would add up, the same evidence should
count once."""


def table(partition: Partition, target: Nominal) -> Counts:
    """The counts of a partition's cells in each class."""
    return Counts(partition * Values(target))


def table_weight(partition: Partition) -> float:
    """What a table should get of the budget, relative to others: the square root of its cells, up to 16."""
    return math.sqrt(min(partition.size, _WEIGHED))


def totals(tables: Sequence[Floats], noise: Sequence[float]) -> Floats:
    """The class sizes, as all tables count the same rows: the mean of their column sums, weighted by their noise."""
    scale = np.asarray(noise) / np.min(noise) if np.all(noise) else np.ones(len(tables))
    weights = np.array([1 / len(t) for t in tables]) / scale**2
    mean: Floats = weights @ np.array([t.sum(axis=0) for t in tables]) / weights.sum()
    return mean


def naive_bayes(
    features: FeatureMap, tables: Sequence[Floats], noise: Sequence[float], positive: int | None = None
) -> Floats:
    """The weights of naive Bayes.

    Args:
        features: one-hot parts only, one for each table.
        tables: noisy counts, shape (cells, classes).
        noise: the scale of each table's noise.
        positive: a class, for its log-odds against all others, shape (features.width,); None for the log-probabilities
            of all classes, one after the other, shape (classes · features.width,), summing to 0 over the classes.
    """
    size = np.maximum(totals(tables, noise), 1.0)
    counted = [np.maximum(t + (size - t.sum(axis=0)) / len(t), 0.0) for t in tables]
    if positive is not None:
        size, counted = _against(size, positive), [_against(t, positive) for t in counted]
    parts = [
        _log_likelihood(t, 1.0 + _ADDED * s) / len(tables) ** _REPEATED for t, s in zip(counted, noise, strict=True)
    ]
    each = np.concatenate([*parts, np.log(size / size.sum())[None, :]])
    if positive is not None:
        return np.asarray((each[:, 0] - each[:, 1]) / features.scale)
    return np.asarray((each - each.mean(axis=1, keepdims=True)).T.ravel() / features.scale)


def _against(counts: Floats, positive: int) -> Floats:
    """One class, and all others together, along the last axis."""
    ours = counts[..., positive]
    return np.stack([ours, counts.sum(axis=-1) - ours], axis=-1)


def _log_likelihood(table: Floats, added: float) -> Floats:
    log: Floats = np.log(table + added) - np.log((table + added).sum(axis=0))
    return log
