"""Class probabilities of a tree's nodes from noisy counts: free post-processing."""

from __future__ import annotations

from collections.abc import Sequence

import attrs
import numpy as np

from dpcore_cart.pool import Floats
from dpcore_cart.tree import Tree


@attrs.frozen(eq=False)
class Measured:
    """Noisy counts of some nodes, (nodes, classes), and the standard deviation of their noise."""

    nodes: tuple[int, ...]
    counts: Floats
    deviation: float


def consistent(tree: Tree, measured: Sequence[Measured]) -> tuple[Floats, Floats]:
    """The counts of all nodes that agree best with all that was measured, and the variance of each.

    Least squares over a tree in two passes (Hay et al. 2010): from the leaves up, each node's own mean and the sum of
    its children are averaged with weights that go as the inverse of their variances; from the root down, what a
    node's children lack is shared among them in proportion to their variances.
    """
    size, classes = len(tree.splits), measured[0].counts.shape[1]
    weight, total = np.zeros(size), np.zeros((size, classes))
    for m in measured:
        nodes, w = list(m.nodes), 1.0 / max(m.deviation, 1e-9) ** 2
        weight[nodes] += w
        total[nodes] += w * m.counts
    first, arity = tree.first, [s.arity if s else 0 for s in tree.splits]
    below = np.full(size, np.inf)  # the variance of what is known of each node from itself and those below it
    counts = np.zeros((size, classes))
    for node in range(size - 1, -1, -1):
        w, t = weight[node], total[node]
        if arity[node]:
            children = slice(first[node], first[node] + arity[node])
            w_sum = 1.0 / below[children].sum()
            w, t = w + w_sum, t + w_sum * counts[children].sum(axis=0)
        below[node], counts[node] = (1.0 / w, t / w) if w > 0 else (1e18, 0.0)
    for node in range(size):
        if arity[node]:
            children = slice(first[node], first[node] + arity[node])
            lack = counts[node] - counts[children].sum(axis=0)
            counts[children] += np.outer(below[children] / below[children].sum(), lack)
    return counts, below


def probabilities(tree: Tree, counts: Floats, variance: Floats, smoothing: float, spread: float) -> Floats:
    """Class probabilities of every node, each drawn towards its parent's, the root's towards equal ones.

    A node of N rows under a parent with class probabilities p is expected to hold N p of them, give or take `spread` N
    √(p (1 − p)). What was found instead is noisy: each count goes back towards the expected one by the part of the
    variance that is noise. Then the parent counts for `smoothing` rows more.

    Args:
        counts: estimated counts of all nodes.
        variance: of their noise.
        smoothing: rows, above 0.
        spread: how far nodes differ from their parents.
    """
    made = np.empty(counts.shape)
    for node, noise in enumerate(variance.tolist()):
        found = counts[node]
        if node == 0:
            above = np.full(counts.shape[1], 1.0 / counts.shape[1])
        else:
            above = made[tree.parent[node]]
            rows = max(float(found.sum()), 0.0)
            expected, signal = rows * above, (spread * rows) ** 2 * above * (1 - above)
            total = signal + noise
            keep = np.divide(signal, total, out=np.zeros_like(signal), where=total > 0)
            found = expected + keep * (found - expected)
        made[node] = np.maximum(found, 0.0) + smoothing * above
        made[node] /= made[node].sum()
    return made
