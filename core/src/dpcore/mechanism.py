"""The contract of a mechanism: noise of the size that a bound and a cost ask for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.component import Citation
from dpcore.noise import NoiseSource
from dpcore.privacy import Approximate, Cost, Pure

Answer = npt.NDArray[np.float64] | int


@attrs.frozen
class Calibration:
    """What a mechanism will do, known without data.

    Args:
        scale: the noise's scale in the answer's units, or None where it depends on the rows.
        grid: the public spacing of what is released.
        expected_error: the mean absolute noise of one number, None where it depends on the rows.
    """

    scale: float | None
    grid: float
    expected_error: float | None


class Mechanism(ABC):
    """Perturbs an exact answer so that the release costs no more than it is charged.

    Class attributes: `accepts`, the norms of bounds it can take; `costs`, the kinds of cost it can be
    calibrated to; and for people `summary`, `citation`, `notes`.
    """

    accepts: ClassVar[tuple[str, ...]]
    forms: ClassVar[tuple[str, ...]] = ("global",)
    costs: ClassVar[tuple[type[Cost], ...]] = (Pure,)
    guarantee: ClassVar[str] = "pure epsilon"
    adjacency: ClassVar[tuple[str, ...]] = ("add-remove", "replace-one")
    citation: ClassVar[Citation | None] = None
    notes: ClassVar[str] = ""

    def fits(self, bound: Bound, cost: Cost) -> bool:
        """Whether it can take this bound at this cost. A `local` bound is taken as if it were global: only
        the curator may let one through, and only for a model marked as not private."""
        form = "global" if bound.form == "local" else bound.form
        return bound.norm in self.accepts and form in self.forms and isinstance(cost, self.costs)

    def payable(self, cost: Cost) -> Cost:
        """What it would be charged of a cost: no delta, where it has no use for one."""
        if isinstance(cost, Approximate) and Approximate not in self.costs:
            return Pure(cost.epsilon)
        return cost

    @abstractmethod
    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        """The noise for this bound and cost; reads no data."""

    @abstractmethod
    def release(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        """The noisy answer.

        Args:
            exact: whole numbers, in units of `bound.grid` (or scores, for a choice).
            bound: how far one person moves it.
            cost: what has been charged.
            noise: the only place to draw randomness from.

        Returns:
            float64 of the same shape, in the answer's units; an index for a choice, one a row (as float64) where
            the scores are a matrix.
        """

    @abstractmethod
    def log_density(self, output: Answer, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> float:
        """The log-probability (on the grid) of releasing `output`, up to a constant that does not depend on
        `exact`: what an audit compares between neighbours."""

    def without_noise(self, exact: npt.NDArray[Any], bound: Bound, cost: Cost) -> Answer:
        """What it would release if it perturbed nothing: for comparisons, never for a release."""
        if bound.norm == "score":
            return int(np.argmax(exact)) if exact.ndim == 1 else np.argmax(exact, axis=1).astype(np.float64)
        return np.asarray(exact * bound.grid, dtype=np.float64)
