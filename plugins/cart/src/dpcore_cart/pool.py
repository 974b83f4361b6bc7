"""The public pool of splits: what a node may be split by, known from the schema alone.

Each attribute is cut into cells once (values, or bins between public cut points), and every candidate says which child
each of these cells goes to. Nothing here has seen a row.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.partition import CutBins, EqualBins, Values, level
from dpcore.schema import Attribute, Nominal, Numeric, Schema, Taxonomy

Floats = npt.NDArray[np.float64]
Cells = Values | EqualBins | CutBins

_NEAR = (1 / 2, 1 / 4, 1 / 8, 1 / 16, 1 / 32, 1 / 64)


@attrs.frozen(cache_hash=True)
class Split:
    """One way to split a node.

    Args:
        attribute: its place in the pool.
        children: for each cell of that attribute the child that takes it: 0, 1, …
    """

    attribute: int
    children: tuple[int, ...]

    @property
    def arity(self) -> int:
        """How many children it makes."""
        return max(self.children) + 1


@attrs.frozen(cache_hash=True)
class Pool:
    """All splits, attribute by attribute.

    Args:
        cells: the cells of each attribute.
        splits: all candidates, those of the first attribute first.
    """

    cells: tuple[Cells, ...]
    splits: tuple[Split, ...]

    @cached_property
    def of_attribute(self) -> tuple[slice, ...]:
        """Where in `splits` the candidates of each attribute stand."""
        counts = [0] * len(self.cells)
        for split in self.splits:
            counts[split.attribute] += 1
        ends = [0, *accumulate(counts)]
        return tuple(slice(a, b) for a, b in pairwise(ends))

    @cached_property
    def incidence(self) -> tuple[tuple[Floats, npt.NDArray[np.intp]], ...]:
        """For each attribute a 0/1 matrix (cells, children of all its splits), and the first child of each split."""
        made = []
        for where, cells in zip(self.of_attribute, self.cells, strict=True):
            splits = self.splits[where]
            starts = np.array([0, *accumulate(s.arity for s in splits)], dtype=np.intp)
            matrix = np.zeros((cells.size, int(starts[-1])))
            for start, split in zip(starts, splits, strict=False):
                matrix[np.arange(cells.size), start + np.array(split.children)] = 1.0
            made.append((matrix, starts[:-1]))
        return tuple(made)

    @property
    def arity(self) -> int:
        """The most children that a split has."""
        return max((s.arity for s in self.splits), default=1)


@lru_cache(maxsize=32)
def pool_of(schema: Schema, resolution: int, *, multiway: int = 0) -> Pool:
    """The pool of a schema.

    A nominal attribute is split value against the rest, taxonomy group against the rest; where `multiway` allows, into
    all its values, or all groups of a level, at once. A numeric one is split at cut points: the schema's, those of its
    taxonomy, and otherwise `resolution` equal bins with ever finer cuts towards both ends of the range. A missing cell
    is split off, and else goes with the larger values.

    Args:
        schema: public facts.
        resolution: equal bins of a numeric attribute without cut points.
        multiway: the most children of a split; below 3 all splits are binary.
    """
    cells: list[Cells] = []
    splits: list[Split] = []
    for attribute in schema.attributes:
        taxonomy = schema.taxonomies.get(attribute.name)
        part = _cells(attribute, taxonomy, resolution)
        found = dict.fromkeys(_nominal(part, taxonomy, multiway) if isinstance(part, Values) else _cuts(part))
        if found:
            splits += [Split(len(cells), children) for children in found]
            cells.append(part)
    return Pool(tuple(cells), tuple(splits))


def _cells(attribute: Attribute, taxonomy: Taxonomy | None, resolution: int) -> Cells:
    if isinstance(attribute, Nominal):
        return Values(attribute)
    if attribute.cuts:
        return CutBins(attribute, attribute.cuts)
    if attribute.integer and attribute.width + 1 <= 2 * resolution:
        return EqualBins(attribute, int(attribute.width) + 1)
    return CutBins(attribute, _grid(attribute, taxonomy, resolution))


def _grid(attribute: Numeric, taxonomy: Taxonomy | None, resolution: int) -> tuple[float, ...]:
    """Equal steps, and finer ones towards both ends; whole numbers (or halves off them) for an integer attribute."""
    step = attribute.width / resolution
    cuts = {attribute.lower + step * k for k in range(1, resolution)}
    cuts |= {attribute.lower + step * part for part in _NEAR} | {attribute.upper - step * part for part in _NEAR}
    if attribute.integer:
        cuts = {float(np.ceil(c)) for c in cuts} | {attribute.lower + 1, attribute.upper}
    if taxonomy is not None:
        cuts |= {float(lo) for groups in taxonomy.levels for lo, _ in groups[1:]}
    return tuple(sorted(c for c in cuts if attribute.lower < c <= attribute.upper))


def _cuts(part: EqualBins | CutBins) -> Iterator[tuple[int, ...]]:
    known = part.size - part.attribute.missing
    for cut in range(1, known):
        yield tuple(int(cell >= cut) for cell in range(part.size))
    if part.attribute.missing:
        yield tuple(int(cell == known) for cell in range(part.size))


def _nominal(part: Values, taxonomy: Taxonomy | None, multiway: int) -> Iterator[tuple[int, ...]]:
    attribute = part.attribute
    levels = [level(attribute, taxonomy, d + 1) for d in range(len(taxonomy.levels))] if taxonomy else []
    places = {"values": np.arange(part.size)}
    codes = np.arange(part.size)
    for depth, groups in enumerate(levels):
        places[f"level {depth}"] = groups.codes({attribute.name: codes})
    for place in places.values():
        size = int(place.max()) + 1
        if size < 2:
            continue
        for group in range(size) if size > 2 else (1,):
            yield tuple(int(g == group) for g in place)
        if 2 < size <= multiway:
            yield tuple(int(g) for g in place)
