"""The model: as a file, in words, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpcore.errors import InputError
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import Rows
from dpcore_cart.draw import places
from dpcore_cart.model import FittedTree, TreeModel
from dpcore_cart.pool import Split, pool_of
from dpcore_cart.tree import Tree

SCHEMA = Schema(
    (Nominal("colour", ("red", "green", "blue", "grey", "pink")), Numeric("size", 0, 8, missing=True)),
    Nominal("class", ("yes", "no")),
)
POOL = pool_of(SCHEMA, 4)
CUT = next(s for s in POOL.splits if s.attribute == 1 and s.children[2] == 0 and s.children[3] == 1)
TREE = Tree(POOL.cells).grown({0: Split(0, (1, 0, 0, 0, 0))}).grown({1: CUT})
MODEL = TreeModel(
    SCHEMA.classes, (FittedTree(TREE, np.log([[0.6, 0.4], [0.5, 0.5], [0.9, 0.1], [0.2, 0.8], [0.7, 0.3]])),)
)


def test_it_reads_as_text() -> None:
    edge = POOL.cells[1].cuts[2]  # type: ignore[union-attr]
    assert str(MODEL).splitlines() == [
        "all rows: yes (60%)",
        "  colour ≠ red: yes (50%)",
        f"    size < {edge:g}: no (80%)",
        f"    size ≥ {edge:g} or missing: yes (70%)",
        "  colour = red: yes (90%)",
    ]


def test_a_row_that_lacks_what_is_asked_ends_there() -> None:
    rows = Rows(SCHEMA, {"colour": np.array([5, 0, 1], np.uint8), "size": np.array([1.0, 1.0, np.nan])}, 3)
    assert np.exp(MODEL.log_proba(rows))[:, 0] == pytest.approx([0.6, 0.9, 0.7])


def test_a_forest_is_the_mean_of_its_trees() -> None:
    stump = FittedTree(Tree(POOL.cells), np.log([[0.1, 0.9]]))
    rows = Rows(SCHEMA, {"colour": np.array([0], np.uint8), "size": np.array([1.0])}, 1)
    both = TreeModel(SCHEMA.classes, (*MODEL.trees, stump))
    assert np.exp(both.log_proba(rows))[0] == pytest.approx([0.5, 0.5])
    assert len(str(both).split("\n\n")) == 2


def damaged() -> list[Any]:
    good = MODEL.to_json()["trees"][0]
    return [
        {**good, "splits": good["splits"][:-1]},
        {**good, "log": good["log"][:-1]},
        {**good, "splits": [[0, [1, 1, 1, 1, 1]], *good["splits"][1:]]},
        {**good, "splits": [[9, [0, 1]], *good["splits"][1:]]},
        {**good, "splits": [None, [0, [1, 0, 0, 0, 0]], None]},
        {**good, "log": [[np.nan, 0.0], *good["log"][1:]]},
    ]


@pytest.mark.parametrize("tree", damaged())
def test_a_damaged_file_is_refused(tree: Any) -> None:
    with pytest.raises((InputError, IndexError)):
        TreeModel.from_json(SCHEMA, {"trees": [tree]})
    with pytest.raises(InputError):
        TreeModel.from_json(SCHEMA, {"trees": []})


def test_leaves_stand_side_by_side_under_their_parents() -> None:
    assert places(MODEL.trees[0]) == [1.25, 0.5, 2.0, 0.0, 1.0]


@pytest.mark.parametrize("name", ["tree.svg", "tree.png"])
def test_it_draws_itself(name: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="drawing needs matplotlib")
    MODEL.figure(tmp_path / name)
    assert (tmp_path / name).stat().st_size > 2000
    with pytest.raises(InputError, match="cannot draw"):
        MODEL.figure(tmp_path / "nowhere" / name)
    with pytest.raises(InputError, match="numbered from 0"):
        MODEL.figure(tmp_path / name, tree=1)
