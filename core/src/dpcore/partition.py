"""Ways to cut the public domain into numbered cells: the currency shared by all learners.

Every row falls into exactly one cell, so a histogram over a partition has L1 sensitivity 1 (add-remove) or
2 (replace-one), however many cells it has: parallel composition follows from the query's form.
A partition holds public facts only and knows nothing of rows; `codes` is what a table in memory uses, other
tables compile the same facts to their own language.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.errors import SchemaError
from dpcore.schema import Attribute, Nominal, Numeric, Taxonomy, floats

Codes = npt.NDArray[np.intp]
View = Mapping[str, npt.NDArray[Any]]
"""Column name -> one block of its rows: codes of a nominal attribute, or values of a numeric one.

A code equal to `Nominal.cells` and a NaN stand for "nothing known"; only rows to be predicted may have them
where the attribute has no missing cell.
"""


class Partition(ABC):
    """Numbered cells of the public domain; `shape` is () for one cell that holds everything.

    Class attribute: `keeps`, whether a table in memory should keep the codes of its rows, which are dear to find and
    small.
    """

    keeps: ClassVar[bool] = False

    @property
    @abstractmethod
    def attributes(self) -> tuple[str, ...]:
        """The columns it reads."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Cells along each axis."""

    @property
    def size(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    @abstractmethod
    def codes(self, view: View) -> Codes:
        """The cell of each row of a block, numbered in C order.

        A row of which nothing is known gets a number ≥ `size`.
        """

    @abstractmethod
    def labels(self) -> list[str]:
        """One text a cell, for people."""

    def __mul__(self, other: Partition) -> Product:
        return Product((self, other))


def codes_of(part: Partition, view: View) -> Codes:
    """The codes of a part of a partition: found once a block, where the view has a memory. Not to be written to."""
    remembered = getattr(view, "remembered", None)
    return part.codes(view) if remembered is None else remembered(part)


def _tuple(parts: Iterable[Partition]) -> tuple[Partition, ...]:
    return tuple(parts)


@attrs.frozen
class Values(Partition):
    """The values of a nominal attribute, its missing cell last."""

    attribute: Nominal

    @property
    def attributes(self) -> tuple[str, ...]:
        return (self.attribute.name,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.attribute.cells,)

    def codes(self, view: View) -> Codes:
        return view[self.attribute.name].astype(np.intp)

    def labels(self) -> list[str]:
        return [*self.attribute.values, *["(missing)"] * self.attribute.missing]


@attrs.frozen
class EqualBins(Partition):
    """Bins of equal width over the public bounds of a numeric attribute, its missing cell last.

    Cell of x: floor((x − lower) · (bins / span)) in IEEE double arithmetic, clipped to 0 … bins − 1; span is
    upper − lower, or the number of whole numbers in the bounds for an integer attribute.
    """

    attribute: Numeric
    bins: int = attrs.field(validator=attrs.validators.ge(1))

    @property
    def attributes(self) -> tuple[str, ...]:
        return (self.attribute.name,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.bins + self.attribute.missing,)

    @property
    def span(self) -> float:
        """The length that the bins share."""
        return self.attribute.width + (1.0 if self.attribute.integer else 0.0)

    def codes(self, view: View) -> Codes:
        # Three passes over a block that is in cache; NaN is dealt with only where there is one.
        position = np.subtract(view[self.attribute.name], self.attribute.lower, dtype=np.float64)
        position *= self.bins / self.span
        unknown = np.isnan(position)
        if unknown.any():
            position[unknown] = 0.0
            codes = np.clip(position, 0.0, self.bins - 1).astype(np.intp)
            codes[unknown] = self.bins
            return codes
        return np.clip(position, 0.0, self.bins - 1, out=position).astype(np.intp)

    def edges(self) -> npt.NDArray[np.float64]:
        """The bins' ends, `bins + 1` numbers."""
        steps = np.arange(self.bins + 1, dtype=np.float64)
        return np.asarray(self.attribute.lower + steps * (self.span / self.bins))

    def labels(self) -> list[str]:
        return _interval_labels(self.edges().tolist(), self.attribute)


@attrs.frozen
class CutBins(Partition):
    """Bins between public cut points c_1 < … < c_k: cell of x = how many cut points are ≤ x; missing last."""

    keeps: ClassVar[bool] = True
    attribute: Numeric
    cuts: tuple[float, ...] = attrs.field(converter=floats)

    def __attrs_post_init__(self) -> None:
        if any(not a < b for a, b in zip(self.cuts, self.cuts[1:], strict=False)):
            raise SchemaError(f"attribute {self.attribute.name!r}: cut points must increase.")

    @property
    def attributes(self) -> tuple[str, ...]:
        return (self.attribute.name,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.cuts) + 1 + self.attribute.missing,)

    def codes(self, view: View) -> Codes:
        values = view[self.attribute.name]
        codes = np.searchsorted(np.asarray(self.cuts), values, side="right")
        unknown = np.isnan(values)
        if unknown.any():
            codes[unknown] = len(self.cuts) + 1
        return codes

    def labels(self) -> list[str]:
        ends = [self.attribute.lower, *self.cuts, self.attribute.upper]
        return _interval_labels(ends, self.attribute)


@attrs.frozen
class Groups(Partition):
    """Values of a nominal attribute put together in groups: one level of a taxonomy; missing last."""

    attribute: Nominal
    groups: tuple[tuple[str, ...], ...]

    def __attrs_post_init__(self) -> None:
        if sorted(v for g in self.groups for v in g) != sorted(self.attribute.values):
            raise SchemaError(f"attribute {self.attribute.name!r}: every value must stand in exactly one group.")

    @property
    def attributes(self) -> tuple[str, ...]:
        return (self.attribute.name,)

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.groups) + self.attribute.missing,)

    def codes(self, view: View) -> Codes:
        group = {value: g for g, values in enumerate(self.groups) for value in values}
        table = [group[value] for value in self.attribute.values]
        # the missing cell and "nothing known" keep their places behind the groups
        table += [len(self.groups), len(self.groups) + 1]
        return np.asarray(table, dtype=np.intp)[view[self.attribute.name]]

    def labels(self) -> list[str]:
        return ["|".join(g) for g in self.groups] + ["(missing)"] * self.attribute.missing


@attrs.frozen
class Product(Partition):
    """All combinations of the cells of several partitions, in C order."""

    parts: tuple[Partition, ...] = attrs.field(converter=_tuple)

    @property
    def attributes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for part in self.parts for name in part.attributes))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(n for part in self.parts for n in part.shape)

    def codes(self, view: View) -> Codes:
        known = [(codes_of(part, view), part.size) for part in self.parts]
        combined = known[0][0] if len(known) > 1 else known[0][0].copy()
        for codes, size in known[1:]:
            combined = combined * size
            combined += codes
        if any((codes >= size).any() for codes, size in known):
            lost = np.any([codes >= size for codes, size in known], axis=0)
            combined[lost] = self.size
        return combined

    def labels(self) -> list[str]:
        rows = [""]
        for part in self.parts:
            rows = [f"{row} × {label}" if row else label for row in rows for label in part.labels()]
        return rows


def level(attribute: Attribute, taxonomy: Taxonomy, depth: int) -> Partition:
    """The partition of one level of a taxonomy, 1 = coarsest.

    Raises:
        SchemaError: if the taxonomy has no such level.
    """
    if not 1 <= depth <= len(taxonomy.levels):
        raise SchemaError(f"the taxonomy of {attribute.name!r} has levels 1 to {len(taxonomy.levels)}.")
    groups = taxonomy.levels[depth - 1]
    if isinstance(attribute, Nominal):
        return Groups(attribute, groups)
    return CutBins(attribute, tuple(lo for lo, _ in groups[1:]))


def _interval_labels(ends: list[float], attribute: Numeric) -> list[str]:
    body = [f"[{a:g}, {b:g})" for a, b in pairwise(ends[:-1])]
    return [*body, f"[{ends[-2]:g}, {ends[-1]:g}]", *["(missing)"] * attribute.missing]
