"""The released trees: their splits and the class probabilities of their nodes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.classifier import Model
from dpcore.errors import InputError
from dpcore.partition import CutBins, EqualBins, Values
from dpcore.schema import Nominal, Schema
from dpcore.table import Rows
from dpcore_cart.pool import Cells, Split
from dpcore_cart.tree import Tree

Floats = npt.NDArray[np.float64]
_LOGS = 1e4


@attrs.frozen(eq=False)
class FittedTree:
    """One tree with log P(class) at every node, shape (nodes, classes)."""

    tree: Tree
    log: Floats

    def to_json(self) -> dict[str, Any]:
        """Plain data: the cells of each attribute, and one row a node."""
        splits = [[s.attribute, list(s.children)] if s else None for s in self.tree.splits]
        return {"cells": [_cells_json(c) for c in self.tree.cells], "splits": splits, "log": self.log.tolist()}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        """Back from plain data.

        Raises:
            InputError: if splits and numbers do not fit each other or the schema.
        """
        cells = tuple(_cells(schema, row) for row in data["cells"])
        splits = tuple(None if row is None else _split(cells, row) for row in data["splits"])
        if not cells or len(splits) != 1 + sum(s.arity for s in splits if s):
            raise InputError("the nodes of a tree do not fit its splits.")
        log = np.asarray(data["log"], dtype=np.float64)
        if log.shape != (len(splits), len(schema.classes)) or not (np.abs(log) <= _LOGS).all():
            raise InputError("some numbers of a tree are missing or are no logarithms of probabilities.")
        tree = Tree(cells, splits)
        if (tree.first <= np.arange(len(splits))).any():
            raise InputError("the nodes of a tree do not stand in order.")
        return cls(tree, log)


@attrs.frozen(eq=False)
class TreeModel(Model):
    """The mean of the trees' probabilities at the nodes where a row ends.

    A row that lacks what a node asks for, and was not allowed to, ends there.

    Args:
        classes: the class values.
        trees: at least one.
    """

    classes: tuple[str, ...]
    trees: tuple[FittedTree, ...]

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """The trees for people: a line for each node."""
        from dpcore_cart.text import lines

        texts = ["\n".join(lines(fitted, self.classes)) for fitted in self.trees]
        return "\n\n".join(texts) + "\n"

    def figure(self, path: str | Path, tree: int = 0) -> None:
        """Draw one tree to a file: SVG, PNG or PDF, by its name.

        Raises:
            InputError: if matplotlib is not installed, there is no such tree, or the file cannot be written.
        """
        from dpcore_cart.draw import draw

        if not 0 <= tree < len(self.trees):
            raise InputError(f"the model has {len(self.trees)} trees, numbered from 0. Got {tree}.")
        draw(self.trees[tree], self.classes, Path(path))

    def log_proba(self, rows: Rows) -> Floats:
        classes = self.trees[0].log.shape[1]
        total = np.empty((rows.size, classes))
        single = len(self.trees) == 1
        for where, view in rows.blocks():
            if single:
                fitted = self.trees[0]
                total[where] = fitted.log[fitted.tree.route(view)]
                continue
            total[where] = np.log(sum(np.exp(f.log)[f.tree.route(view)] for f in self.trees) / len(self.trees))
        total -= np.log(np.exp(total).sum(axis=1, keepdims=True))
        return total

    def to_json(self) -> dict[str, Any]:
        return {"trees": [fitted.to_json() for fitted in self.trees]}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        trees = tuple(FittedTree.from_json(schema, row) for row in data["trees"])
        if not trees:
            raise InputError("the model has no tree.")
        return cls(schema.classes, trees)


def _cells_json(cells: Cells) -> dict[str, Any]:
    row: dict[str, Any] = {"attribute": cells.attribute.name}
    if isinstance(cells, EqualBins):
        row["bins"] = cells.bins
    elif isinstance(cells, CutBins):
        row["cuts"] = list(cells.cuts)
    return row


def _cells(schema: Schema, row: Mapping[str, Any]) -> Cells:
    attribute = schema[row["attribute"]]
    if isinstance(attribute, Nominal):
        return Values(attribute)
    return EqualBins(attribute, int(row["bins"])) if "bins" in row else CutBins(attribute, tuple(row["cuts"]))


def _split(cells: tuple[Cells, ...], row: Any) -> Split:
    attribute, children = int(row[0]), tuple(int(child) for child in row[1])
    if not 0 <= attribute < len(cells) or len(children) != cells[attribute].size:
        raise InputError("a split of a tree does not fit its attribute.")
    if len(set(children)) < 2 or set(children) != set(range(max(children) + 1)):
        raise InputError("a split of a tree has no two children.")
    return Split(attribute, children)
