"""Objective perturbation over rows that are longer than 1.

The mistake: the proof asks for rows of norm at most 1, and the author hands over the numbers as they stand
(Lopuhaä-Zwakenberg et al. 2021). The noise and its density are right for rows that are scaled.

What it costs: r times the gradient's share of epsilon for rows of norm r, and more where the curvature counts: at least
9.7 for r = 10 at epsilon 1.
"""

from __future__ import annotations

from typing import ClassVar

import attrs
import numpy as np

from dpcore.schema import Numeric
from planted_rows_not_clipped.logistic import Logistic, LogisticModel
from planted_rows_not_clipped.risk import Floats, Risk


@attrs.frozen
class LongRisk(Risk):
    """The logistic risk of numbers as they stand, with a constant 1."""

    @staticmethod
    def encode(attribute: Numeric, values: Floats) -> Floats:
        inside = np.clip(np.where(np.isnan(values), attribute.middle, values), attribute.lower, attribute.upper)
        return np.stack([inside, np.ones(len(inside))], axis=1)


@attrs.frozen(eq=False)
class LongModel(LogisticModel):
    """Weights of numbers as they stand."""

    risk: ClassVar[type[Risk]] = LongRisk


@attrs.frozen
class LongRows(Logistic):
    """Logistic regression on the first numeric attribute as it stands."""

    model_class: ClassVar[type[LogisticModel]] = LongModel
    mechanism: ClassVar[str] = "rows_not_clipped_objective"
    rule: ClassVar[str] = "rows_not_clipped_rule"
