"""Statistical checks of what a mechanism draws, against what its own densities say; each test at alpha = 1e-6."""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import chi2

from dpcore_testing.checks.base import ALPHA, Failed, Skipped, Subject, check, doing, plural
from dpcore_testing.checks.mechanisms.cases import NUMERIC, Trial, usual
from dpcore_testing.checks.mechanisms.loss import choice_distribution, score_vectors
from dpcore_testing.checks.mechanisms.outputs import Floats, Line, line, outputs

_TOGETHER = 20_000
"""Numbers of one release, where the densities say that they are independent."""
_ALONE = {True: 600, False: 3000}
"""Releases of one number each, beside such a release and without one."""
_CHOICES = 2000
_CENTRES = (0, -3, 7)
_QUADRATURE = 2e-3


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
    if not tested:
        raise Skipped("it takes no bound at hand that lets it be drawn often.")
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
