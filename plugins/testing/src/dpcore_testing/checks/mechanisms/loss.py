"""Checks of what a release can cost, by the mechanism's own densities: numbers, vectors and choices."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from dpcore.accounting import gdp_delta
from dpcore.bound import Bound
from dpcore.privacy import GDP, ZCDP, Approximate, Cost, Pure
from dpcore_testing.checks.base import Failed, Subject, check, doing, plural
from dpcore_testing.checks.mechanisms.cases import COSTS, NUMERIC, Trial, neighbouring_bounds, shifts, trials
from dpcore_testing.checks.mechanisms.outputs import Floats, line, outputs, some_outputs

ORDERS = (1.25, 2.0, 4.0, 16.0, 64.0)
"""Orders of the Rényi divergence, which rho-zCDP bounds by rho · order."""
_ROOM = 1e-6
_QUADRATURE = 0.01
"""Sums stand for integrals: relative error of a divergence; a mechanism that is off by more is found."""
_LEAST = 1e-6
"""A delta that sums cannot tell from 0."""
_CENTRES = (0, -4, 1000)
"""Exact answers: at zero, on both sides of it, and far away, where a mechanism that cuts off shows."""


@check("mechanism")
def costs_what_it_charges(subject: Subject) -> str:
    """No two exact answers within the bound have densities further apart than the cost allows."""
    draw, found = subject.rng("costs_what_it_charges"), trials(subject, *NUMERIC, "score")
    for trial in found:
        with doing(trial.words):
            if trial.bound.norm == "score":
                _check_choices(trial, draw)
            elif isinstance(trial.cost, Pure):
                _check_pure(trial, draw)
            elif isinstance(trial.bound.value, np.ndarray):
                _check_vectors(trial, draw)
            else:
                _check_line(trial)
                _check_vectors(trial, draw)
    return f"{plural(len(found), 'bound')} and costs"


# -- pure epsilon: the largest log-ratio ----------------------------------------------------------------------------


def _check_pure(trial: Trial, draw: np.random.Generator) -> None:
    for size in {trial.size} if isinstance(trial.bound.value, np.ndarray) else (1, trial.size):
        for start in _CENTRES:
            here = np.full(size, start, dtype=np.int64)
            if size == 1:
                at = list(outputs(trial, [start], fine=4, near=6, wider=1.5)[:, None])
            else:
                at = some_outputs(trial, here, draw, 16)
            densities = [trial.log_density(o, here) for o in at]
            for shift in shifts(trial, size, draw):
                _check_shift(trial, at, densities, here, shift)


def _check_shift(
    trial: Trial, at: list[Floats], densities: list[float], here: npt.NDArray[np.int64], shift: npt.NDArray[np.int64]
) -> None:
    epsilon = trial.cost.epsilon  # type: ignore[union-attr]
    for bound in neighbouring_bounds(trial):
        if _within(shift, bound):
            loss = _largest(trial, at, densities, here + shift, bound)
            if loss > epsilon * (1 + _ROOM) + 1e-9:
                raise Failed(
                    f"{trial.words}: exact answers {here.tolist()} and {(here + shift).tolist()} (in steps) show a "
                    f"loss of {loss:.4g}."
                )


def _within(shift: npt.NDArray[np.int64], bound: Bound) -> bool:
    """A smooth bound holds on both sides: the smaller one limits the change."""
    if isinstance(bound.value, np.ndarray):
        return True
    moved = np.abs(shift).sum() if bound.norm == "l1" else float(np.linalg.norm(shift))
    return bool(moved * bound.grid <= bound.scalar() * (1 + 1e-9))


def _largest(
    trial: Trial, at: Iterable[Floats], densities: list[float], there: npt.NDArray[np.int64], bound: Bound
) -> float:
    """The largest |log-ratio| over outputs that are possible on at least one side."""
    worst = 0.0
    for output, here in zip(at, densities, strict=True):
        other = trial.log_density(output, there, bound)
        if here != other:  # both impossible: no output of either
            worst = max(worst, abs(here - other))
    return worst


# -- zCDP and GDP: divergences of whole distributions ----------------------------------------------------------------


def _check_line(trial: Trial) -> None:
    """One number that moves by the whole bound."""
    step = trial.reach
    for start in (0, 1000) if step else ():
        at = outputs(trial, [start, start + step], fine=8, near=12, wider=1.25)
        first = line(trial, start, at).log_mass
        for bound in neighbouring_bounds(trial):
            if _within(np.array([step]), bound):
                second = line(trial, start + step, at, bound).log_mass
                _compare(trial, first, second, f"exact answers {start} and {start + step}")


def _check_vectors(trial: Trial, draw: np.random.Generator) -> None:
    """Two numbers that share the bound: the distribution on a square around them; at the usual cost only."""
    shared = [s for s in shifts(trial, 2, draw) if (s != 0).all()]
    if trial.cost != COSTS[type(trial.cost)][-1] or not shared:
        return
    shift, here = shared[0], np.zeros(2, dtype=np.int64)
    first_side, second_side = (outputs(trial, [0, int(s)], fine=4, near=7, wider=1e12) for s in shift)
    square = [np.array([a, b]) for a in first_side for b in second_side]
    first = _normalised([trial.log_density(o, here) for o in square])
    second = _normalised([trial.log_density(o, here + shift) for o in square])
    _compare(trial, first, second, f"exact answers {here.tolist()} and {shift.tolist()}", room=4 * _QUADRATURE)


def _normalised(log: list[float]) -> Floats:
    found = np.array(log)
    return np.asarray(found - found.max() - math.log(np.exp(found - found.max()).sum()))


def _compare(trial: Trial, first: Floats, second: Floats, words: str, *, room: float = _QUADRATURE) -> None:
    """Raise `Failed` if two distributions are further apart than the cost allows, in either direction."""
    for p, q in ((first, second), (second, first)):
        if isinstance(trial.cost, ZCDP):
            for order in ORDERS:
                found, most = renyi(p, q, order), trial.cost.rho * order
                if found > most * (1 + room) + 1e-9:
                    raise Failed(
                        f"{trial.words}: {words} (in steps) have a Rényi divergence of order {order:g} of "
                        f"{found:.4g}, more than {most:.4g}."
                    )
        for epsilon, most in _deltas(trial.cost):
            found = hockey_stick(p, q, epsilon)
            if found > most * (1 + room) + _LEAST:
                raise Failed(
                    f"{trial.words}: {words} (in steps) show delta = {found:.4g} at epsilon = {epsilon:.3g}, more "
                    f"than {most:.4g}."
                )


def _deltas(cost: Cost) -> list[tuple[float, float]]:
    """Each epsilon that is looked at, and the delta that the cost allows there."""
    if isinstance(cost, GDP):
        mu = math.sqrt(cost.square)
        return [(epsilon, gdp_delta(cost.square, epsilon)) for epsilon in (0.0, 0.5 * mu, 2 * mu)]
    return [(cost.epsilon, cost.delta)] if isinstance(cost, Approximate) else []


def renyi(log_p: Floats, log_q: Floats, order: float) -> float:
    """The Rényi divergence of p from q, from log-probabilities."""
    seen = log_p > -np.inf
    if (log_q[seen] == -np.inf).any():
        return math.inf
    terms = order * log_p[seen] + (1 - order) * log_q[seen]
    top = terms.max()
    return float(top + math.log(np.exp(terms - top).sum())) / (order - 1)


def hockey_stick(log_p: Floats, log_q: Floats, epsilon: float) -> float:
    """The delta at which p and q are (epsilon, delta)-close: Σ max(0, p − e^epsilon q)."""
    return float(np.maximum(np.exp(log_p) - np.exp(epsilon + log_q), 0.0).sum())


# -- choices: all candidates -----------------------------------------------------------------------------------------


def _check_choices(trial: Trial, draw: np.random.Generator) -> None:
    for scores in score_vectors(trial.bound.scalar(), draw):
        here = choice_distribution(trial, scores)
        for change in _changes(trial, len(scores), draw):
            there = choice_distribution(trial, scores + change)
            if isinstance(trial.cost, Pure):
                loss = float(np.abs(here - there).max())
                if loss > trial.cost.epsilon * (1 + _ROOM) + 1e-9:
                    raise Failed(f"{trial.words}: scores that change by {change.tolist()} show a loss of {loss:.4g}.")
            _compare(trial, here, there, f"scores that change by {change.tolist()}", room=_ROOM)


def choice_distribution(trial: Trial, scores: Floats) -> Floats:
    """The normalised log-probability of each candidate."""
    return _normalised([trial.log_density(i, scores) for i in range(len(scores))])


def score_vectors(unit: float, draw: np.random.Generator) -> list[Floats]:
    """Scores with ties, with a clear best, negative ones, and one candidate alone."""
    some = [[0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 2.0], [-3.0, 5.0], [10.0, *[0.0] * 9]]
    return [np.array(s) * unit for s in some] + [draw.normal(scale=2 * unit, size=6)]


def _changes(trial: Trial, size: int, draw: np.random.Generator) -> list[Floats]:
    """How neighbours may change the scores: all the same way, each as far as the bound allows, where it is monotone."""
    most = trial.bound.scalar()
    some = [most * np.eye(size)[0], most * np.ones(size), most * draw.integers(0, 2, size=size)]
    if not trial.bound.monotone:
        some += [most * (1 - 2 * np.eye(size)[i]) for i in {0, size - 1}]
    return [sign * change for change in some for sign in (1.0, -1.0)]
