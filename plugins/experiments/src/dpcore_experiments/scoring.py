"""How well a model does on test rows, from each distinct row once: equal rows get equal answers."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.schema import Nominal
from dpcore.table import Rows

Floats = npt.NDArray[np.float64]
_LEAST = np.log(1e-15)
"""A probability below this counts as this much, as in scikit-learn's log-loss of old: one row must not decide all."""


@attrs.frozen
class Scores:
    """What one model comes to on one fold.

    Args:
        accuracy: the share of rows that are classified right.
        balanced_accuracy: the mean of the classes' shares, over the classes that the fold has.
        auc: the area under the ROC curve; for more than two classes, the mean of one against the rest. NaN where the
            fold has one class only, or there are no probabilities.
        log_loss: the mean of −log P(true class); NaN where there are no probabilities.
    """

    accuracy: float
    balanced_accuracy: float
    auc: float = float("nan")
    log_loss: float = float("nan")


@attrs.frozen(eq=False)
class Held:
    """Test rows, each distinct one once.

    Args:
        rows: the distinct rows.
        counts: how many of each there are in each class, shape (rows, classes).
    """

    rows: Rows
    counts: Floats
    classes: Floats = attrs.field(init=False)
    """How many rows each class has."""
    _many: Floats = attrs.field(init=False)
    """How many there are of each row."""

    @classes.default
    def _count_classes(self) -> Floats:
        totals: Floats = self.counts.sum(axis=0)
        return totals

    @_many.default
    def _count_rows(self) -> Floats:
        totals: Floats = self.counts.sum(axis=1)
        return totals

    @classmethod
    def of(cls, rows: Rows) -> Held:
        """These rows, with the class."""
        schema = rows.schema
        labels = rows.columns[schema.target.name].astype(np.intp)
        first, place = _distinct(rows)
        counts = np.bincount(place * len(schema.classes) + labels, minlength=len(first) * len(schema.classes))
        return cls(rows.take(first), counts.reshape(len(first), -1).astype(np.float64))

    def majority(self, label: int) -> float:
        """The accuracy of always saying this class."""
        return float(self.classes[label] / self.classes.sum())

    def score(self, log_proba: Floats) -> Scores:
        """How well these log-probabilities, shape (rows, classes), tell the classes."""
        simple = self.score_labels(np.argmax(log_proba, axis=1))
        bounded = np.maximum(log_proba, _LEAST)
        loss = -float(np.vdot(self.counts, bounded)) / self.classes.sum()
        return attrs.evolve(simple, auc=self._auc(log_proba), log_loss=float(loss))

    def score_labels(self, predicted: npt.NDArray[np.intp]) -> Scores:
        """The same where only classes are told."""
        right = self.counts[np.arange(len(predicted)), predicted]
        hits = np.bincount(predicted, weights=right, minlength=self.counts.shape[1])
        there = self.classes > 0
        return Scores(float(hits.sum() / self.classes.sum()), float((hits[there] / self.classes[there]).mean()))

    def _auc(self, log_proba: Floats) -> float:
        two = self.counts.shape[1] == 2
        areas = []
        for label in [1] if two else range(self.counts.shape[1]):
            ours = self.counts[:, label]
            if 0 < self.classes[label] < self.classes.sum():
                score = log_proba[:, 1] - log_proba[:, 0] if two else log_proba[:, label]
                areas.append(_area(score, ours, self._many - ours))
        return float(np.mean(areas)) if areas else float("nan")


def _area(score: Floats, ours: Floats, theirs: Floats) -> float:
    """P(one of ours scores higher than one of theirs), ties counted half."""
    order = np.argsort(score)
    ranked = score[order]
    starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
    mine, other = np.add.reduceat(ours[order], starts), np.add.reduceat(theirs[order], starts)
    below = np.cumsum(other) - other
    return float(mine @ (below + other / 2) / (mine.sum() * other.sum()))


def _distinct(rows: Rows) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Where each distinct row stands first, and which of these each row is; the class does not count."""
    columns = [_bits(rows.columns[a.name], isinstance(a, Nominal)) for a in rows.schema.attributes]
    if not columns:
        return np.zeros(1, dtype=np.intp), np.zeros(rows.size, dtype=np.intp)
    matrix = np.column_stack(columns)
    _, first, place = np.unique(matrix, axis=0, return_index=True, return_inverse=True)
    return first, place.reshape(-1)


def _bits(column: npt.NDArray[Any], nominal: bool) -> npt.NDArray[np.int64]:
    # as whole numbers, so that a missing value equals itself
    if nominal:
        return column.astype(np.int64)
    return np.ascontiguousarray(column, dtype=np.float64).view(np.int64)
