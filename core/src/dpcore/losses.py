"""Convex losses of a margin, whose slope is at most 1: what empirical risk sums up."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import attrs
import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


class Loss(ABC):
    """l(m) of a margin m = y w·x, y = ±1: convex, falling, with −1 ≤ l' ≤ 0 and 0 ≤ l'' ≤ `curvature`."""

    name: ClassVar[str]
    curvature: float

    @abstractmethod
    def value(self, margin: Floats) -> Floats:
        """l(m)."""

    @abstractmethod
    def slope(self, margin: Floats) -> Floats:
        """l'(m), in [−1, 0]."""

    def pull(self, margin: Floats, ours: Floats, others: Floats) -> Floats:
        """The slope, by w·x, of `ours` terms l(w·x) and `others` terms l(−w·x)."""
        return ours * self.slope(margin) - others * self.slope(-margin)

    @abstractmethod
    def curve(self, margin: Floats) -> Floats:
        """l''(m), where it exists."""


@attrs.frozen
class Logistic(Loss):
    """log(1 + e^(−m))."""

    name: ClassVar[str] = "logistic"
    curvature = 0.25

    def value(self, margin: Floats) -> Floats:
        return np.logaddexp(0.0, -margin)

    def slope(self, margin: Floats) -> Floats:
        # −1 / (1 + e^m), with no overflow and half the work of logaddexp
        return 0.5 * np.tanh(0.5 * margin) - 0.5

    def pull(self, margin: Floats, ours: Floats, others: Floats) -> Floats:
        # l'(m) and l'(−m) add up to −1, and to 0 at opposite signs: one tanh does for both
        half = 0.5 * np.tanh(0.5 * margin)
        half *= ours + others
        half += 0.5 * (others - ours)
        return half

    def curve(self, margin: Floats) -> Floats:
        half = np.tanh(0.5 * margin)
        return 0.25 * (1.0 - half * half)


@attrs.frozen
class HuberHinge(Loss):
    """The hinge max(0, 1 − m), rounded off within h of its corner (Chapelle 2007)."""

    name: ClassVar[str] = "huber"
    h: float = attrs.field(default=0.05, validator=attrs.validators.gt(0))

    @property
    def curvature(self) -> float:  # type: ignore[override]
        """1 / (2h)."""
        return 1 / (2 * self.h)

    def _in(self, margin: Floats) -> Floats:
        """How far past the corner's beginning, from 0 to 2h."""
        return np.clip(1.0 + self.h - margin, 0.0, 2 * self.h)

    def value(self, margin: Floats) -> Floats:
        inside = self._in(margin)
        return np.where(margin < 1.0 - self.h, 1.0 - margin, inside * inside / (4 * self.h))

    def slope(self, margin: Floats) -> Floats:
        return -self._in(margin) / (2 * self.h)

    def curve(self, margin: Floats) -> Floats:
        return np.where(np.abs(1.0 - margin) < self.h, self.curvature, 0.0)
