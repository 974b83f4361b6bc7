"""Statistical checks of what a mechanism draws, against what its own densities say; each test at alpha = 1e-6."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from scipy.stats import chi2, rankdata

from dpcore.privacy import Pure
from dpcore_testing.checks.base import ALPHA, Failed, Skipped, Subject, check, doing, plural
from dpcore_testing.checks.mechanisms.cases import NUMERIC, Trial, shifts, usual
from dpcore_testing.checks.mechanisms.loss import choice_distribution, score_vectors
from dpcore_testing.checks.mechanisms.outputs import Floats, Line, line, outputs

_TOGETHER = 20_000
"""Numbers of one release, where the densities say that they are independent."""
_ALONE = {True: 600, False: 3000}
"""Releases of one number each, beside such a release and without one."""
_VECTORS = 2500
_CHOICES = 2000
_CENTRES = (0, -3, 7)
_QUADRATURE = 2e-3
_SURE = 5.2
"""Standard errors of a rank correlation: by chance, it is larger with probability 2e-7."""
_CUT = 1.5
"""Where there is no pure epsilon, outputs whose log-ratio is larger are left out on both sides."""


@check("mechanism")
def draws_what_it_states(subject: Subject) -> str:
    """Many draws follow `log_density`: by Kolmogorov-Smirnov for numbers, by chi-square for choices."""
    draw, tested = subject.rng("draws_what_it_states"), 0
    claimed = subject.factory.accepts
    for trial in usual(subject, *NUMERIC) if set(claimed) & set(NUMERIC) else []:
        with doing(trial.words):
            alike = separable(trial, draw)
            for centre in _CENTRES:
                at = outputs(trial, [centre], fine=48, near=24, wider=1.15)
                stated = line(trial, centre, at)
                alone = np.array(trial.releases(np.array([centre]), draw, _ALONE[alike])).ravel()
                _check_distance(trial, centre, stated, alone, "releases of one number")
                if alike:
                    together = trial.release(np.full(_TOGETHER, centre), int(draw.integers(2**31)))
                    _check_distance(trial, centre, stated, together, "numbers of one release")
                tested += 1 + alike
    for trial in usual(subject, "score") if "score" in claimed else []:
        with doing(trial.words):
            for scores in score_vectors(trial.bound.scalar(), draw):
                _check_choices(trial, scores, draw)
                tested += 1
    return f"{plural(tested, 'test')} at alpha = {ALPHA:g}"


def separable(trial: Trial, draw: np.random.Generator) -> bool:
    """Whether the log-density of a vector is the sum of those of its numbers: they are then independent."""
    differences = []
    for _ in range(6):
        exact = draw.integers(0, 20, size=3)
        output = np.asarray(trial.release(exact, int(draw.integers(2**31))))
        alone = [trial.log_density(output[i : i + 1], exact[i : i + 1]) for i in range(3)]
        differences.append(trial.log_density(output, exact) - math.fsum(alone))
    return bool(np.ptp(differences) < 1e-6)


def _check_distance(trial: Trial, centre: int, stated: Line, drawn: Floats, words: str) -> None:
    """The largest distance of the cumulative distributions (Dvoretzky-Kiefer-Wolfowitz, with Massart's constant)."""
    values, counts = np.unique(drawn, return_counts=True)
    half, below = trial.grid / 2, np.cumsum(counts) / len(drawn)
    above = np.abs(below - stated.cumulative(values + half))
    under = np.abs(below - counts / len(drawn) - stated.cumulative(values - half))
    found = float(max(above.max(), under.max()))
    most = math.sqrt(math.log(2 / ALPHA) / (2 * len(drawn))) + _QUADRATURE
    if found > most:
        raise Failed(
            f"{trial.words}, exact answer {centre}: {plural(len(drawn), words)[:-1]} are {found:.3f} away from "
            f"log_density (at most {most:.3f} by chance)."
        )


def _check_choices(trial: Trial, scores: Floats, draw: np.random.Generator) -> None:
    drawn = trial.releases(scores, draw, _CHOICES)
    if not all(isinstance(i, (int, np.integer)) and 0 <= i < len(scores) for i in drawn):
        raise Failed(f"{trial.words}: a choice among {len(scores)} must be one of 0 … {len(scores) - 1}.")
    expected = _CHOICES * np.exp(choice_distribution(trial, scores))
    seen = np.bincount(drawn, minlength=len(scores)).astype(np.float64)
    order = np.argsort(-expected)
    kept = max(1, int((expected >= 5).sum()))
    # candidates too rare for the test are one
    merged = [np.append(v[order][:kept], v[order][kept:].sum()) for v in (seen, expected)]
    rare = merged[1] > 1e-9
    statistic = float(((merged[0] - merged[1])[rare] ** 2 / merged[1][rare]).sum())
    if (merged[0][~rare] > 0).any() or (rare.sum() > 1 and chi2.sf(statistic, rare.sum() - 1) < ALPHA):
        raise Failed(
            f"{trial.words}, scores {np.round(scores, 3).tolist()}: drawn {seen.astype(int).tolist()} times where "
            f"log_density says {np.round(expected, 1).tolist()}."
        )


@check("mechanism")
def draws_independently(subject: Subject) -> str:
    """The numbers of a vector get noise of their own: E[p_y / p_x] = 1 under x, and no rank correlations."""
    draw, tested = subject.rng("draws_independently"), 0
    for trial in usual(subject, *NUMERIC):
        with doing(trial.words):
            here = np.zeros(trial.size, dtype=np.int64)
            at = np.array(trial.releases(here, draw, _VECTORS))
            if separable(trial, draw):
                _check_ranks(trial, at)
            split = [s for s in shifts(trial, trial.size, draw) if (s != 0).sum() > 1]
            for shift in split[:1]:
                there = np.array(trial.releases(here + shift, draw, _VECTORS))
                _check_identity(trial, here, at, shift, there)
            tested += 1
    if not tested:
        raise Skipped("no bound at hand lets it be drawn often.")
    return f"{plural(tested, 'case')} at alpha = {ALPHA:g}"


def _check_ranks(trial: Trial, at: Floats) -> None:
    for words, noise in (("noise", at), ("sizes of noise", np.abs(at))):
        for i, j in combinations(range(at.shape[1]), 2):
            one, other = rankdata(noise[:, i]), rankdata(noise[:, j])
            if one.std() == 0 or other.std() == 0:
                continue
            found = float(np.corrcoef(one, other)[0, 1])
            if abs(found) > _SURE / math.sqrt(len(at)):
                raise Failed(f"{trial.words}: {words} of two numbers have a rank correlation of {found:.2f}, not 0.")


def _check_identity(trial: Trial, here: Floats, at: Floats, shift: Floats, there: Floats) -> None:
    """Σ p_y over outputs with p_y ≤ M p_x, once as a mean of p_y / p_x under x, once as a frequency under y.

    Both are means of bounded terms; by how much they differ by chance is bounded by Maurer & Pontil (2009), Theorem 4.
    """
    cut = trial.cost.epsilon if isinstance(trial.cost, Pure) else _CUT
    ratio = [_log_ratio(trial, output, here, shift) for output in at]
    terms = np.array([math.exp(r) if r <= cut + 1e-9 else 0.0 for r in ratio])
    seen = np.array([float(_log_ratio(trial, output, here, shift) <= cut + 1e-9) for output in there])
    slack = _bernstein(terms, math.exp(cut)) + _bernstein(seen, 1.0)
    if abs(terms.mean() - seen.mean()) > slack:
        raise Failed(
            f"{trial.words}: draws at {here.tolist()} and at {(here + shift).tolist()} contradict log_density: "
            f"{terms.mean():.3f} and {seen.mean():.3f} should be equal (within {slack:.3f}). Is noise shared?"
        )


def _log_ratio(trial: Trial, output: Floats, here: Floats, shift: Floats) -> float:
    one, other = trial.log_density(output, here), trial.log_density(output, here + shift)
    if one == other == -math.inf:
        raise Failed(f"{trial.words}: an output that was drawn has probability 0 by log_density.")
    return other - one


def _bernstein(terms: Floats, largest: float) -> float:
    """How far a mean of n independent terms in [0, largest] is from its expectation, at most, but with probability
    `ALPHA` / 2."""
    n, log = len(terms), math.log(8 / ALPHA)
    return math.sqrt(2 * float(terms.var(ddof=1)) * log / n) + 7 * largest * log / (3 * (n - 1))
