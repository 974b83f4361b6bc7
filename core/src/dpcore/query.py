"""What a learner may ask: frozen values that say what is wanted and carry the public facts they need.

A table answers `Counts` and `Sums` by one aggregation. Every other kind says what it `requires` and how to
`combine` the exact answers, so that it works on any table; a plugin adds a kind in the same way.

Numeric exact answers are integers, in units of the query's public `grid`: sums in fixed point have no
floating-point sensitivity (Casacuberta et al. 2022), and noise is drawn exactly on a grid.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.errors import InputError
from dpcore.partition import Partition
from dpcore.privacy import Adjacency
from dpcore.schema import Numeric

Exact = npt.NDArray[Any]
_FINE = 24
"""A sum's term has at most this many bits: 2^38 rows can be summed in 63."""
_FINER = 30
"""A mean's grid divides the range by about 2^30."""


def power_of_two(value: float) -> float:
    """The largest power of two ≤ value > 0."""
    return math.ldexp(1.0, math.frexp(value)[1] - 1)


class Query(ABC):
    """A question about the rows.

    Class attributes: `kind`, what it is called; `kept`, whether tables remember its exact answer for the next fit.
    """

    kind: ClassVar[str]
    kept: ClassVar[bool] = True

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The answer's shape."""

    @property
    def grid(self) -> float:
        """The public spacing of the exact answers: they are whole multiples of it."""
        return 1.0

    @property
    def requires(self) -> tuple[Query, ...]:
        """The queries whose exact answers `combine` takes; () for a kind that tables answer themselves."""
        return ()

    def combine(self, *answers: Exact) -> Exact:
        """The exact answer, from the exact answers of `requires`."""
        raise NotImplementedError(f"{self.kind} queries are answered by tables")

    @property
    def cells(self) -> int:
        """How many numbers the answer has."""
        return math.prod(self.shape)

    @abstractmethod
    def describe(self) -> str:
        """A short text for the plan."""


@attrs.frozen
class Counts(Query):
    """How many rows fall in each cell of a partition; int64 of the partition's shape."""

    kind: ClassVar[str] = "counts"
    partition: Partition

    @property
    def shape(self) -> tuple[int, ...]:
        return self.partition.shape

    def describe(self) -> str:
        return f"counts of {' × '.join(self.partition.attributes) or 'all rows'}"


@attrs.frozen
class Sums(Query):
    """Σ z^power of a numeric attribute per cell, z = x − middle with x clipped to the bounds; power 1 or 2.

    z is rounded to the grid first; a missing value adds nothing.
    """

    kind: ClassVar[str] = "sums"
    attribute: Numeric
    by: Partition
    power: int = attrs.field(default=1, validator=attrs.validators.in_((1, 2)))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.by.shape

    @property
    def largest(self) -> float:
        """The largest |z|^power: R/2 or R²/4."""
        return float((self.attribute.width / 2) ** self.power)

    @property
    def grid(self) -> float:
        return power_of_two(self.largest) * 2.0**-_FINE

    @property
    def units(self) -> int:
        """The largest |term|, in units of the grid: rounded down, so that no term exceeds `largest`."""
        return math.floor(self.largest / self.grid)

    def terms(self, values: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        """Each row's term as a whole number of grid units (float64 holding integers)."""
        a = self.attribute
        z = np.clip(values.astype(np.float64), a.lower, a.upper) - a.middle
        terms = np.rint((z if self.power == 1 else z * z) / self.grid)
        terms[np.isnan(terms)] = 0.0
        return np.clip(terms, -self.units, self.units)

    def describe(self) -> str:
        power = "" if self.power == 1 else "²"
        return f"sums of {self.attribute.name}{power} by {' × '.join(self.by.attributes)}"


@attrs.frozen
class _Moments(Query):
    """Shared by means, variances and deviations: a numeric attribute, per cell of a partition."""

    attribute: Numeric
    by: Partition

    @property
    def shape(self) -> tuple[int, ...]:
        return self.by.shape

    @property
    def scale(self) -> float:
        """The largest value of the answer less the smallest."""
        return self.attribute.width

    @property
    def grid(self) -> float:
        return power_of_two(self.scale) * 2.0**-_FINER

    @property
    def requires(self) -> tuple[Query, ...]:
        first = Sums(self.attribute, self.by)
        squares = () if isinstance(self, Means) else (Sums(self.attribute, self.by, power=2),)
        return (Counts(self.by), first, *squares)

    def combine(self, *answers: Exact) -> Exact:
        return np.rint(self.moment(*answers) / self.grid).astype(np.int64)

    @abstractmethod
    def moment(self, counts: Exact, *sums: Exact) -> npt.NDArray[np.float64]:
        """The answer as floats."""

    def describe(self) -> str:
        return f"{self.kind} of {self.attribute.name} by {' × '.join(self.by.attributes)}"

    def _mean(self, counts: Exact, sums: Exact) -> npt.NDArray[np.float64]:
        return sums * Sums(self.attribute, self.by).grid / np.maximum(counts, 1)

    def _variance(self, counts: Exact, sums: Exact, squares: Exact) -> npt.NDArray[np.float64]:
        m = np.maximum(counts, 1)
        second = squares * Sums(self.attribute, self.by, power=2).grid / m
        variance = np.clip(second - self._mean(counts, sums) ** 2, 0.0, self.attribute.width**2 / 4)
        return np.where(counts > 0, variance, self.attribute.width**2 / 12)


@attrs.frozen
class Means(_Moments):
    """The mean of a numeric attribute per cell, less the middle of its range; 0 for an empty cell."""

    kind: ClassVar[str] = "means"

    def moment(self, counts: Exact, *sums: Exact) -> npt.NDArray[np.float64]:
        return self._mean(counts, sums[0])


@attrs.frozen
class Variances(_Moments):
    """The variance (divisor m) of a numeric attribute per cell; R²/12 for an empty cell."""

    kind: ClassVar[str] = "variances"

    @property
    def scale(self) -> float:
        return self.attribute.width**2 / 4

    def moment(self, counts: Exact, *sums: Exact) -> npt.NDArray[np.float64]:
        return self._variance(counts, *sums)


@attrs.frozen
class Deviations(_Moments):
    """The standard deviation (divisor m) of a numeric attribute per cell; R/√12 for an empty cell."""

    kind: ClassVar[str] = "deviations"

    @property
    def scale(self) -> float:
        return self.attribute.width / 2

    def moment(self, counts: Exact, *sums: Exact) -> npt.NDArray[np.float64]:
        return np.sqrt(self._variance(counts, *sums))


class Score(ABC):
    """How good each candidate of a `Choice` is: a pure function of an exact answer."""

    name: ClassVar[str]

    @abstractmethod
    def candidates(self, source: Query) -> int:
        """How many candidates there are: a public number."""

    @abstractmethod
    def evaluate(self, answer: Exact) -> npt.NDArray[np.float64]:
        """One finite score a candidate."""

    @abstractmethod
    def sensitivity(self, adjacency: Adjacency) -> tuple[float, bool]:
        """How far one person moves any score, and whether all scores move the same way (monotone)."""


@attrs.frozen
class CellCount(Score):
    """The count in each cell: choosing by it finds the fullest cell."""

    name: ClassVar[str] = "cell count"

    def candidates(self, source: Query) -> int:
        return source.cells

    def evaluate(self, answer: Exact) -> npt.NDArray[np.float64]:
        return answer.ravel().astype(np.float64)

    def sensitivity(self, adjacency: Adjacency) -> tuple[float, bool]:
        return 1.0, adjacency is Adjacency.ADD_REMOVE


@attrs.frozen
class Choice(Query):
    """Pick one candidate privately: the answer is its index, and the exact answer the vector of scores."""

    kind: ClassVar[str] = "choice"
    source: Query
    score: Score

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def cells(self) -> int:
        return self.score.candidates(self.source)

    @property
    def requires(self) -> tuple[Query, ...]:
        return (self.source,)

    def combine(self, *answers: Exact) -> Exact:
        scores = self.score.evaluate(answers[0])
        if scores.shape != (self.cells,) or not np.isfinite(scores).all():
            raise InputError(f"the score {self.score.name!r} must give one finite number a candidate.")
        return scores

    def describe(self) -> str:
        return f"choice by {self.score.name} from {self.source.describe()}"


@attrs.frozen
class Choices(Choice):
    """One private choice in each of several parts of the table, together the price of one.

    The answer has one index a part, and the exact answer is a matrix of scores, one row a part. A row of the table
    counts in one part only, so that a row that comes or goes moves the scores of one part: parallel composition.
    Under replace-one it may leave one part and enter another: the score's sensitivity must allow for both.

    Args:
        parts: how many.
    """

    parts: int = attrs.field(kw_only=True, validator=attrs.validators.ge(1))

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.parts,)

    @property
    def cells(self) -> int:
        return self.parts * self.score.candidates(self.source)

    def combine(self, *answers: Exact) -> Exact:
        scores = self.score.evaluate(answers[0])
        if scores.shape != (self.parts, self.score.candidates(self.source)) or not np.isfinite(scores).all():
            raise InputError(f"the score {self.score.name!r} must give one finite number a part and candidate.")
        return scores

    def describe(self) -> str:
        return f"{self.parts} choices by {self.score.name} from {self.source.describe()}"
