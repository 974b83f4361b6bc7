"""The search builds neighbours and climbs."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.privacy import Adjacency
from dpcore_testing.pairs import Pair, schemas
from dpcore_testing.search import climb, neighbours, turns

SCHEMA = schemas()["mixed"]


@pytest.mark.parametrize("adjacency", Adjacency)
def test_what_it_builds_are_neighbours(adjacency: Adjacency) -> None:
    @settings(max_examples=50)
    @given(neighbours(SCHEMA, adjacency))
    def check(pair: Pair) -> None:
        sizes = pair.left.size, pair.right.size
        assert abs(sizes[0] - sizes[1]) == (1 if adjacency is Adjacency.ADD_REMOVE else 0)
        common = min(sizes) - (0 if adjacency is Adjacency.ADD_REMOVE else 1)
        for name, column in pair.left.columns.items():
            assert column[:common].tobytes() == pair.right.columns[name][:common].tobytes()

    check()


def test_it_climbs_to_larger_measures_than_it_starts_with() -> None:
    seen: list[float] = []

    def measure(pair: Pair) -> float:
        seen.append(float(pair.left.size))
        return seen[-1]

    climb(SCHEMA, Adjacency.ADD_REMOVE, measure, until=time.monotonic() + 60, first=0, examples=300)
    assert max(seen) > 2 * max(seen[:20], default=0) or max(seen) >= 2000


def test_it_stops_when_the_time_is_up() -> None:
    calls: list[Pair] = []
    climb(SCHEMA, Adjacency.REPLACE_ONE, lambda pair: calls.append(pair) or 0.0, until=0.0, first=0)
    assert calls == []


@given(st.integers(1, 5))
def test_the_time_is_shared(n: int) -> None:
    now = time.monotonic()
    ends = [end for _, end in turns([SCHEMA] * n, now + 10)]
    assert ends == sorted(ends)
    assert ends[-1] == pytest.approx(now + 10, abs=0.1)
