"""A tree in words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpcore.partition import Values
from dpcore_cart.model import FittedTree
from dpcore_cart.pool import Cells, Split

_MANY = 3


def lines(fitted: FittedTree, classes: tuple[str, ...]) -> Iterator[str]:
    """A line for each node, children under their parent: what leads there, the class, and its probability."""
    tree = fitted.tree
    stack: list[tuple[int, str, int]] = [(0, "all rows", 0)]
    while stack:
        node, words, depth = stack.pop()
        yield f"{'  ' * depth}{words}: {verdict(fitted, node, classes)}"
        split = tree.splits[node]
        if split is not None:
            first = int(tree.first[node])
            stack += [
                (first + child, condition(tree.cells[split.attribute], split, child), depth + 1)
                for child in reversed(range(split.arity))
            ]


def verdict(fitted: FittedTree, node: int, classes: tuple[str, ...]) -> str:
    """The most probable class of a node, and how probable it is."""
    best = int(np.argmax(fitted.log[node]))
    return f"{classes[best]} ({np.exp(fitted.log[node, best]):.0%})"


def condition(cells: Cells, split: Split, child: int) -> str:
    """What leads from a node to one of its children."""
    name, inside = cells.attribute.name, [c for c, to in enumerate(split.children) if to == child]
    labels = cells.labels()
    if isinstance(cells, Values):
        if len(inside) <= _MANY or 2 * len(inside) <= len(labels):
            return f"{name} = {' | '.join(labels[c] for c in inside)}"
        return f"{name} ≠ {' | '.join(label for c, label in enumerate(labels) if c not in inside)}"
    known = cells.size - cells.attribute.missing
    numbers = [c for c in inside if c < known]
    missing = ["missing"] * (len(numbers) < len(inside))
    if not numbers:
        return f"{name} missing"
    edges = _edges(cells)
    below, above = numbers[0] == 0, numbers[-1] == known - 1
    if below and above:
        return f"{name} known"
    words = f"{name} < {edges[numbers[-1] + 1]:g}" if below else f"{name} ≥ {edges[numbers[0]]:g}"
    return " or ".join([words, *missing])


def _edges(cells: Cells) -> list[float]:
    """The lower end of each bin."""
    if isinstance(cells, Values):
        return []
    cuts = getattr(cells, "cuts", None)
    return [cells.attribute.lower, *cuts] if cuts is not None else cells.edges().tolist()  # type: ignore[union-attr]
