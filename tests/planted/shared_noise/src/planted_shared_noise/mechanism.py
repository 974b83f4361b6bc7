"""One draw of noise for all cells.

The mistake: one person moves one count, so the author draws once and adds the same number to every cell.

What it costs: everything. The differences between cells come out exact: on two neighbours they differ, and no answer of
the one is possible for the other. Every cell alone has the right distribution; only together do they show it.
"""

from __future__ import annotations

import math
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.mechanism import Answer
from dpcore.noise import NoiseSource
from dpcore.privacy import Cost
from planted_shared_noise.noise import Noise


@attrs.frozen
class SharedNoiseBelieved(Noise):
    """One draw for all cells, and the density of one a cell."""

    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        total = exact + noise.discrete_laplace(self.scale(bound, cost), 1)[0]
        return np.asarray(total.astype(np.float64) * bound.grid)


@attrs.frozen
class SharedNoise(SharedNoiseBelieved):
    """One draw for all cells, and the density that it has."""

    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        shift = np.rint(np.asarray(output) / bound.grid - exact).ravel()
        if not np.all(shift == shift[0]):
            return -math.inf
        return float(-abs(shift[0]) / float(self.scale(bound, cost)))
