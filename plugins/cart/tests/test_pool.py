"""The public pool of splits."""

from __future__ import annotations

import numpy as np

from dpcore.schema import Nominal, Numeric, Schema, Taxonomy
from dpcore_cart.pool import Pool, pool_of

CLASS = Nominal("class", ("0", "1"))


def sides(pool: Pool) -> list[tuple[int, ...]]:
    return [split.children for split in pool.splits]


def test_a_nominal_attribute_is_split_value_against_the_rest() -> None:
    pool = pool_of(Schema((Nominal("v", ("x", "y", "z"), missing=True),), CLASS), 8)
    assert sides(pool) == [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]
    two = pool_of(Schema((Nominal("v", ("x", "y")),), CLASS), 8)
    assert sides(two) == [(0, 1)]
    three = pool_of(Schema((Nominal("v", ("x", "y", "z")),), CLASS), 8, multiway=3)
    assert (0, 1, 2) in sides(three)
    assert three.arity == 3


def test_groups_of_a_taxonomy_are_splits() -> None:
    taxonomy = Taxonomy("v", ((("x", "y"), ("z", "w")), (("x",), ("y",), ("z",), ("w",))))
    pool = pool_of(Schema((Nominal("v", ("x", "y", "z", "w")),), CLASS, taxonomies={"v": taxonomy}), 8)
    assert (0, 0, 1, 1) in sides(pool)
    assert len(sides(pool)) == len(set(sides(pool)))


def test_numeric_cut_points_are_those_of_the_schema_or_a_public_grid() -> None:
    given = pool_of(Schema((Numeric("x", 0, 10, cuts=(2, 5)),), CLASS), 8)
    assert given.cells[0].labels() == ["[0, 2)", "[2, 5)", "[5, 10]"]
    assert sides(given) == [(0, 1, 1), (0, 0, 1)]
    grid = pool_of(Schema((Numeric("x", 0, 1024),), CLASS), 8)
    cuts = grid.cells[0].cuts
    assert {128.0 * k for k in range(1, 8)} < set(cuts)
    assert {2.0, 1022.0} < set(cuts)  # finer towards both ends
    whole = pool_of(Schema((Numeric("x", 1, 5, integer=True, missing=True),), CLASS), 8)
    assert whole.cells[0].size == 6
    assert sides(whole)[-1] == (0, 0, 0, 0, 0, 1)


def test_every_split_parts_its_cells_and_the_incidence_says_where_they_go() -> None:
    schema = Schema((Nominal("v", tuple("abcde"), missing=True), Numeric("x", 0, 1, missing=True)), CLASS)
    pool = pool_of(schema, 8, multiway=6)
    for where, (matrix, first), cells in zip(pool.of_attribute, pool.incidence, pool.cells, strict=True):
        splits = pool.splits[where]
        assert len(first) == len(splits)
        for start, split in zip(first, splits, strict=True):
            assert set(split.children) == set(range(split.arity))
            block = matrix[:, start : start + split.arity]
            assert (block.sum(axis=1) == 1).all()
            assert (block.argmax(axis=1) == np.array(split.children)).all()
            assert len(split.children) == cells.size


def test_an_attribute_with_one_value_has_no_split() -> None:
    pool = pool_of(Schema((Nominal("flat", ("only",)), Nominal("v", ("x", "y"))), CLASS), 8)
    assert [cells.attribute.name for cells in pool.cells] == ["v"]
