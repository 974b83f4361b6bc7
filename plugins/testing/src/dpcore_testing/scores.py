"""What tells two samples of outputs apart: scores that grow with the likelihood ratio of left over right.

A score is learned on some draws and then fixed; a threshold on it makes an event. Nothing here has to be right for an
audit to be sound (see `blackbox.lower_bound`): a bad score only finds less.

Every number is first put into a bin. A score is then a sum of one number a bin, or trees over the bins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np

from dpcore_testing.bins import Bins, Codes, Floats

_SCALAR_BINS = (8, 32, 128)
_VECTOR_BINS = 10
_VECTOR_TAILS = 3
_MOST_COLUMNS = 100
"""Of longer vectors the numbers that tell most by themselves."""
_ALONE = 3
"""This many of them are also tried alone."""
_TREES_LEARN_FROM = 20_000
_PRIOR = 0.5
"""Added to every count before its logarithm."""


class Score(ABC):
    """A number for each output, larger where the left is likelier."""

    @abstractmethod
    def of(self, outputs: Floats) -> Floats:
        """The score of each row of outputs, shape (trials, features)."""

    @abstractmethod
    def describe(self, threshold: float, *, above: bool) -> str:
        """The event that the score is at least, or below, a threshold, in words."""


@attrs.frozen(eq=False)
class Number(Score):
    """One column as it is, NaN below all numbers: for events on one side of a threshold."""

    name: str
    column: int

    def of(self, outputs: Floats) -> Floats:
        values = outputs[:, self.column]
        return np.where(np.isnan(values), -np.inf, values)

    def describe(self, threshold: float, *, above: bool) -> str:
        return f"{self.name} {f'at least {threshold:.6g}' if above else f'below {threshold:.6g} or NaN'}"


@attrs.frozen(eq=False)
class Sum(Score):
    """The sum of one number a bin over some columns."""

    names: tuple[str, ...]
    columns: tuple[int, ...]
    bins: tuple[Bins, ...]
    tables: tuple[Floats, ...]

    def of(self, outputs: Floats) -> Floats:
        total = np.zeros(len(outputs))
        for column, bins, table in zip(self.columns, self.bins, self.tables, strict=True):
            total += table[bins.codes(outputs[:, column])]
        return total

    def describe(self, threshold: float, *, above: bool) -> str:
        if len(self.columns) > 1:
            return f"a sum over {len(self.columns)} numbers {'of at least' if above else 'below'} {threshold:.4g}"
        inside = self.tables[0] >= threshold
        return f"{self.names[0]} {self.bins[0].describe(inside if above else ~inside)}"


@attrs.frozen(eq=False)
class Trees(Score):
    """Boosted trees over the bins: they see what numbers say together."""

    columns: tuple[int, ...]
    bins: tuple[Bins, ...]
    model: Any

    def of(self, outputs: Floats) -> Floats:
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):
            return np.asarray(self.model.decision_function(_codes(outputs, self.columns, self.bins)))

    def describe(self, threshold: float, *, above: bool) -> str:
        side = "of at least" if above else "below"
        return f"trees over {len(self.columns)} numbers that give {side} {threshold:.4g}"


def learn(
    left: Floats, right: Floats, names: Sequence[str], rng: np.random.Generator, *, thorough: bool = True
) -> list[Score]:
    """Scores that tell left from right; each is a candidate, the caller chooses.

    Args:
        left, right: draws, shape (trials, features).
        names: of the features.
        rng: for what is random in learning.
        thorough: boosted trees too, for several features.
    """
    both = np.vstack([left, right])
    varying = [j for j in range(both.shape[1]) if not _constant(both[:, j])]
    if len(varying) < 2:
        return [score for j in varying for score in _of_one(j, left, right, names)]
    binned = {j: Bins.of(both[:, j], _VECTOR_BINS, _VECTOR_TAILS) for j in varying}
    counts = {j: _counts(binned[j], left[:, j], right[:, j]) for j in varying}
    telling = {j: _telling(*counts[j]) for j in varying}
    kept = tuple(sorted(varying, key=lambda j: -telling[j])[:_MOST_COLUMNS])
    found: list[Score] = [score for j in kept[:_ALONE] for score in _of_one(j, left, right, names)]
    together = _Together(tuple(names[j] for j in kept), kept, tuple(binned[j] for j in kept))
    found += together.sums(left, right, [counts[j] for j in kept])
    return [*found, together.trees(left, right, rng)] if thorough else found


def _of_one(column: int, left: Floats, right: Floats, names: Sequence[str]) -> Iterator[Score]:
    """Log-ratios at several resolutions, and the number itself, for events on one side of a threshold."""
    both = np.concatenate([left[:, column], right[:, column]])
    for most in _SCALAR_BINS:
        bins = Bins.of(both, most)
        table = _ratio(*_counts(bins, left[:, column], right[:, column]))
        yield Sum((names[column],), (column,), (bins,), (table,))
    yield Number(names[column], column)


@attrs.frozen(eq=False)
class _Together:
    """Scores of several columns."""

    names: tuple[str, ...]
    columns: tuple[int, ...]
    bins: tuple[Bins, ...]

    def sums(self, left: Floats, right: Floats, counts: list[tuple[Floats, Floats]]) -> list[Sum]:
        """Log-ratios added up; the same, and normal quantiles, weighted by logistic regression (on one thread, as trees
        are)."""
        codes = np.vstack([_codes(left, self.columns, self.bins), _codes(right, self.columns, self.bins)])
        label = np.repeat([1, 0], [len(left), len(right)])
        logs = [_shrunk(*pair) for pair in counts]
        normal = [_normal(a + b) for a, b in counts]
        return [self._sum(logs), self._weighted(logs, codes, label), self._weighted(normal, codes, label)]

    def _sum(self, tables: Sequence[Floats]) -> Sum:
        return Sum(self.names, self.columns, self.bins, tuple(tables))

    def _weighted(self, tables: list[Floats], codes: Codes, label: Codes) -> Sum:
        from sklearn.linear_model import LogisticRegression
        from threadpoolctl import threadpool_limits

        seen = np.column_stack([table[codes[:, j]] for j, table in enumerate(tables)])
        with threadpool_limits(1):
            weights = LogisticRegression(max_iter=1000).fit(seen, label).coef_[0]
        return self._sum([w * table for w, table in zip(weights, tables, strict=True)])

    def trees(self, left: Floats, right: Floats, rng: np.random.Generator) -> Trees:
        """Boosted trees, on one thread: several wait for each other where the machine is busy."""
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        parts = [x[rng.permutation(len(x))[:_TREES_LEARN_FROM]] for x in (left, right)]
        codes = np.vstack([_codes(part, self.columns, self.bins) for part in parts])
        label = np.repeat([1, 0], [len(part) for part in parts])
        trees = HistGradientBoostingClassifier(
            max_iter=100, max_leaf_nodes=6, early_stopping=False, random_state=int(rng.integers(2**31))
        )
        with threadpool_limits(1):
            return Trees(self.columns, self.bins, trees.fit(codes, label))


def _constant(values: Floats) -> bool:
    first = values[0]
    return bool(np.isnan(values).all() if np.isnan(first) else (values == first).all())


def _codes(outputs: Floats, columns: Sequence[int], bins: Sequence[Bins]) -> Codes:
    return np.column_stack([b.codes(outputs[:, j]) for j, b in zip(columns, bins, strict=True)])


def _counts(bins: Bins, left: Floats, right: Floats) -> tuple[Floats, Floats]:
    """How often each bin came."""
    a, b = (np.bincount(bins.codes(x), minlength=bins.size).astype(np.float64) for x in (left, right))
    return a, b


def _ratio(a: Floats, b: Floats) -> Floats:
    """log(P(bin | left) / P(bin | right)) from counts."""
    a, b = a + _PRIOR, b + _PRIOR
    return np.asarray(np.log(a / a.sum()) - np.log(b / b.sum()))


def _telling(a: Floats, b: Floats) -> float:
    """How much a column tells by itself: the symmetric divergence of its two histograms."""
    return float((a / a.sum() - b / b.sum()) @ _ratio(a, b))


def _shrunk(a: Floats, b: Floats) -> Floats:
    """Log-ratios drawn towards 0 by what of their spread is chance, so that columns that tell nothing add little."""
    ratio, both = _ratio(a, b), a + b
    share = both / both.sum()
    spread = float(share @ ratio**2)
    chance = float(share @ (4 / np.maximum(both, 1)))
    return ratio * (max(0.0, spread - chance) / spread if spread > 0 else 0.0)


def _normal(counts: Floats) -> Floats:
    """A normal quantile a bin, by its middle rank; NaN (the last bin) in the middle."""
    from scipy.special import ndtri

    inside = counts[:-1]
    total = max(1.0, float(inside.sum()))
    ranks = (np.cumsum(inside) - inside / 2) / total
    return np.append(ndtri(np.clip(ranks, 0.5 / total, 1 - 0.5 / total)), 0.0)
