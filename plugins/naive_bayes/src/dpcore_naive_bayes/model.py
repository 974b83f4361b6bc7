"""The released naive Bayes: a prior and, for each attribute, log P(value | class)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from typing import Any, Self

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.classifier import Model
from dpcore.errors import InputError
from dpcore.partition import CutBins, EqualBins, Values, View
from dpcore.schema import Attribute, Nominal, Numeric, Schema
from dpcore.table import Rows

Floats = npt.NDArray[np.float64]
_LOG_ROOT = math.log(2 * math.pi) / 2
_SHORT = 1e-5
_FAR = 1e150
"""More deviations from the mean than this are all the same: the square must stay finite."""
_TAIL = 1e6
"""A truncated density reaches into its bounds from no further, in ranges of the attribute, and is no narrower."""
_LOGS = 1e4
"""The logarithm of a ratio of two floats is smaller than this."""


@attrs.frozen(eq=False)
class TablePart:
    """log P(cell | class) over a partition, shape (cells, classes).

    A row of which nothing is known adds nothing.
    """

    partition: Values | EqualBins | CutBins
    log: Floats

    def add(self, view: View, total: Floats) -> None:
        """Add this attribute's log-likelihoods to `total`, shape (rows, classes)."""
        known = np.vstack([self.log, np.zeros(self.log.shape[1])])
        total += known[np.minimum(self.partition.codes(view), len(self.log))]

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        bins = {"bins": self.partition.bins} if isinstance(self.partition, EqualBins) else {}
        return {"attribute": self.partition.attribute.name, "kind": "table", **bins, "log": self.log.tolist()}


@attrs.frozen(eq=False)
class NormalPart:
    """A normal density per class, truncated to the attribute's bounds or not.

    Args:
        mean, deviation: one number a class; deviation > 0.
        missing: log P(missing | class) and log P(known | class), shape (2, classes).
    """

    attribute: Numeric
    mean: Floats
    deviation: Floats
    truncated: bool
    missing: Floats

    def add(self, view: View, total: Floats) -> None:
        """Add this attribute's log-densities to `total`, shape (rows, classes)."""
        x = view[self.attribute.name].astype(np.float64)
        unknown = np.isnan(x)
        z = np.clip(x, self.attribute.lower, self.attribute.upper)[:, None] - self.mean
        with np.errstate(over="ignore"):  # noise can carry a published mean far out of its range
            z = np.clip(z / self.deviation, -_FAR, _FAR)
        log = -0.5 * z**2 - np.log(self.deviation) - _LOG_ROOT
        log += self.missing[1] - self._log_mass()
        log[unknown] = self.missing[0] if self.attribute.missing else 0.0
        total += log

    def _log_mass(self) -> Floats | float:
        if not self.truncated:
            return 0.0
        from scipy.special import log_ndtr

        low = (self.attribute.lower - self.mean) / self.deviation
        high = (self.attribute.upper - self.mean) / self.deviation
        # log(Φ(high) − Φ(low)), taken in the tail where both are small
        flip = low > 0
        low, high = np.where(flip, -high, low), np.where(flip, -low, high)
        top, bottom = log_ndtr(high), log_ndtr(low)
        # over so short a piece the density is as good as flat, and the difference as good as rounding
        short = self.attribute.width / self.deviation * np.maximum(1.0, np.abs(high)) < _SHORT
        flat = -0.5 * ((low + high) / 2) ** 2 - _LOG_ROOT + np.log(self.attribute.width / self.deviation)
        mass: Floats = top + np.log(-np.expm1(np.where(short, -1.0, bottom - top)))
        return np.where(short, flat, mass)

    def to_json(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "attribute": self.attribute.name,
            "kind": "normal",
            "mean": self.mean.tolist(),
            "deviation": self.deviation.tolist(),
            "truncated": self.truncated,
            "missing": self.missing.tolist(),
        }


@attrs.frozen(eq=False)
class NaiveBayesModel(Model):
    """argmax_c log P(c) + Σ_a log P(x_a | c).

    Args:
        prior: log P(c), one number a class.
        parts: one an attribute; an attribute that tells nothing has none.
    """

    prior: Floats
    parts: tuple[TablePart | NormalPart, ...]

    def log_proba(self, rows: Rows) -> Floats:
        total = np.empty((rows.size, len(self.prior)))
        for where, view in rows.blocks():
            block = total[where]
            block[:] = self.prior
            for part in self.parts:
                part.add(view, block)
            # class by class: NumPy is several times slower along so short an axis
            block -= reduce(np.maximum, block.T)[:, None]
            block -= np.log(reduce(np.add, np.exp(block).T))[:, None]
        return total

    def to_json(self) -> dict[str, Any]:
        return {"prior": self.prior.tolist(), "parts": [part.to_json() for part in self.parts]}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        classes = len(schema.classes)
        prior = _logs(data["prior"], (classes,))
        return cls(prior, tuple(_part(schema, row, classes) for row in data["parts"]))


def _part(schema: Schema, row: Mapping[str, Any], classes: int) -> TablePart | NormalPart:
    attribute = schema[row["attribute"]]
    if row["kind"] == "table":
        cells = _cells(attribute, row)
        return TablePart(cells, _logs(row["log"], (cells.size, classes)))
    if row["kind"] != "normal" or not isinstance(attribute, Numeric):
        raise InputError(f"attribute {attribute.name!r} has no usable numbers.")
    mean, deviation = (_numbers(row[key], (classes,)) for key in ("mean", "deviation"))
    if not (deviation > 0).all():
        raise InputError(f"attribute {attribute.name!r} has a deviation that is not positive.")
    truncated, far, narrow = bool(row["truncated"]), attribute.width * _TAIL, attribute.width / _TAIL
    near = (np.abs(mean - attribute.middle) <= far) & (deviation <= far) & (deviation >= narrow)
    if truncated and not near.all():
        raise InputError(f"attribute {attribute.name!r} has a density that lies outside its bounds.")
    return NormalPart(attribute, mean, deviation, truncated, _logs(row["missing"], (2, classes)))


def _cells(attribute: Attribute, row: Mapping[str, Any]) -> Values | EqualBins | CutBins:
    if isinstance(attribute, Nominal):
        return Values(attribute)
    return EqualBins(attribute, int(row["bins"])) if "bins" in row else CutBins(attribute, attribute.cuts)


def _numbers(data: Any, shape: tuple[int, ...]) -> Floats:
    numbers = np.asarray(data, dtype=np.float64)
    if numbers.shape != shape or not np.isfinite(numbers).all():
        raise InputError("some numbers are missing or not finite.")
    return numbers


def _logs(data: Any, shape: tuple[int, ...]) -> Floats:
    numbers = _numbers(data, shape)
    if (np.abs(numbers) > _LOGS).any():
        raise InputError("some numbers are no logarithms of probabilities.")
    return numbers
