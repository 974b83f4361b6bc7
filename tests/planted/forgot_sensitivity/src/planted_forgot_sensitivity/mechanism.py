"""Noise that forgets the sensitivity.

The mistake: the author tries it on counts, where scale 1 / epsilon is right, and never on anything else.

What it costs: epsilon times the bound; 5 epsilon for a sum that one person moves by 5.
"""

from __future__ import annotations

from fractions import Fraction

import attrs

from dpcore.bound import Bound
from dpcore.privacy import Cost, pure_epsilon
from planted_forgot_sensitivity.noise import Noise


@attrs.frozen
class UnscaledNoise(Noise):
    """Discrete Laplace noise of scale 1 / epsilon, and a density that says so."""

    def scale(self, bound: Bound, cost: Cost) -> Fraction:
        return 1 / Fraction(bound.grid) / Fraction(pure_epsilon(cost))
