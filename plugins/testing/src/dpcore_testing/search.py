"""A search for worse neighbours than the hand-made ones: hypothesis builds tables and climbs towards larger losses."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings, target
from hypothesis import strategies as st

from dpcore.privacy import Adjacency
from dpcore.schema import Nominal, Schema
from dpcore_testing.pairs import PLACES, Pair, Row, row_at, rows_of

_STEEPEST = 1e6
_COPIES = (1, 2, 3, 7, 50, 1000)


def _rows(schema: Schema) -> st.SearchStrategy[Row]:
    """One row: at a place of the domain, or anywhere in it."""
    labels = st.integers(0, len(schema.classes) - 1)
    columns: dict[str, st.SearchStrategy[Any]] = {schema.target.name: labels}
    for a in schema.attributes:
        if isinstance(a, Nominal):
            columns[a.name] = st.integers(0, a.cells - 1)
        else:
            inside = st.floats(a.lower, a.upper)
            columns[a.name] = inside.map(round).map(float) if a.integer else inside
    placed = st.builds(row_at, st.just(schema), st.sampled_from(PLACES), labels)
    return st.one_of(placed, st.fixed_dictionaries(columns))


@st.composite
def neighbours(draw: st.DrawFn, schema: Schema, adjacency: Adjacency) -> Pair:
    """Pairs of neighbouring tables: some rows, each several times, and one that comes, goes or changes."""
    rows: list[Row] = []
    for row, copies in draw(st.lists(st.tuples(_rows(schema), st.sampled_from(_COPIES)), max_size=5)):
        rows += [row] * copies
    new = draw(_rows(schema))
    added = adjacency is Adjacency.ADD_REMOVE
    left = rows if added else [*rows, draw(_rows(schema))]
    right = [*rows, new]
    how = "one more" if added else "one of them replaced"
    words = f"{len(left)} rows that a search found, {len({str(r) for r in left})} of them different; {how}"
    pair = Pair(schema, adjacency, rows_of(schema, left), rows_of(schema, right), words)
    return pair.turned() if draw(st.booleans()) else pair


def climb(
    schema: Schema,
    adjacency: Adjacency,
    measure: Callable[[Pair], float],
    *,
    until: float,
    first: int,
    examples: int = 10_000,
) -> None:
    """Measure one pair after the other, each chosen for a larger measure than the last.

    Args:
        measure: what to climb on; it keeps what it finds.
        until: stop at this reading of `time.monotonic()`.
        first: the seed.
        examples: stop after so many.
    """

    @seed(first)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.target],
        suppress_health_check=list(HealthCheck),
    )
    @given(neighbours(schema, adjacency))
    def step(pair: Pair) -> None:
        if time.monotonic() >= until:
            raise _Enough
        target(min(measure(pair), _STEEPEST))

    with contextlib.suppress(_Enough):
        step()


class _Enough(BaseException):
    """The time is up; not an Exception, which hypothesis would take for a failure to be shrunk."""


def turns(schemas: Sequence[Schema], until: float) -> list[tuple[Schema, float]]:
    """The schemas, each with the end of its equal share of the time that is left."""
    now = time.monotonic()
    share = max(0.0, until - now) / max(1, len(schemas))
    return [(schema, now + share * (i + 1)) for i, schema in enumerate(schemas)]
