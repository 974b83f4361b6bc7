"""What a source of noise offers, whether exact or seeded, and the checks both make on what they are asked."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from dpcore.errors import ParameterError

if TYPE_CHECKING:
    from dpcore.noise.rounded import Quantile

Array = npt.NDArray[Any]


class NoiseSource(ABC):
    """Draws integers, in units of a public grid.

    Arrays are one-dimensional, of length `size`: int64 where every value surely fits, otherwise object arrays
    of Python ints. Scales are positive and finite; a float or an int stands for its exact value. Every method
    raises `ParameterError` for an argument out of range.
    """

    reproducible: ClassVar[bool]
    """Whether the noise can be drawn again by someone who knows the seed."""

    @abstractmethod
    def integers(self, high: int, size: int) -> Array:
        """Uniform draws from {0, ..., high - 1}; object dtype when `high` exceeds 2**63."""

    @abstractmethod
    def discrete_laplace(self, scale: Fraction, size: int) -> Array:
        """Draws with P(x) proportional to exp(-|x| / scale) on the integers."""

    @abstractmethod
    def discrete_gaussian(self, variance: Fraction, size: int) -> Array:
        """Draws with P(x) proportional to exp(-x**2 / (2 variance)) on the integers."""

    @abstractmethod
    def rounded(self, distribution: Quantile, scale: Fraction, size: int) -> Array:
        """Draws of `scale` times a symmetric continuous variable, rounded to the nearest integer."""

    def gaussian(self, sigma: Fraction, size: int) -> Array:
        """Draws of a normal variable with standard deviation `sigma`, rounded to the nearest integer."""
        from dpcore.noise.rounded import GAUSSIAN

        return self.rounded(GAUSSIAN, positive("sigma", sigma), size)

    @abstractmethod
    def exponential_choice(self, scores: Array, rate: Fraction) -> int:
        """An index i, with probability proportional to exp(rate * scores[i]).

        Args:
            scores: finite float64, shape (n,), n at least 1.
            rate: for the exponential mechanism, epsilon / (2 Delta).

        McSherry & Talwar (2007).
        """

    @abstractmethod
    def permute_and_flip(self, scores: Array, rate: Fraction) -> int:
        """The first index of a random order whose coin, with probability exp(rate * (score - max)), shows
        heads.

        Args:
            scores: finite float64, shape (n,), n at least 1.
            rate: epsilon / (2 Delta).

        McKenna & Sheldon (2020), Algorithm 1.
        """


def positive(name: str, value: Any) -> Fraction:
    """`value` as an exact fraction.

    Raises:
        ParameterError: if it is not a finite number above 0.
    """
    try:
        fraction = Fraction(value)
    except (TypeError, ValueError, OverflowError):
        fraction = Fraction(0)
    if fraction <= 0:
        raise ParameterError(f"The {name!r} of noise must be a finite number above 0. Got {value!r} instead.")
    return fraction


def count(name: str, value: Any, least: int) -> int:
    """`value` as an int.

    Raises:
        ParameterError: if it is not an integer of at least `least`.
    """
    if not isinstance(value, (int, np.integer)) or value < least:
        raise ParameterError(f"The {name!r} of noise must be an int of at least {least}. Got {value!r} instead.")
    return int(value)


def finite_scores(scores: Any) -> npt.NDArray[np.float64]:
    """`scores` as float64.

    Raises:
        ParameterError: if there are none, one is not finite, or they are not one row of numbers.
    """
    try:
        array = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError("The scores of a private choice must be numbers.") from None
    if array.ndim != 1 or array.size == 0 or not np.isfinite(array).all():
        raise ParameterError("The scores of a private choice must be one or more finite numbers in one dimension.")
    return array
