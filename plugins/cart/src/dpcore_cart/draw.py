"""A tree as a figure, by matplotlib."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dpcore.errors import InputError
from dpcore_cart.model import FittedTree
from dpcore_cart.text import condition, verdict

_LONGEST = 28


def draw(fitted: FittedTree, classes: tuple[str, ...], path: Path) -> None:
    """Draw it: leaves side by side, every node above the middle of its children, coloured by its class.

    Raises:
        InputError: if matplotlib is not installed, or the file cannot be written.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.colors import to_rgb
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("drawing a tree needs matplotlib: pip install 'dpcore-cart[figure]'.") from None
    tree = fitted.tree
    across, depth = places(fitted), tree.depth
    width, height = max(5.0, 1.8 * len(tree.leaves)), 1.4 * (float(depth.max()) + 1)
    figure = Figure(figsize=(width, height))
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(-0.6, len(tree.leaves) - 0.4)
    axes.set_ylim(-float(depth.max()) - 0.5, 0.5)
    for node in range(len(tree.splits)):
        parent, x, y = int(tree.parent[node]), float(across[node]), -float(depth[node])
        words = verdict(fitted, node, classes)
        if parent >= 0:
            split = tree.splits[parent]
            axes.plot([float(across[parent]), x], [-float(depth[parent]), y], color="0.7", linewidth=1, zorder=1)
            if split is not None:
                found = condition(tree.cells[split.attribute], split, node - int(tree.first[parent]))
                words = f"{found if len(found) <= _LONGEST else found[: _LONGEST - 1] + '…'}\n{words}"
        best = int(np.argmax(fitted.log[node]))
        pale = tuple(0.65 + 0.35 * part for part in to_rgb(f"C{best % 10}"))
        box = {"boxstyle": "round,pad=0.3", "facecolor": pale, "edgecolor": "0.4"}
        axes.text(x, y, words, ha="center", va="center", fontsize=7, bbox=box, zorder=2, parse_math=False)
    try:
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot draw to {str(path)!r}: {error}.") from None


def places(fitted: FittedTree) -> list[float]:
    """How far to the right each node stands: leaves at 0, 1, 2, …, a parent above the middle of its children."""
    tree = fitted.tree
    found = [0.0] * len(tree.splits)
    stack, leaf = [0], 0
    while stack:
        node = stack.pop()
        split, first = tree.splits[node], int(tree.first[node])
        if split is None:
            found[node], leaf = float(leaf), leaf + 1
        else:
            stack += [first + child for child in reversed(range(split.arity))]
    for node in reversed(range(len(tree.splits))):
        split, first = tree.splits[node], int(tree.first[node])
        if split is not None:
            children = found[first : first + split.arity]
            found[node] = sum(children) / len(children)
    return found
