"""The minimiser of a strongly convex objective, to a gradient that is known to be small.

Directions come from one Hessian, factored once and remembered with the rows, and are corrected by the steps taken
(L-BFGS, Nocedal 1980). Where that is slow, the Hessian is computed again. Steps are accepted by the slope along the
direction alone, which stays accurate where differences of values are lost to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.errors import NotConverged
from dpcore.risk import Risk

Floats = npt.NDArray[np.float64]
_MOST = 400
_PATIENCE = 12
"""Steps that one Hessian is used for, before it is seen whether it still serves."""
_MEMORY = 12


@attrs.frozen(eq=False)
class Objective:
    """Σ l + (lam/2) ‖w − centre‖² + b·w."""

    risk: Risk
    lam: float
    push: Floats

    def gradient(self, w: Floats) -> Floats:
        """∇J(w)."""
        return self.risk.gradient(w) + self._rest(w)

    def certified(self, w: Floats, tolerance: float) -> float:
        """A bound of ‖∇J(w)‖ that rounding cannot exceed, loose by not much more than a quarter of the tolerance."""
        pull, slack = self.risk.certified(w, tolerance / 4)
        size = float(self.lam * np.linalg.norm(w - self.risk.centre) + np.linalg.norm(self.push))
        room = 2.0**-40 + 2.0**-52 * len(w)
        return float(np.linalg.norm(pull + self._rest(w))) * (1 + room) + slack + 2.0**-50 * size

    def hessian(self, w: Floats) -> Floats:
        """∇²J(w)."""
        found = self.risk.hessian(w)
        return self.regularised(found)

    def regularised(self, hessian: Floats) -> Floats:
        """The Hessian of the losses, with that of the regularisation added in place."""
        places = np.arange(hessian.shape[-1])
        hessian[..., places, places] += self.lam
        return hessian

    def _rest(self, w: Floats) -> Floats:
        return self.lam * (w - self.risk.centre) + self.push


def minimise(objective: Objective, tolerance: float) -> Floats:
    """w with ‖∇J(w)‖ ≤ tolerance, certified.

    Raises:
        NotConverged: if rounding or the number of steps does not allow it.
    """
    start = objective.risk.centre - objective.push / objective.lam
    w, slope = start, objective.gradient(start)
    near, factor = _anchor(objective)
    other = objective.gradient(near)
    if np.linalg.norm(other) < np.linalg.norm(slope):
        w, slope = near, other
    for _ in range(_MOST // _PATIENCE):
        w, slope, done = _descend(objective, w, slope, factor, tolerance / 4)
        if done:
            break
        factor = _factored(objective, objective.regularised(objective.risk.rough().hessian(w)))
    error = objective.certified(w, tolerance)
    if not error <= tolerance:
        raise NotConverged(
            f"the minimum of the objective could not be found to within {tolerance:.2g} ({error:.2g} was reached), and "
            "an inexact one would not be private. Nothing is released."
        )
    return w


def _anchor(objective: Objective) -> tuple[Floats, Callable[[Floats], Floats]]:
    """Where to start, and an inverse Hessian there, both remembered with the rows: about the minimum without noise.

    They are found by a sample of the rows, for a centre of 0 and the nearest power of two to lam: so they, and all
    bits of what is found from them, do not depend on what was asked before.
    """
    memory, rough = objective.risk.memory, objective.risk.rough()
    octave = round(np.log2(objective.lam))
    key = ("anchor", octave)
    if key not in memory:
        rough.centre = np.zeros_like(rough.centre)
        calm = Objective(rough, 2.0**octave, np.zeros_like(objective.push))
        w = rough.centre
        slope = calm.gradient(w)
        hessian = rough.hessian(w)
        enough = 1e-3 * (1 + float(np.linalg.norm(slope)))
        for _ in range(20):
            solve = _factored(calm, calm.regularised(hessian.copy()))
            w, slope, done = _descend(calm, w, slope, solve, enough)
            if done:
                break
            hessian = rough.hessian(w)
        memory[key] = (w, objective.risk.hessian(w))
    w, hessian = memory[key]
    return w, _factored(objective, objective.regularised(hessian.copy()))


def _factored(objective: Objective, hessian: Floats) -> Callable[[Floats], Floats]:
    """v -> H⁻¹ v; for several matrices, each of a group of weights by itself, and then projected."""
    from scipy.linalg import cho_factor, cho_solve

    if hessian.ndim == 2:
        factor = cho_factor(hessian, lower=True, check_finite=False)
        return lambda vector: np.asarray(cho_solve(factor, vector, check_finite=False))
    factors = [cho_factor(one, lower=True, check_finite=False) for one in hessian]

    def solve(vector: Floats) -> Floats:
        parts = zip(factors, vector.reshape(len(factors), -1), strict=True)
        solved = [cho_solve(factor, part, check_finite=False) for factor, part in parts]
        return objective.risk.projected(np.concatenate(solved))

    return solve


def _descend(
    objective: Objective, w: Floats, slope: Floats, solve: Callable[[Floats], Floats], tolerance: float
) -> tuple[Floats, Floats, bool]:
    """Up to `_PATIENCE` quasi-Newton steps; the last says whether the tolerance was reached."""
    kept: list[tuple[Floats, Floats, float]] = []
    for _ in range(_PATIENCE):
        if np.linalg.norm(slope) <= tolerance:
            return w, slope, True
        way = _direction(slope, kept, solve)
        step, after = _step(objective, w, slope, way)
        if step == 0.0:
            return w, slope, bool(np.linalg.norm(slope) <= 4 * tolerance)
        turn = after - slope
        bend = float(step * way @ turn)
        if bend > 0:
            kept = [*kept[1 - _MEMORY :], (step * way, turn, bend)]
        w, slope = w + step * way, after
    return w, slope, bool(np.linalg.norm(slope) <= tolerance)


def _direction(slope: Floats, kept: list[tuple[Floats, Floats, float]], solve: Callable[[Floats], Floats]) -> Floats:
    q, shares = slope.copy(), []
    for moved, turn, bend in reversed(kept):
        share = float(moved @ q) / bend
        shares.append(share)
        q -= share * turn
    way = solve(q)
    for (moved, turn, bend), share in zip(kept, reversed(shares), strict=True):
        way += (share - float(turn @ way) / bend) * moved
    return -way


def _step(objective: Objective, w: Floats, slope: Floats, way: Floats) -> tuple[float, Floats]:
    """How far to go, and the gradient there: where the slope along the way is at most half of what it was.

    The slope along a direction rises (the objective is convex), so its root is bracketed and found by regula falsi.
    """
    first = float(slope @ way)
    if not first < 0:
        return 0.0, slope
    low, low_slope, high, high_slope, step = 0.0, first, np.inf, np.nan, 1.0
    best: tuple[float, Any] = (0.0, slope)
    for _ in range(30):
        after = objective.gradient(w + step * way)
        along = float(after @ way)
        if abs(along) <= 0.5 * abs(first):
            return step, after
        if along < 0:
            low, low_slope, best = step, along, (step, after)
        else:
            high, high_slope = step, along
        if np.isinf(high):
            step *= min(10.0, max(2.0, first / (first - along) if first < along else 10.0))
        else:
            part = low_slope / (low_slope - high_slope)
            step = low + (high - low) * min(0.9, max(0.1, part))
    return best
