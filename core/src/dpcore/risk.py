"""Empirical risk: the question for the minimiser of a sum of losses, and its exact answer.

The exact answer is no number but the objective itself, which only a mechanism may evaluate: it perturbs the objective
or the minimiser. One row adds a term l(y w·x) with ‖x‖ ≤ 1: a gradient of norm at most 1, everywhere, and a Hessian of
rank 1 and size at most l'' ‖x‖². Those two facts are all that the sensitivity of such a question needs.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.features import FeatureMap
from dpcore.losses import Logistic, Loss
from dpcore.query import Exact, Query
from dpcore.schema import Nominal

Floats = npt.NDArray[np.float64]
_FINE = 256
_ULP = 2.0**-53
_ROUGH = 8192
_FLAT = 0.1


class Vectors(ABC):
    """Rows as vectors, with how many rows of each class stand for each: what a table makes of a `Design`.

    Attributes:
        memory: for a solver to keep what helps it with the next noise.
        kept: whether the blocks stay in memory instead of being made again.
    """

    kept: bool = True

    def __init__(self) -> None:
        self.memory: dict[Any, Any] = {}

    @abstractmethod
    def blocks(self) -> Iterator[tuple[Any, npt.NDArray[np.int64]]]:
        """Matrices (vectors × width; NumPy's, or SciPy's CSR) and counts (vectors × classes), piece by piece."""


@attrs.frozen
class Design(Query):
    """The rows as vectors of the unit ball with their classes; tables answer it with a 0-d array of `Vectors`."""

    kind: ClassVar[str] = "design"
    features: FeatureMap
    target: Nominal

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def describe(self) -> str:
        return f"vectors of {self.features.width} numbers"


@attrs.frozen
class Minimiser(Query):
    """argmin over w of Σ l(y w·x) + (lam/2) ‖w − centre‖², y = 1 for one class and −1 for all others.

    Args:
        features: how rows become vectors.
        target: the class attribute.
        positive: the code of the class with y = 1.
        loss: l.
        strength: scales the mechanism's own choice of lam, which knows the cost; > 0.
        lam: the regularisation, > 0, where it is decided beforehand; None for the mechanism's choice.
        centre: public or released numbers, shape (features.width,); None for 0.
    """

    kind: ClassVar[str] = "minimiser"
    kept: ClassVar[bool] = False
    features: FeatureMap
    target: Nominal
    positive: int = 1
    loss: Loss = attrs.field(factory=Logistic)
    strength: float = attrs.field(default=1.0, validator=attrs.validators.gt(0))
    lam: float | None = attrs.field(default=None, validator=attrs.validators.optional(attrs.validators.gt(0)))
    centre: tuple[float, ...] | None = None

    def __attrs_post_init__(self) -> None:
        if self.centre is not None and len(self.centre) != self.cells:
            raise ValueError("the centre must have one number for each of the weights")

    @property
    def classes(self) -> int:
        """How many vectors of weights, which sum to zero, are found together; 1 for one by itself."""
        return 1

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.features.width,)

    @property
    def requires(self) -> tuple[Query, ...]:
        return (Design(self.features, self.target),)

    def combine(self, *answers: Exact) -> Exact:
        return boxed(Risk(answers[0].item(), self))

    def describe(self) -> str:
        return f"minimiser of the {self.loss.name} loss of {self.target.name} over {self.features.width} weights"


@attrs.frozen(eq=False)
class GradientBound(Bound):
    """How far one person moves the gradient of an objective, at any point: `value` in L2 (norm `gradient`).

    Args:
        l1: the same in L1.
        width: the number of weights.
        curvature: the largest size of one row's rank-1 term in the Hessian.
        strength, lam: as in `Minimiser`.
        classes: how many groups of weights, which sum to zero over them; 1 where nothing does.
    """

    l1: float = attrs.field(kw_only=True)
    width: int = attrs.field(kw_only=True)
    curvature: float = attrs.field(kw_only=True)
    strength: float = 1.0
    lam: float | None = None
    classes: int = 1


@attrs.frozen(eq=False)
class _Block:
    """Some vectors, and how many rows of the class and of all others stand for each."""

    matrix: Any
    transposed: Any
    ours: Floats
    others: Floats

    def pieces(self, size: int) -> Iterator[_Block]:
        """The same in pieces of so many vectors."""
        for start in range(0, len(self.ours), size):
            where = slice(start, start + size)
            matrix = self.matrix[where]
            yield _Block(matrix, matrix.T, self.ours[where], self.others[where])

    def every(self, step: int) -> _Block:
        """One of so many vectors, as many times."""
        matrix = self.matrix[::step]
        return _Block(matrix, matrix.T, self.ours[::step] * step, self.others[::step] * step)


class Risk:
    """The exact answer to a `Minimiser`: the sum of losses of some vectors, without its regularisation.

    Args:
        vectors: the rows.
        query: which class against the rest, and which loss.

    Attributes:
        centre: where the regularisation pulls to.
    """

    def __init__(self, vectors: Vectors, query: Minimiser) -> None:
        self.width = query.cells
        self.centre = np.zeros(self.width) if query.centre is None else np.asarray(query.centre, dtype=np.float64)
        self._vectors = vectors
        self._positive, self._loss = query.positive, query.loss
        self._entries = query.features.entries
        self._rough = False

    @property
    def memory(self) -> dict[Any, Any]:
        """Shared by all questions of this class and loss about the same rows."""
        kept: dict[Any, Any] = self._vectors.memory.setdefault((self._positive, self._loss), {})
        return kept

    def rough(self) -> Self:
        """The same from a sample of the vectors, for a solver to steer by: its Hessian is never quite flat."""
        found = copy.copy(self)
        found._rough = True
        return found

    def _blocks(self) -> Iterator[Any]:
        memory = self._vectors.memory
        if self._rough:
            key = ("rough", self._key)
            if key not in memory:
                memory[key] = self._sampled()
            return iter(memory[key])
        if not self._vectors.kept:
            return self._made()
        if self._key not in memory:
            memory[self._key] = list(self._made())
        return iter(memory[self._key])

    def _sampled(self) -> list[Any]:
        exact = copy.copy(self)
        exact._rough = False
        step = max(1, sum(self._size(block)[0] for block in exact._blocks()) // max(_ROUGH, 8 * self.width))
        return [block.every(step) for block in exact._blocks()]

    @property
    def _key(self) -> Any:
        return ("blocks", self._positive)

    def projected(self, vector: Floats) -> Floats:
        """The nearest vector that the weights can be."""
        return vector

    def _made(self) -> Iterator[Any]:
        for matrix, counts in self._vectors.blocks():
            ours = counts[:, self._positive].astype(np.float64)
            yield _Block(matrix, matrix.T, ours, counts.sum(axis=1) - ours)

    def gradient(self, w: Floats) -> Floats:
        """Σ l'(y w·x) y x, shape (width,)."""
        total = np.zeros(self.width)
        for block in self._blocks():
            total += self._pull(block, w)
        return total

    def _pull(self, block: Any, w: Floats) -> Floats:
        return np.asarray(block.transposed @ self._loss.pull(block.matrix @ w, block.ours, block.others))

    def certified(self, w: Floats, enough: float = 0.0) -> tuple[Floats, float]:
        """The gradient, and how far in L2 rounding can have moved it at the most.

        With u = 2^-53, a sum of k terms errs by at most k u times the sum of their sizes, in whatever order. Each
        row's term has entries whose sizes add up to at most √entries. It errs by a few u, and by the error of its
        margin, at most (entries + 8) u ‖w‖, times the loss's curvature.

        Args:
            enough: an error that will do; where whole blocks cannot promise it, small pieces are summed instead.
        """
        total, rows, most, pieces = np.zeros(self.width), 0.0, 0, 0
        for block in self._blocks():
            total += self._pull(block, w)
            size, many = self._size(block)
            rows += many
            most, pieces = max(most, size), pieces + 1
        slack = self._slack(w, rows, most + pieces)
        return (total, slack) if slack <= enough else self._finely(w, rows)

    def _size(self, block: Any) -> tuple[int, float]:
        """How many vectors and rows there are in a block."""
        return len(block.ours), float(block.ours.sum() + block.others.sum())

    def _finely(self, w: Floats, rows: float) -> tuple[Floats, float]:
        parts = [self._pull(piece, w) for block in self._blocks() for piece in block.pieces(_FINE)]
        # NumPy sums along the last axis in pairs
        total = np.ascontiguousarray(np.array(parts).reshape(-1, self.width).T).sum(axis=1)
        return total, self._slack(w, rows, _FINE + 24 + np.log2(len(parts) + 1))

    def _slack(self, w: Floats, rows: float, depth: float) -> float:
        bend = self._entries + 8
        return float(_ULP * rows * np.sqrt(self._entries) * (depth + 16)) + bend * self._unit(rows, w)

    def _unit(self, rows: float, w: Floats) -> float:
        """What an error of u ‖w‖ in every margin does to the gradient."""
        return float(_ULP * rows * np.sqrt(self._entries) * self._loss.curvature * np.linalg.norm(w))

    def value(self, w: Floats) -> float:
        """Σ l(y w·x)."""
        total = 0.0
        for block in self._blocks():
            margin = block.matrix @ w
            total += float(block.ours @ self._loss.value(margin) + block.others @ self._loss.value(-margin))
        return total

    def hessian(self, w: Floats) -> Floats:
        """Σ l''(y w·x) x xᵀ, shape (width, width)."""
        total = np.zeros((self.width, self.width))
        for block in self._blocks():
            margin = block.matrix @ w
            curve = block.ours * self._loss.curve(margin) + block.others * self._loss.curve(-margin)
            if self._rough:
                curve += _FLAT * self._loss.curvature * (block.ours + block.others)
            total += gram(block.matrix, curve)
        return total

    def log_determinant(self, w: Floats, lam: float) -> float:
        """ln of the determinant of the Hessian with `lam` on its diagonal, over the vectors that the weights can be."""
        return float(np.linalg.slogdet(self.hessian(w) + lam * np.eye(self.width))[1])


def gram(matrix: Any, weights: Floats) -> Floats:
    """Xᵀ diag(weights) X."""
    if isinstance(matrix, np.ndarray):
        return np.asarray((matrix.T * weights) @ matrix)
    scaled = matrix.copy()
    scaled.data *= np.repeat(weights, np.diff(matrix.indptr))
    return np.asarray((matrix.T @ scaled).toarray())


def boxed(content: Any) -> npt.NDArray[Any]:
    """An exact answer that is no array of numbers, as a 0-d array of objects."""
    box = np.empty((), dtype=object)
    box[()] = content
    return box
