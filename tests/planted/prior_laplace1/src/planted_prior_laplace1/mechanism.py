"""Laplace(0, 1) whatever is charged."""

from __future__ import annotations

from fractions import Fraction

import attrs

from dpcore.bound import Bound
from dpcore.privacy import Cost
from planted_prior_laplace1.noise import Noise


@attrs.frozen
class Laplace1(Noise):
    """Discrete Laplace noise of scale 1, and a density that says so."""

    def scale(self, bound: Bound, cost: Cost) -> Fraction:
        return 1 / Fraction(bound.grid)
