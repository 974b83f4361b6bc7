"""Checks of how much noise a mechanism says it adds."""

from __future__ import annotations

import math

import attrs
import numpy as np

from dpcore.mechanism import Calibration
from dpcore.privacy import GDP, ZCDP, Approximate, Cost, Pure
from dpcore_testing.checks.base import Failed, Skipped, Subject, check, doing, plural
from dpcore_testing.checks.mechanisms.cases import NUMERIC, Trial, trials, usual

_EXACT = 1e-6
"""Scales are rounded up by less than this, relatively."""
_DRAWS = 4000
_SURE = 5.5
"""Standard errors: a mean of draws is off by more with probability below 1e-6, skewed as noise may be."""


@check("mechanism")
def calibrates(subject: Subject) -> str:
    """The scale is positive, doubles with the unit of the answer, and grows as bounds grow and costs fall."""
    found = trials(subject, *NUMERIC, "score")
    for trial in found:
        with doing(trial.words):
            here = _calibration(trial)
            _check_unit(trial, here)
            if not isinstance(trial.bound.value, np.ndarray):
                _check_order(trial, here)
            _check_unknown(trial)
    return f"{plural(len(found), 'bound')} and costs"


def _calibration(trial: Trial) -> Calibration:
    found = trial.mechanism.calibrate(trial.bound, trial.cost)
    if not isinstance(found, Calibration):
        raise Failed(f"{trial.words}: calibrate gives a {type(found).__name__}, not a Calibration.")
    for name, value in (("scale", found.scale), ("expected_error", found.expected_error)):
        if value is not None and not 0 < value < math.inf:
            raise Failed(f"{trial.words}: the {name} is {value}.")
    if not 0 <= found.grid < math.inf:
        raise Failed(f"{trial.words}: the grid is {found.grid}.")
    if found.scale is None and trial.bound.form == "global":
        raise Failed(f"{trial.words}: the bound is public, and the scale is not known.")
    return found


def _check_unit(trial: Trial, here: Calibration) -> None:
    """Metres or half metres: the same noise."""
    b = trial.bound
    value = None if b.value is None else 2 * b.value
    there = trial.mechanism.calibrate(attrs.evolve(b, value=value, grid=2 * b.grid), trial.cost)
    for name in ("scale", "expected_error"):
        one, two = getattr(here, name), getattr(there, name)
        if one is not None and not math.isclose(two, 2 * one, rel_tol=_EXACT):
            raise Failed(f"{trial.words}: in half the unit the {name} is {two:.6g}, not twice {one:.6g}.")


def _check_order(trial: Trial, here: Calibration) -> None:
    """More sensitive: more noise. Dearer: less noise."""
    more = attrs.evolve(trial.bound, value=4 * trial.bound.scalar())
    for words, bound, cost, grows in (
        ("four times the bound", more, trial.cost, True),
        ("four times the cost", trial.bound, _times(trial.cost, 4), False),
    ):
        if not trial.mechanism.fits(bound, cost):
            continue
        there = trial.mechanism.calibrate(bound, cost)
        # the error is what a mechanism that chooses among several forms of noise makes small
        name = "scale" if here.expected_error is None else "expected_error"
        one, other = getattr(here, name), getattr(there, name)
        if one is not None and not (other > one if grows else other < one):
            raise Failed(f"{trial.words}: the {name} is {one:.6g}, and {other:.6g} at {words}.")


def _times(cost: Cost, factor: float) -> Cost:
    match cost:
        case Pure(epsilon):
            return Pure(epsilon * factor)
        case ZCDP(rho):
            return ZCDP(rho * factor)
        case GDP(square):
            return GDP(square * factor)
        case Approximate(epsilon, delta):
            return Approximate(epsilon * factor, delta * factor)


def _check_unknown(trial: Trial) -> None:
    """In a plan, the value of a bound that depends on the rows is not known."""
    unknown = attrs.evolve(trial.bound, value=None)
    if trial.bound.norm == "score" or not trial.mechanism.fits(unknown, trial.cost):
        return
    found = trial.mechanism.calibrate(unknown, trial.cost)
    if found.scale is not None or found.expected_error is not None:
        raise Failed(f"{trial.words}: without a value of the bound, the scale must be None.")


@check("mechanism")
def errs_as_expected(subject: Subject) -> str:
    """The mean absolute noise that is drawn is the `expected_error` that plans show."""
    tried, draw = 0, subject.rng("errs_as_expected")
    for trial in usual(subject, *NUMERIC):
        with doing(trial.words):
            stated = trial.mechanism.calibrate(trial.bound, trial.cost).expected_error
            if stated is None:
                continue
            drawn = np.asarray(trial.release(np.full(_DRAWS, trial.far), int(draw.integers(2**31))), dtype=np.float64)
        error = np.abs(drawn - trial.far * trial.bound.grid)
        slack = _SURE * error.std() / math.sqrt(_DRAWS) + 0.02 * stated
        if abs(error.mean() - stated) > slack:
            raise Failed(f"{trial.words}: the mean absolute noise is {error.mean():.4g}, not {stated:.4g}.")
        tried += 1
    if not tried:
        raise Skipped("it states no expected error.")
    return f"{plural(tried, 'case')} of {_DRAWS} draws"
