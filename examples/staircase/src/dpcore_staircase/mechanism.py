"""The staircase mechanism (Geng & Viswanath 2014), in its discrete form, and where it may be used.

The noise falls by a factor e^(−eps') at the edges |x| = r, r + w, r + 2w, … A shift by d steps passes at most ⌈|d|/w⌉
of them: it costs one number at most eps' ⌈|d|/w⌉, and at an edge even d = 1 costs eps'. So for an L1 bound of D steps
on a *vector* the scalar recipe w = D, eps' = eps is wrong: k numbers that move by one step each cost k eps.

If one person raises at most `rises` numbers, then also lowers at most as many, neighbours being symmetric under both
adjacencies: k = min(2 rises, D) numbers move, none by more than D steps. Two staircases are then eps-DP:
- narrow: w = r = 1, eps' = eps/D. Loss Σ |d_i| eps/D ≤ eps, however the D steps are split. This is the geometric
  mechanism, and for D = 1 (a histogram, add-remove) it *is* the staircase: nothing else is flat on blocks of one.
- wide: w = D, r = γ D with γ = 1/(1 + e^(eps'/2)), eps' = eps/k. Loss ≤ k eps' = eps.
Taken is the one with the smaller expected error, which is public; wide only where eps' ≥ 1. Refused are bounds whose
`rises` is unknown (k could be the number of cells) and bounds that differ by cell.
"""

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
from dpcore.privacy import GDP, ZCDP, Cost, Pure, pure_epsilon
from dpcore_staircase.stairs import Stairs


@attrs.frozen
class Staircase(Mechanism):
    """Staircase noise in whole steps of the exact answers' grid, for answers of which one person raises few."""

    accepts: ClassVar[tuple[str, ...]] = ("l1",)
    costs: ClassVar[tuple[type[Cost], ...]] = (Pure, ZCDP, GDP)
    citation: ClassVar[Citation | None] = Citation(
        key="geng2014optimal",
        author="Geng, Q. and Viswanath, P.",
        title="The optimal mechanism in differential privacy",
        year=2014,
        venue="IEEE International Symposium on Information Theory",
        url="https://arxiv.org/abs/1212.1186",
    )
    notes: ClassVar[str] = "Counts that move by one step get geometric noise: for them the two are the same."

    def fits(self, bound: Bound, cost: Cost) -> bool:
        few = bound.rises is not None and bound.rises >= 1
        return few and isinstance(bound.value, (int, float)) and bound.value > 0 and super().fits(bound, cost)

    def stairs(self, bound: Bound, cost: Cost) -> Stairs:
        """The better of the two staircases that the bound allows; reads no data."""
        if not self.fits(bound, cost):
            raise ValueError("staircase takes a global L1 bound that says how many numbers one person raises")
        steps = max(1, math.ceil(Fraction(bound.scalar()) / Fraction(bound.grid)))
        epsilon = Fraction(pure_epsilon(cost))
        share = epsilon / min(2 * (bound.rises or 1), steps)
        narrow = Stairs(1, 1, steps / epsilon)
        gamma = 1 / (1 + math.exp(min(float(share), 1400.0) / 2))
        wide = Stairs(steps, max(1, round(gamma * steps)), 1 / share)
        return wide if share >= 1 and wide.expected_error < narrow.expected_error else narrow

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        found = self.stairs(bound, cost)
        return Calibration(float(found.width * found.scale) * bound.grid, bound.grid, found.expected_error * bound.grid)

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        total = exact.ravel().astype(object) + self.stairs(bound, cost).draw(noise, exact.size)
        return np.asarray(total.astype(np.float64) * bound.grid).reshape(exact.shape)

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        shift = np.rint(np.asarray(output) / bound.grid) - np.asarray(exact, dtype=np.float64)
        return float(self.stairs(bound, cost).log_mass(shift).sum())
