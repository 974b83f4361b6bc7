"""The only place where dpcore draws randomness: integer noise, exact or seeded.

Everything is drawn on the integers, in units of a public grid; mechanisms scale afterwards. `ExactNoise`
samples the stated distribution exactly, from the operating system's entropy. `SeededNoise` repeats itself and
is for experiments only.
"""

from __future__ import annotations

from typing import Any

from dpcore.noise.exact import ExactNoise
from dpcore.noise.rounded import GAUSSIAN, Quantile
from dpcore.noise.seeded import SeededNoise
from dpcore.noise.source import NoiseSource

__all__ = ["GAUSSIAN", "ExactNoise", "NoiseSource", "Quantile", "SeededNoise", "noise_source"]


def noise_source(random_state: Any = None) -> NoiseSource:
    """The source that a `random_state` asks for: exact for None, seeded otherwise.

    Args:
        random_state: None, a non-negative int, a `numpy.random.Generator` or a `numpy.random.RandomState`.

    Raises:
        ParameterError: if `random_state` is none of these.
    """
    return ExactNoise() if random_state is None else SeededNoise(random_state)
