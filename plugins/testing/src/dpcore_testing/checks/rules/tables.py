"""Questions of every kind that the core knows, and all small tables over the rows that matter to them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations_with_replacement, product
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.partition import CutBins, EqualBins, Partition, Product, Values, level
from dpcore.privacy import Adjacency
from dpcore.query import CellCount, Choice, Counts, Deviations, Means, Query, Sums, Variances
from dpcore.schema import Attribute, Nominal, Numeric, Schema, Taxonomy
from dpcore.table import MemoryTable, Rows, smallest_unsigned

KINDS = ("counts", "sums", "means", "variances", "deviations", "choice")
_MOST = 500
"""Tables of a question are all those of 0, 1, 2, … rows while there are no more of them."""
_LARGER = (6, 15, 40)

Key = tuple[int, ...]
"""A table: the places of its rows in the list of possible rows, in order."""


@attrs.frozen(eq=False)
class Question:
    """A query, and every row that can matter to its answer."""

    schema: Schema
    query: Query
    columns: tuple[str, ...]

    def possible(self) -> dict[str, npt.NDArray[Any]]:
        """Every combination of telling values in the columns that the query reads; anything in the others."""
        every = (*self.schema.attributes, self.schema.target)
        telling = [_values(a) if a.name in self.columns else _values(a)[:1] for a in every]
        rows = np.array(list(product(*telling)))
        kinds = {a.name: smallest_unsigned(a.cells) if isinstance(a, Nominal) else np.float64 for a in every}
        return {a.name: rows[:, i].astype(kinds[a.name]) for i, a in enumerate(every)}

    def words(self, key: Key) -> str:
        """A table for people."""
        possible = self.possible()
        names = [name for name in possible if name in self.columns]
        rows = [",".join(f"{name}={possible[name][i]:g}" for name in names) for i in key]
        return "no rows" if not rows else "; ".join(rows) if len(rows) <= 4 else f"{len(rows)} rows"


def _values(a: Attribute) -> list[float]:
    """Every value of a nominal attribute; the bounds, what lies between and beyond them, and a missing number."""
    if isinstance(a, Nominal):
        return list(range(a.cells))
    some = [a.lower, a.lower + a.width / 4, a.middle, a.upper, a.upper + 10 * a.width]
    return [math.floor(v) if a.integer else v for v in some] + ([math.nan] if a.missing else [])


def schemas() -> list[Schema]:
    """Bounds around zero, wide ones, and narrow ones far from zero; two and three classes; missing cells."""
    colour = Nominal("colour", ["red", "green"])
    ward = Nominal("ward", ["north", "south", "east"], missing=True)
    taxonomy = Taxonomy("ward", ((("north", "south"), ("east",)),))
    wide = Numeric("wide", -3, 1000, integer=True, missing=True)
    return [
        Schema([Numeric("unit", 0, 1, cuts=(0.2, 0.6)), colour], Nominal("class", ["n", "y"])),
        Schema([wide, ward], Nominal("class", ["a", "b", "c"]), taxonomies={"ward": taxonomy}),
        Schema([Numeric("narrow", 1e5, 1e5 + 0.75), colour], Nominal("class", ["n", "y"])),
    ]


def questions(kind: str) -> list[Question]:
    """Questions of one kind; none for a kind that a plugin has added."""
    return [q for schema in schemas() for q in _of(schema) if q.query.kind == kind]


def _of(schema: Schema) -> Iterator[Question]:
    classes, target = Values(schema.target), schema.target.name
    (x,), (c,) = schema.numeric(), schema.nominal()
    cells: list[Partition] = [Values(c), EqualBins(x, 3), *([CutBins(x, x.cuts)] if x.cuts else [])]
    cells += [level(c, schema.taxonomies[c.name], 1)] if c.name in schema.taxonomies else []
    yield Question(schema, Counts(classes), (target,))
    for part in cells:
        both = Counts(Product((part, classes)))
        yield Question(schema, both, (*part.attributes, target))
    yield Question(schema, Choice(both, CellCount()), (*part.attributes, target))
    yield Question(schema, Counts(Product((Values(c), EqualBins(x, 2)))), (c.name, x.name))
    for query in (Sums(x, classes), Sums(x, classes, power=2), Means(x, classes), Variances(x, classes)):
        yield Question(schema, query, (x.name, target))
    yield Question(schema, Deviations(x, classes), (x.name, target))
    yield Question(schema, Sums(x, Values(c)), (x.name, c.name))


class Small:
    """All small tables of a question and some larger ones, with their exact answers.

    Args:
        question: what is asked.
        draw: chooses the larger ones.
    """

    def __init__(self, question: Question, draw: np.random.Generator) -> None:
        self.question = question
        self._possible = question.possible()
        self._rows = len(next(iter(self._possible.values())))
        self.keys: list[Key] = []
        for size in range(5):
            if math.comb(self._rows + size - 1, size) + len(self.keys) > _MOST and size > 1:
                break
            self.keys += combinations_with_replacement(range(self._rows), size)
        self.complete = len(self.keys[-1])
        self._larger = [tuple(sorted(draw.integers(self._rows, size=n).tolist())) for n in _LARGER]
        self._answers: dict[Key, npt.NDArray[np.float64]] = {}
        self._tables: dict[Key, MemoryTable] = {}

    def table(self, key: Key) -> MemoryTable:
        """The table of that key."""
        if key not in self._tables:
            index = np.array(key, dtype=np.intp)
            columns = {name: column[index] for name, column in self._possible.items()}
            self._tables[key] = MemoryTable(Rows(self.question.schema, columns, len(key)))
        return self._tables[key]

    def answer(self, key: Key) -> npt.NDArray[np.float64]:
        """The exact answer, in the answer's units, flat."""
        if key not in self._answers:
            query = self.question.query
            exact = self.table(key).answer(query).ravel().astype(np.float64)
            self._answers[key] = exact if query.kind == "choice" else exact * query.grid
        return self._answers[key]

    def pairs(self, adjacency: Adjacency) -> Iterator[tuple[Key, Key]]:
        """Neighbours, each pair once."""
        added = adjacency is Adjacency.ADD_REMOVE
        for key in (*self.keys, *self._larger):
            larger = key in self._larger
            if added and (larger or len(key) < self.complete):
                yield from ((key, tuple(sorted((*key, row)))) for row in range(self._rows))
            elif not added and key:
                yield from self._replaced(key, larger=larger)

    def _replaced(self, key: Key, *, larger: bool) -> Iterator[tuple[Key, Key]]:
        for gone in sorted(set(key)):
            rest = list(key)
            rest.remove(gone)
            # of two rows, either may be the one that is replaced: the larger row number is the later pair
            for row in range(self._rows) if larger else range(gone + 1, self._rows):
                if row != gone:
                    yield key, tuple(sorted((*rest, row)))
