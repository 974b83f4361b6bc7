"""Neighbouring tables that bring mistakes to light: ties, constants, extremes, empty and singleton classes, label
flips, values at and beyond the bounds, missing cells, values that no other row has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import attrs
import numpy as np

from dpcore.privacy import Adjacency
from dpcore.schema import Attribute, Nominal, Numeric, Schema, Taxonomy
from dpcore.table import Rows, smallest_unsigned

Row = Mapping[str, float]
"""Column name -> code of a nominal attribute, or value of a numeric one (NaN where it is missing)."""

PLACES = ("low", "high", "middle", "beyond", "missing", "second")
"""Where a row can stand in the domain, in every attribute at once."""
_MANY = 3000


@attrs.frozen(eq=False)
class Pair:
    """Two neighbouring tables of one schema, and how they differ, in words."""

    schema: Schema
    adjacency: Adjacency
    left: Rows
    right: Rows
    words: str

    def turned(self) -> Pair:
        """The same two tables, the other one first."""
        return attrs.evolve(self, left=self.right, right=self.left, words=f"{self.words} (read backwards)")


def schemas() -> dict[str, Schema]:
    """Small schemas of every shape: what a learner cannot work with, its capabilities refuse."""
    colour = Nominal("colour", ["red", "green", "blue", "violet"])
    ward = Nominal("ward", ["east", "west"], missing=True)
    share = Numeric("share", 0, 1)
    age = Numeric("age", 0, 20, integer=True, missing=True)
    levels = ((("red", "green"), ("blue", "violet")), (("red",), ("green",), ("blue", "violet")))
    taxonomies = {"colour": Taxonomy("colour", levels), "share": Taxonomy("share", (((0, 0.5), (0.5, 1)),))}
    outcome = Nominal("outcome", ["no", "yes"])
    return {
        "mixed": Schema([colour, share, age, ward], outcome, taxonomies=taxonomies),
        "nominal": Schema([colour, Nominal("size", ["small", "large"])], outcome),
        "numeric": Schema([Numeric("debt", -1000, 1000), Numeric("height", 100, 101)], outcome),
        "three classes": Schema([ward, share], Nominal("outcome", ["home", "stay", "moved"])),
    }


def eight_nominal() -> Schema:
    """Eight nominal attributes and two classes: the case that the known costs of published procedures are given for."""
    values = [Nominal(f"a{i}", ["no", "yes"]) for i in range(1, 9)]
    return Schema(values, Nominal("outcome", ["no", "yes"]))


def row_at(schema: Schema, place: str, label: int) -> Row:
    """One row that stands at a place in every attribute."""
    return {**{a.name: _cell(a, place) for a in schema.attributes}, schema.target.name: label}


def _cell(attribute: Attribute, place: str) -> float:
    if isinstance(attribute, Nominal):
        last = len(attribute.values) - 1
        codes = {"low": 0, "high": last, "beyond": last, "second": min(1, last)}
        if place == "missing":
            return attribute.cells - 1
        return codes.get(place, last // 2)
    low, high = attribute.lower, attribute.upper
    if place == "missing":
        return float("nan") if attribute.missing else attribute.middle
    places = {"low": low, "high": high, "beyond": high + 10 * attribute.width, "second": low + attribute.width / 4}
    value = places.get(place, attribute.middle)
    return float(np.floor(value)) if attribute.integer else value


def rows_of(schema: Schema, rows: Sequence[Row]) -> Rows:
    """Encoded rows."""
    columns: dict[str, Any] = {}
    for a in (*schema.attributes, schema.target):
        kind: Any = smallest_unsigned(a.cells) if isinstance(a, Nominal) else np.float64
        columns[a.name] = np.array([row[a.name] for row in rows], dtype=kind)
    return Rows(schema, columns, len(rows))


def probe_rows(schema: Schema) -> Rows:
    """Rows to compare the predictions of two models on: every place of the domain."""
    return rows_of(schema, [row_at(schema, place, 0) for place in PLACES])


def _bases(schema: Schema) -> Iterator[tuple[str, list[Row]]]:
    """Tables to take a neighbour of, the most telling first."""
    last = len(schema.classes) - 1
    low, high = row_at(schema, "low", 0), row_at(schema, "high", 0)
    other = {**high, schema.target.name: last}
    yield "no rows", []
    yield "one row at the lower bounds", [low]
    yield "6 rows at the lower bounds, half of them in the last class", [low, {**low, schema.target.name: last}] * 3
    yield "3 rows at each end of the domain, one class", [low, high] * 3
    yield "9 rows at the lower bounds of the first class and one at the upper bounds of the last", [low] * 9 + [other]
    draw = np.random.default_rng(0)
    yield "12 rows all over the domain", [_random(schema, draw) for _ in range(12)]
    missing = row_at(schema, "missing", 0)
    yield "4 rows of which nothing is known", [missing, {**missing, schema.target.name: last}] * 2
    yield f"{_MANY} rows at both ends of the domain", [low, other] * (_MANY // 2)


def _random(schema: Schema, draw: np.random.Generator) -> Row:
    row: dict[str, float] = {}
    for a in (*schema.attributes, schema.target):
        if isinstance(a, Nominal):
            row[a.name] = int(draw.integers(a.cells))
        else:
            value = draw.uniform(a.lower, a.upper)
            row[a.name] = float(np.floor(value)) if a.integer else value
    return row


def pairs(schema: Schema, adjacency: Adjacency) -> list[Pair]:
    """Hand-made neighbours under one adjacency, small tables first."""
    made = _added if adjacency is Adjacency.ADD_REMOVE else _replaced
    return [
        Pair(schema, adjacency, rows_of(schema, left), rows_of(schema, right), words)
        for base, rows in _bases(schema)
        for words, left, right in made(schema, base, rows)
    ]


Made = Iterator[tuple[str, list[Row], list[Row]]]


def _added(schema: Schema, base: str, rows: list[Row]) -> Made:
    labels = range(len(schema.classes))
    # places and labels take turns: every place comes, every class comes
    for i, place in enumerate(("high", "low", "beyond", "middle", "missing", "second")):
        for label in (labels[-1], labels[0]) if i < 2 else (labels[i % len(labels)],):
            new = row_at(schema, place, label)
            yield f"{base}; one more, {_place(place)}, of class {schema.classes[label]!r}", rows, [*rows, new]


def _replaced(schema: Schema, base: str, rows: list[Row]) -> Made:
    if not rows:
        return
    target, last = schema.target.name, len(schema.classes) - 1
    old = rows[-1]
    flipped = {**old, target: last if old[target] == 0 else 0}
    yield f"{base}; the last row's label flipped", rows, [*rows[:-1], flipped]
    for place in ("high", "low", "beyond", "missing"):
        for label, words in ((old[target], "the same"), (flipped[target], "another")):
            new = row_at(schema, place, int(label))
            if str(new) != str(dict(old)):  # a NaN is not equal to itself
                yield f"{base}; the last row moved {_place(place)}, of {words} class", rows, [*rows[:-1], new]
    for (_, a), (_, b) in pairwise(enumerate(("low", "high", "low"))):
        there, here = row_at(schema, a, 0), row_at(schema, b, last)
        yield f"{base} and one row {_place(a)}; it moved {_place(b)}, to the last class", [*rows, there], [*rows, here]


def _place(place: str) -> str:
    words = {
        "low": "at the lower bounds",
        "high": "at the upper bounds",
        "middle": "in the middle",
        "beyond": "beyond the bounds",
        "missing": "with nothing known",
        "second": "a quarter up",
    }
    return words[place]
