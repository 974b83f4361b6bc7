"""Multinomial logistic regression as empirical risk: one vector of weights a class, all found at once.

A row adds −ln p_y, p the softmax of w_c·x. Its gradient is (p − e_y) ⊗ x: its L1 norm is at most twice that of x, and
its L2 norm √2, however many classes there are; a class against all others, in turn, would cost as much for each class.
The Hessian's term (diag p − p pᵀ) ⊗ x xᵀ has rank k − 1 and trace at most 1 − 1/k. Gradients sum to zero over the
classes, so noise may be projected onto what does: that of the noisy gradient is post-processing, and the weights, which
it decides, sum to zero, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.losses import Logistic
from dpcore.query import Exact
from dpcore.risk import Minimiser, Risk, Vectors, boxed, gram

Floats = npt.NDArray[np.float64]


@attrs.frozen
class JointMinimiser(Minimiser):
    """argmin over w_1 … w_k, Σ w_c = 0, of −Σ ln p_y + (lam/2) Σ ‖w_c − centre_c‖².

    The answer has the classes' weights one after the other. `positive` and `loss` say nothing here.

    Args:
        centre: shape (classes · features.width,), summing to 0 over the classes; None for 0.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.target.cells * self.features.width,)

    @property
    def classes(self) -> int:
        return self.target.cells

    def combine(self, *answers: Exact) -> Exact:
        return boxed(JointRisk(answers[0].item(), self))

    def describe(self) -> str:
        return (
            f"minimiser of the multinomial logistic loss of {self.target.name} over {self.classes} × "
            f"{self.features.width} weights"
        )


@attrs.frozen(eq=False)
class _Block:
    """Some vectors, and how many rows of each class stand for each."""

    matrix: Any
    transposed: Any
    counts: Floats
    rows: Floats

    def pieces(self, size: int) -> Iterator[_Block]:
        """The same in pieces of so many vectors."""
        for start in range(0, len(self.counts), size):
            where = slice(start, start + size)
            matrix = self.matrix[where]
            yield _Block(matrix, matrix.T, self.counts[where], self.rows[where])

    def every(self, step: int) -> _Block:
        """One of so many vectors, as many times."""
        matrix = self.matrix[::step]
        return _Block(matrix, matrix.T, self.counts[::step] * step, self.rows[::step] * step)


class JointRisk(Risk):
    """The exact answer to a `JointMinimiser`. Weights and gradients are flat, shape (classes · width,)."""

    def __init__(self, vectors: Vectors, query: JointMinimiser) -> None:
        super().__init__(vectors, query)
        self._loss = Logistic()
        self._classes, self._each = query.classes, query.features.width

    @property
    def memory(self) -> dict[Any, Any]:
        kept: dict[Any, Any] = self._vectors.memory.setdefault("joint", {})
        return kept

    def _made(self) -> Iterator[Any]:
        for matrix, counts in self._vectors.blocks():
            yield _Block(matrix, matrix.T, counts.astype(np.float64), counts.sum(axis=1).astype(np.float64))

    @property
    def _key(self) -> Any:
        return "joint blocks"

    def projected(self, vector: Floats) -> Floats:
        each = vector.reshape(self._classes, self._each)
        return np.asarray((each - each.mean(axis=0)).ravel())

    def _chances(self, block: Any, w: Floats) -> Floats:
        scores: Floats = np.asarray(block.matrix @ w.reshape(self._classes, self._each).T)
        scores -= scores.max(axis=1, keepdims=True)
        np.exp(scores, out=scores)
        return np.asarray(scores / scores.sum(axis=1, keepdims=True))

    def _pull(self, block: Any, w: Floats) -> Floats:
        pull = self._chances(block, w) * block.rows[:, None] - block.counts
        return self.projected(np.ascontiguousarray(np.asarray(block.transposed @ pull).T).ravel())

    def _size(self, block: Any) -> tuple[int, float]:
        return len(block.counts), float(block.rows.sum())

    def _slack(self, w: Floats, rows: float, depth: float) -> float:
        # softmax and projection add their own sums over the classes to every term, and each term has two parts
        return 4 * super()._slack(w, rows, depth + 4 * self._classes + 16)

    def value(self, w: Floats) -> float:
        total = 0.0
        for block in self._blocks():
            scores = np.asarray(block.matrix @ w.reshape(self._classes, self._each).T)
            top = scores.max(axis=1)
            total += float(block.rows @ (top + np.log(np.exp(scores - top[:, None]).sum(axis=1))))
            total -= float((block.counts * scores).sum())
        return total

    def hessian(self, w: Floats) -> Floats:
        """Of each class's weights by themselves, shape (classes, width, width); close enough to steer by."""
        total = np.zeros((self._classes, self._each, self._each))
        for block in self._blocks():
            p = self._chances(block, w)
            curve = block.rows[:, None] * p * (1 - p)
            for c in range(self._classes):
                total[c] += gram(block.matrix, curve[:, c])
        return total

    def log_determinant(self, w: Floats, lam: float) -> float:
        k, p = self._classes, self._each
        whole = np.zeros((k, p, k, p))
        for block in self._blocks():
            chances = self._chances(block, w)
            for c in range(k):
                for d in range(k):
                    both = block.rows * chances[:, c] * ((c == d) - chances[:, d])
                    whole[c, :, d, :] += gram(block.matrix, both)
        # an orthonormal basis of what sums to zero over the classes
        basis = np.linalg.svd(np.eye(k) - 1 / k)[0][:, : k - 1]
        inside = np.einsum("ca,cpdq,db->apbq", basis, whole, basis, optimize=True).reshape((k - 1) * p, (k - 1) * p)
        return float(np.linalg.slogdet(inside + lam * np.eye(len(inside)))[1])
