"""How far one person can move an exact answer: the typed value that a rule gives and a mechanism takes."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

NORMS = ("l1", "l2", "score", "gradient")


@attrs.frozen(eq=False)
class Bound:
    """The sensitivity of one query.

    Args:
        value: the bound, ≥ 0, in the answer's units; an array where each cell has its own (one person
            then moves the answer by at most 1 in the norm after division by it), or None in a plan
            when it depends on the rows.
        norm: `l1` or `l2` of the change of the answer, `score` (largest change of any score), or `gradient` (change in
            L2 of an objective's gradient, at any point; see `dpcore.risk`).
        form: `global` (public), `smooth` (private, beta-smooth) or `local` (private, protects nothing).
        grid: the public spacing of the exact answers.
        beta: for `smooth`: S(D) ≤ e^beta S(D') for neighbours.
        rises: the most numbers of the answer that one person can raise at once, None where unknown; a
            histogram has 1 under both adjacencies.
        monotone: for `score`: one person moves all scores the same way.
    """

    value: float | npt.NDArray[np.float64] | None
    norm: str = attrs.field(validator=attrs.validators.in_(NORMS))
    form: str = attrs.field(default="global", validator=attrs.validators.in_(("global", "smooth", "local")))
    grid: float = 1.0
    beta: float | None = None
    rises: int | None = None
    monotone: bool = False

    def scalar(self) -> float:
        """The bound as one number.

        Raises:
            TypeError: if it is not known yet, or not one number.
        """
        if not isinstance(self.value, (int, float)):
            raise TypeError("this bound is not one number")
        return float(self.value)

    def to_json(self) -> Any:
        """The value as plain data, only where it is public."""
        return self.value if self.form == "global" and isinstance(self.value, (int, float)) else None
