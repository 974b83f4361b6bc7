"""Checks of how a mechanism behaves: where its randomness comes from, what it gives back, what it leaves alone."""

from __future__ import annotations

import math
import random
from typing import Any

import numpy as np

from dpcore.noise import SeededNoise
from dpcore_testing.checks.base import ALPHA, Failed, Skipped, Subject, check, doing, plural
from dpcore_testing.checks.mechanisms.cases import NUMERIC, Trial, usual
from dpcore_testing.checks.mechanisms.outputs import Floats

_SEEDS = 40
_HUGE = 2**40
_DRAWS = 2000


@check("mechanism")
def draws_from_its_source(subject: Subject) -> str:
    """All randomness comes from the noise source that it is given, and there is some."""
    tried = 0
    for trial in usual(subject, *NUMERIC, "score"):
        exact = np.zeros(3) if trial.bound.norm == "score" else np.array([0, 5, -2])
        with doing(trial.words):
            given = [_seeded(trial, exact, seed, elsewhere=1) for seed in range(_SEEDS)]
            again = [_seeded(trial, exact, seed, elsewhere=2) for seed in range(_SEEDS)]
        if given != again:
            raise Failed(f"{trial.words}: the same noise source gives two answers: it draws from elsewhere.")
        if len(set(given)) == 1:
            raise Failed(f"{trial.words}: {_SEEDS} noise sources give one answer: there is no noise in it.")
        tried += 1
    if not tried:
        raise Skipped("it takes no bound at hand.")
    return f"{plural(tried, 'case')} of {_SEEDS} sources"


def _seeded(trial: Trial, exact: Any, seed: int, *, elsewhere: int) -> bytes:
    """One release, as bytes; global random generators must be of no account and left alone."""
    random.seed(elsewhere)
    np.random.seed(elsewhere)  # noqa: NPY002
    before = random.getstate(), np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    output = trial.release(exact, seed)
    if before != (random.getstate(), np.random.get_state()[1].tolist()):  # type: ignore[index]  # noqa: NPY002
        raise Failed(f"{trial.words}: it draws from the global random generators.")
    return np.asarray(output).tobytes()


@check("mechanism")
def keeps_the_form(subject: Subject) -> str:
    """What is released has the exact answer's shape, lies on the stated grid, and the exact answer is not changed."""
    draw, tried = subject.rng("keeps_the_form"), 0
    for trial in usual(subject, *NUMERIC):
        for shape in ((), (1,), (2, 3), (1000,)):
            exact = draw.integers(-5, 50, size=shape)
            with doing(f"{trial.words}, exact answer of shape {shape}"):
                _check_form(trial, exact, int(draw.integers(2**31)))
            tried += 1
        with doing(f"{trial.words}, exact answers of ±2^40"):
            _check_huge(trial, draw)
    if not tried:
        raise Skipped("it takes no bound at hand.")
    return plural(tried, "release")


def _check_form(trial: Trial, exact: Any, seed: int) -> None:
    before = np.array(exact)
    mine = np.array(exact)  # writable, so that writing is seen
    output = trial.mechanism.release(mine, trial.bound, trial.cost, SeededNoise(seed))
    where = f"{trial.words}, exact answer of shape {before.shape}"
    if not isinstance(output, np.ndarray) or output.dtype != np.float64 or output.shape != before.shape:
        found = f"a {type(output).__name__}, not an array"
        if isinstance(output, np.ndarray):
            found = f"{output.dtype} of shape {output.shape}"
        raise Failed(f"{where}: released is {found}; it must be a float64 array of the same shape.")
    if not np.array_equal(mine, before):
        raise Failed(f"{where}: releasing changes the exact answer.")
    if not np.isfinite(output).all():
        raise Failed(f"{where}: released numbers are not all finite.")
    steps = output / trial.grid
    if not np.array_equal(steps, np.rint(steps)):
        raise Failed(f"{where}: released numbers are not multiples of the stated grid, {trial.grid:g}.")


def _check_huge(trial: Trial, draw: np.random.Generator) -> None:
    """Large answers must not swallow the noise, or break."""
    usual_noise = _noise(trial, trial.far, draw)
    for exact in (_HUGE, -_HUGE):
        found = _noise(trial, exact, draw)
        if not np.isfinite(found).all():
            raise Failed(f"{trial.words}: an exact answer of {exact} steps gives numbers that are not finite.")
        distance = _two_samples(usual_noise, found)
        most = 2 * math.sqrt(math.log(4 / ALPHA) / (2 * _DRAWS))
        # noise of mechanisms that cut off below 0 is another there, and their density says so
        if distance > most and not (exact < 0 and _cuts_off(trial)):
            raise Failed(f"{trial.words}: the noise on an exact answer of {exact} steps is not that on {trial.far}.")


def _noise(trial: Trial, exact: int, draw: np.random.Generator) -> Floats:
    centre = np.full(_DRAWS, exact)
    return np.asarray(trial.release(centre, int(draw.integers(2**31)))) - centre * trial.bound.grid


def _cuts_off(trial: Trial) -> bool:
    """Whether the density of an output near the exact answer depends on the answer's sign."""
    near = [trial.log_density(np.array([c * trial.bound.grid]), np.array([c])) for c in (_HUGE, -_HUGE)]
    return not math.isclose(*near, abs_tol=1e-6)


def _two_samples(one: Floats, other: Floats) -> float:
    """The largest distance of two empirical cumulative distributions."""
    at = np.concatenate([one, other])
    first = np.searchsorted(np.sort(one), at, side="right") / len(one)
    second = np.searchsorted(np.sort(other), at, side="right") / len(other)
    return float(np.abs(first - second).max())
