"""A sound mechanism: discrete Laplace noise in whole steps of the exact answers' grid."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.mechanism import Answer, Calibration, Mechanism
from dpcore.noise import NoiseSource
from dpcore.privacy import Cost, Pure, pure_epsilon


@attrs.frozen
class Noise(Mechanism):
    """P(x) ∝ exp(−|x| epsilon / bound): one person moves the answer by `bound`, and so the logarithm by epsilon."""

    accepts: ClassVar[tuple[str, ...]] = ("l1",)
    costs: ClassVar[tuple[type[Cost], ...]] = (Pure,)
    citation: ClassVar[Citation | None] = Citation(
        key="ghosh2012universally",
        author="Ghosh, A. and Roughgarden, T. and Sundararajan, M.",
        title="Universally utility-maximizing privacy mechanisms",
        year=2012,
        venue="SIAM Journal on Computing",
        type="article",
    )
    notes: ClassVar[str] = "Made for tests."

    def fits(self, bound: Bound, cost: Cost) -> bool:
        return not isinstance(bound.value, np.ndarray) and super().fits(bound, cost)

    def scale(self, bound: Bound, cost: Cost) -> Fraction:
        """In steps of the grid."""
        return Fraction(bound.scalar()) / Fraction(bound.grid) / Fraction(pure_epsilon(cost))

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        if bound.value is None:
            return Calibration(None, bound.grid, None)
        scale = float(self.scale(bound, cost))
        return Calibration(scale * bound.grid, bound.grid, bound.grid / math.sinh(min(1 / scale, 700.0)))

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        total = exact.ravel() + noise.discrete_laplace(self.scale(bound, cost), exact.size)
        return np.asarray(total.astype(np.float64) * bound.grid).reshape(exact.shape)

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        shift = np.asarray(output) / bound.grid - exact
        return float(-np.abs(shift).sum() / float(self.scale(bound, cost)))
