"""Naive Bayes with a weight for each attribute: its independence assumption, corrected by a private fit.

The noisy tables give log-odds f_a(x_a) of a class against the rest. Naive Bayes adds them up, as if no two attributes
told the same. Here their weights are fitted to the rows: argmin over w of Σ log(1 + e^(−y w·x)) + (lam/2) ‖w − w0‖², x
= (f_1, …, f_d, 1) / D. Only d + 1 numbers are learnt, so the noise on them is small; f and D are public by then, since
they come from released tables. w0 stands for equal weights: with little budget lam is large, and what is left is naive
Bayes, whose decisions do not change with a common factor.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpcore.allocator import Step
from dpcore.classifier import Task
from dpcore.curator import Curator
from dpcore.features import FeatureMap, Lookup
from dpcore.risk import Minimiser
from dpcore_naive_bayes.counts import Cells, Floats
from dpcore_naive_bayes.model import NaiveBayesModel, TablePart

SHARE = 0.15
"""What the weights get of the budget."""
_STRENGTH = 5.0
"""Times the number of problems: several share that budget, and each pulls harder towards equal weights. With these
two, nothing is lost on small sets, and most of what can be gained on large ones is."""
_STEEPEST = 4.0
"""No log-odds count for more: a cell that noise emptied must not decide alone."""
_LENGTH = 1.5
"""Vectors longer than this many times the mean length are shortened."""
_CALM = 0.7
"""The common weight that the fit starts from; attributes mostly repeat each other."""


def problems(classes: int) -> tuple[int, ...]:
    """The classes that are fitted against the rest: the second of two, or every one."""
    return (1,) if classes == 2 else tuple(range(classes))


def steps(task: Task, tables: Sequence[Step], cells: Sequence[Cells]) -> list[Step]:
    """The steps of the weights, for tables whose steps are given."""
    which = problems(len(task.schema.classes))
    weight = sum(step.weight for step in tables) * SHARE / (1 - SHARE) / len(which)
    features = FeatureMap([Lookup(c, [_STEEPEST] * c.size) for c in cells])
    return [
        Step(
            name(task, c),
            Minimiser(features, task.schema.target, positive=c, strength=_STRENGTH * len(which)),
            weight=weight,
            mechanisms=("objective_perturbation",),
            group="weights",
            fixed=False,
        )
        for c in which
    ]


def name(task: Task, code: int) -> str:
    """The step that fits a class against the rest."""
    return f"(weights of {task.schema.classes[code]})"


def learn(curator: Curator, model: NaiveBayesModel) -> NaiveBayesModel:
    """The same tables, weighed."""
    task, parts = curator.task, [p for p in model.parts if isinstance(p, TablePart)]
    classes = len(model.prior)
    prior, strength = np.zeros(classes), _STRENGTH * len(problems(classes))
    logs = [np.zeros(p.log.shape) for p in parts]
    for c in problems(classes):
        odds = [_odds(p.log, model.prior, c) for p in parts]
        start = math.log(math.exp(model.prior[c]) / max(-math.expm1(model.prior[c]), 1e-12))
        divisor = _LENGTH * math.sqrt(1 + sum(_square(p.log, model.prior, f) for p, f in zip(parts, odds, strict=True)))
        features = FeatureMap([Lookup(p.partition, f.tolist()) for p, f in zip(parts, odds, strict=True)], divisor)
        centre = np.append(np.full(len(parts), _CALM), _CALM * start) / features.scale
        query = Minimiser(features, task.schema.target, positive=c, strength=strength, centre=tuple(centre.tolist()))
        w = np.asarray(curator.ask(name(task, c), query)) * features.scale
        for f, weight, log in zip(odds, w, logs, strict=False):
            _put(log, c, weight * f)
        _put(prior, c, w[-1])
    return NaiveBayesModel(prior, tuple(TablePart(p.partition, log) for p, log in zip(parts, logs, strict=True)))


def _put(log: Floats, code: int, odds: Floats | float) -> None:
    """Odds as logs of classes: half to each of two, or to the class alone."""
    if log.shape[-1] == 2:
        log[..., 1] = np.multiply(odds, 0.5)
        log[..., 0] = -log[..., 1]
    else:
        log[..., code] = odds


def _odds(log: Floats, prior: Floats, code: int) -> Floats:
    """log P(cell | class) − log P(cell | another class), shape (cells,), clipped."""
    others = [i for i in range(len(prior)) if i != code]
    rest = np.logaddexp.reduce(log[:, others] + prior[others], axis=1) - np.logaddexp.reduce(prior[others])
    return np.asarray(np.clip(log[:, code] - rest, -_STEEPEST, _STEEPEST))


def _square(log: Floats, prior: Floats, odds: Floats) -> float:
    """E[f²] by the released tables."""
    return float(np.exp(log + prior).sum(axis=1) @ (odds * odds))
