"""Statistical checks of whole answers, whatever they are made of: an identity that only the stated density keeps, and
rank correlations between numbers; each test at alpha = 1e-6."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy.stats import rankdata

from dpcore.privacy import Cost, Pure
from dpcore_testing.checks.base import ALPHA, Failed, Skipped, Subject, check, doing, plural
from dpcore_testing.checks.mechanisms.cases import NUMERIC, Trial, shifts, usual
from dpcore_testing.checks.mechanisms.draws import separable
from dpcore_testing.checks.mechanisms.outputs import Floats
from dpcore_testing.checks.mechanisms.uses import Use, uses

_VECTORS = 2500
_SURE = 5.2
"""Standard errors of a rank correlation: by chance, it is larger with probability 2e-7."""
_CUT = 1.5
"""Where there is no pure epsilon, outputs whose log-ratio is larger are left out on both sides."""
_SEEDS = 5
_ROOM = 1e-6

LogRatio = Callable[[Any], float]


@check("mechanism")
def draws_independently(subject: Subject) -> str:
    """The numbers of a vector get noise of their own: E[p_y / p_x] = 1 under x, and no rank correlations."""
    draw, tested = subject.rng("draws_independently"), 0
    for trial in usual(subject, *NUMERIC):
        with doing(trial.words):
            here = np.zeros(trial.size, dtype=np.int64)
            at = trial.releases(here, draw, _VECTORS)
            if separable(trial, draw):
                _check_ranks(trial.words, np.array(at))
            split = [s for s in shifts(trial, trial.size, draw) if (s != 0).sum() > 1]
            for shift in split[:1]:
                there = trial.releases(here + shift, draw, _VECTORS)
                ratio = _ratio(trial, here, here + shift)
                check_identity(trial.words, trial.cost, ratio, at, there)
            tested += 1
    if not tested:
        raise Skipped("no bound at hand lets it be drawn often.")
    return f"{plural(tested, 'case')} at alpha = {ALPHA:g}"


def _ratio(trial: Trial, here: Any, there: Any, bound: Any = None) -> LogRatio:
    """log p_y(o) / p_x(o), for an output that was drawn on one side or the other."""

    def at(output: Any) -> float:
        one, other = trial.log_density(output, here), trial.log_density(output, there, bound)
        if one == other == -math.inf:
            raise Failed(f"{trial.words}: an output that was drawn has probability 0 by log_density.")
        return other - one

    return at


def _check_ranks(words: str, at: Floats) -> None:
    for what, noise in (("noise", at), ("size of the noise", np.abs(at))):
        for i, j in combinations(range(at.shape[1]), 2):
            one, other = rankdata(noise[:, i]), rankdata(noise[:, j])
            if one.std() == 0 or other.std() == 0:
                continue
            found = float(np.corrcoef(one, other)[0, 1])
            if abs(found) > _SURE / math.sqrt(len(at)):
                raise Failed(f"{words}: the {what} of two numbers has a rank correlation of {found:.2f}, not 0.")


def check_identity(words: str, cost: Cost, ratio: LogRatio, at: Sequence[Any], there: Sequence[Any]) -> None:
    """Compare Σ p_y over outputs with p_y ≤ M p_x as a mean of p_y / p_x under x and as a frequency under y.

    Both are means of bounded terms; how far they differ by chance is bounded by Maurer & Pontil (2009), Theorem 4.
    Densities need no normalisation for this, and answers no coordinates.

    Args:
        ratio: log p_y / p_x of an output.
        at, there: outputs drawn under x and under y.

    Raises:
        Failed: if they differ by more.
    """
    cut = cost.epsilon * (1 + _ROOM) if isinstance(cost, Pure) else _CUT
    ratios = [ratio(output) for output in at]
    terms = np.array([math.exp(r) if r <= cut else 0.0 for r in ratios])
    seen = np.array([float(ratio(output) <= cut) for output in there])
    slack = _bernstein(terms, math.exp(cut)) + _bernstein(seen, 1.0)
    if abs(terms.mean() - seen.mean()) > slack:
        raise Failed(
            f"{words}: draws at two exact answers contradict log_density: a mean of density ratios is "
            f"{terms.mean():.3f} where {seen.mean():.3f} is expected (±{slack:.3f}): the noise has another size or "
            "form, or numbers share it."
        )


def _bernstein(terms: Floats, largest: float) -> float:
    """How far a mean of n independent terms in [0, largest] is from its expectation, at most, but with probability
    `ALPHA` / 2."""
    n, log = len(terms), math.log(8 / ALPHA)
    return math.sqrt(2 * float(terms.var(ddof=1)) * log / n) + 7 * largest * log / (3 * (n - 1))


# -- answers of a kind of their own ----------------------------------------------------------------------------------


@check("mechanism")
def draws_what_it_is_asked(subject: Subject) -> str:
    """Where only what learners ask can be tried: what is drawn then follows its density, within the cost."""
    try:
        tried = len(usual(subject, *NUMERIC, "score"))
    except Skipped:
        tried = 0
    if tried:
        raise Skipped("it takes numbers or scores, on which the other checks try it.")
    found, draw = uses(subject), subject.rng("draws_what_it_is_asked")
    if not found:
        raise Failed(
            "it takes no bound on numbers or scores, and no installed learner uses it: nothing can be checked."
        )
    for use in found:
        with doing(use.words):
            _check_use(use, draw)
    return f"{plural(len(found), 'pair')} of tables, alpha = {ALPHA:g}"


def _check_use(use: Use, draw: np.random.Generator) -> None:
    trial = use.trial
    for seed in range(_SEEDS):
        one, again = (np.asarray(trial.release(use.here, seed)) for _ in range(2))
        if one.tobytes() != again.tobytes():
            raise Failed(f"{use.words}: the same noise source gives two answers: it draws from elsewhere.")
        if one.shape != use.shape or not np.isfinite(one).all():
            raise Failed(f"{use.words}: released are numbers of shape {one.shape}; the query's shape is {use.shape}.")
        if not np.array_equal(one / trial.grid, np.rint(one / trial.grid)):
            raise Failed(f"{use.words}: released numbers are not multiples of the stated grid, {trial.grid:g}.")
    other = Trial(trial.mechanism, use.bound, trial.cost)
    at, there = trial.releases(use.here, draw, _VECTORS), other.releases(use.there, draw, _VECTORS)
    ratio = _ratio(trial, use.here, use.there, use.bound)
    if isinstance(trial.cost, Pure):
        loss = max(abs(ratio(output)) for output in [*at[:200], *there[:200]])
        if loss > trial.cost.epsilon * (1 + _ROOM):
            raise Failed(f"{use.words}: a loss of {loss:.4g} where epsilon = {trial.cost.epsilon:.4g} is charged.")
    check_identity(use.words, trial.cost, ratio, at, there)
