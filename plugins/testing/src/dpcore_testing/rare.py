"""Approximate guarantees: how often a loss above epsilon occurs, weighed against delta.

(epsilon, delta)-privacy is E[max(0, 1 − e^(epsilon − L))] ≤ delta for the loss L of an output drawn on one table. A
delta of 1e-6 would take millions of plain runs. Instead outputs are drawn from a *tilted* release, around an answer
moved so far that losses near epsilon are typical, and each counts with its likelihood ratio (importance sampling): an
unbiased estimate with a small error from some hundred runs.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.optimize import brentq

from dpcore.planned import Plan
from dpcore_testing.lockstep import Replay, replay
from dpcore_testing.outputs import Tilted
from dpcore_testing.pairs import Pair

Floats = npt.NDArray[np.float64]

RUNS = 300
MORE = 8 * RUNS
"""Runs where outputs are seen that are impossible on the other table, and too seldom to be sure of their weight."""
_SURE = 5.0
"""Standard errors that a witnessed delta is taken off: a false alarm has probability 3e-7."""
_MOST = 80.0
_STEPS = 201


def witnessed_at(plan: Plan, pair: Pair, half: float, rng: np.random.Generator) -> tuple[float, list[Replay]]:
    """The largest epsilon that the transcripts of one pair refute at the plan's delta; 0 if none.

    Args:
        plan: with delta > 0.
        pair: the loss is that of its left table against its right one.
        half: the loss at the exact answers, half of mu² where the noise is Gaussian.
        rng: decides the outputs.
    """
    epsilon, delta = plan.total
    tilt = max(0.0, epsilon / (2 * half) - 0.5) if half > 0 else 0.0
    found: list[Replay] = []
    for runs in (RUNS, MORE):
        sample = [replay(plan, pair, Tilted(tilt), rng) for _ in range(runs)]
        found += sample
        broken = next((r for r in sample if r.divergence is not None), None)
        if broken is not None:
            return -math.inf, [broken, *found]
        losses = np.array([r.loss for r in sample])
        weights = np.exp(np.minimum([r.log_weight for r in sample], _MOST))
        witnessed = _largest(losses, weights, epsilon, delta)
        # some outputs are impossible on the other table: how likely they are takes more runs, looked at on their own
        if witnessed > epsilon or not (weights[np.isposinf(losses)] > 0).any():
            break
    return witnessed, found


def _largest(losses: Floats, weights: Floats, epsilon: float, delta: float) -> float:
    """The largest epsilon that weighted losses refute at delta; 0 if none."""

    def refuted(at: float) -> float:
        return _surely(weights * -np.expm1(np.minimum(at - losses, 0.0))) - delta

    top = float(np.max(losses[np.isfinite(losses)], initial=epsilon)) + 1.0
    if refuted(top) > 0:  # outputs that are impossible on the other table
        return math.inf
    # the tilt is for losses near epsilon; far below, the estimate is poor and refutes nothing
    steps = np.linspace(0.0, top, _STEPS)
    last = max((float(at) for at in steps if refuted(float(at)) > 0), default=None)
    if last is None:
        return 0.0
    return float(brentq(refuted, last, last + top / (_STEPS - 1), xtol=1e-9))


def _surely(terms: Floats) -> float:
    """A mean, less as many standard errors as a chance finding would take."""
    return float(terms.mean() - _SURE * terms.std(ddof=1) / math.sqrt(len(terms)))
