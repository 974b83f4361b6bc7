"""Hand-made pairs are neighbours, and hold what mistakes trip over."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from dpcore.privacy import Adjacency
from dpcore.schema import Schema
from dpcore.table import Rows
from dpcore_testing.pairs import eight_nominal, pairs, probe_rows, schemas

ALL = {**schemas(), "eight": eight_nominal()}


def as_multiset(rows: Rows) -> Counter[tuple[str, ...]]:
    columns = [rows.columns[name] for name in (*rows.schema.names, rows.schema.target.name)]
    return Counter(tuple(map(str, row)) for row in zip(*columns, strict=True))


@pytest.mark.parametrize("adjacency", Adjacency)
@pytest.mark.parametrize("schema", ALL.values(), ids=ALL)
def test_both_tables_differ_by_exactly_one_row(schema: Schema, adjacency: Adjacency) -> None:
    made = pairs(schema, adjacency)
    assert len(made) > 20
    for pair in made:
        left, right = as_multiset(pair.left), as_multiset(pair.right)
        gone, come = (left - right).total(), (right - left).total()
        assert (gone, come) == ((0, 1) if adjacency is Adjacency.ADD_REMOVE else (1, 1)), pair.words


@pytest.mark.parametrize("schema", ALL.values(), ids=ALL)
def test_codes_fit_the_schema_and_every_class_comes_last_alone(schema: Schema) -> None:
    single = set()
    for pair in pairs(schema, Adjacency.ADD_REMOVE):
        for nominal in (*schema.nominal(), schema.target):
            codes = pair.right.columns[nominal.name]
            assert codes.max() < nominal.cells
        labels, counts = np.unique(pair.right.columns[schema.target.name], return_counts=True)
        single |= set(labels[counts == 1].tolist())
    assert {0, len(schema.classes) - 1} <= single


@pytest.mark.parametrize("adjacency", Adjacency)
def test_the_words_tell_pairs_apart(adjacency: Adjacency) -> None:
    for schema in ALL.values():
        words = [pair.words for pair in pairs(schema, adjacency)]
        assert len(set(words)) == len(words)


def test_values_at_and_beyond_the_bounds_and_missing_ones_are_among_the_rows() -> None:
    schema = ALL["mixed"]
    share, age = schema["share"], schema["age"]
    made = pairs(schema, Adjacency.ADD_REMOVE)
    shares = np.concatenate([pair.right.columns["share"] for pair in made])
    ages = np.concatenate([pair.right.columns["age"] for pair in made])
    assert {share.lower, share.upper} <= set(shares)  # type: ignore[union-attr]
    assert shares.max() > share.upper  # type: ignore[union-attr]
    assert np.isnan(ages).any()
    assert set(ages[~np.isnan(ages)]) == set(np.floor(ages[~np.isnan(ages)]))
    assert age.missing


def test_turning_a_pair_swaps_its_tables() -> None:
    pair = pairs(ALL["nominal"], Adjacency.ADD_REMOVE)[0]
    assert (pair.turned().left, pair.turned().right) == (pair.right, pair.left)
    assert probe_rows(pair.schema).size > 3
