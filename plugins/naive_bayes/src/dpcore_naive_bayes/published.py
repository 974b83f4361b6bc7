"""Naive Bayes as two papers publish it, with what it really costs.

Vaidya et al. (2013), Algorithm 1: epsilon for every table of counts, every mean and every deviation, 1 for the
priors; negative counts and deviations are drawn again. Lopuhaä-Zwakenberg et al. (2021), Algorithm 1: epsilon divided
by 1 + nominal + 2 numeric; negative answers are raised to 1e-5.

Derivation of the costs, per step, with epsilon' the paper's epsilon for it:
- counts: a row touches one cell under add-remove (epsilon') and two under replace-one (2 epsilon'); drawn again, at
  most ln(2 e^x − 1) for x of these (see the mechanism `laplace_resampled`).
- mean or deviation with noise set by the true class size: none. The scale itself differs between neighbours.
- with a published n instead: the noise is R/((n+1) epsilon') for a mean and √n R/((n+1) epsilon') for a deviation, and
  a class of one row that gets another moves either by R/2 (replace-one: R over two classes, or within one):
  epsilon' (n+1)/2 and epsilon' (n+1)/(2√n), twice that under replace-one, and at most double again for a deviation
  that is redrawn.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.allocator import Step
from dpcore.classifier import Task
from dpcore.component import Citation
from dpcore.curator import Curator
from dpcore.partition import Values
from dpcore.privacy import Adjacency, Pure
from dpcore.query import Counts, Deviations, Means
from dpcore.schema import Nominal
from dpcore_naive_bayes.counts import Floats, by_class
from dpcore_naive_bayes.model import NaiveBayesModel, NormalPart, TablePart

VAIDYA = Citation(
    key="vaidya2013differentially",
    author="Vaidya, J. and Shafiq, B. and Basu, A. and Hong, Y.",
    title="Differentially private naive Bayes classification",
    year=2013,
    venue="IEEE/WIC/ACM International Conferences on Web Intelligence",
    doi="10.1109/WI-IAT.2013.80",
)
LOPUHAA = Citation(
    key="lopuhaa2021comparing",
    author="Lopuhaä-Zwakenberg, M. and Alishahi, M. and Kivits, J. and Klarenbeek, J. and "
    "van der Velde, G.-J. and Zannone, N.",
    title="Comparing classifiers' performance under differential privacy",
    year=2021,
    venue="SECRYPT",
    doi="10.5220/0010519000500061",
)
_CLASS = "(class)"
_FLOOR = 1e-5
_SHY = 1 - 2.0**-46


def steps(variant: str, task: Task, size: int | None) -> list[Step]:
    """The published steps, each with the cost that it really has."""
    return _vaidya(task, size) if variant == "vaidya2013" else _lopuhaa(task)


def _changes(task: Task) -> int:
    """How many rows' worth of change neighbours differ by: one comes, or one goes and another comes."""
    return 1 if task.adjacency is Adjacency.ADD_REMOVE else 2


def redrawn(epsilon: float) -> float:
    """The cost of Laplace noise of this epsilon that is drawn again until the count is not negative."""
    return epsilon + math.log(2 - math.exp(-epsilon))


def _vaidya(task: Task, size: int | None) -> list[Step]:
    classes, k = Values(task.schema.target), _changes(task)
    counts = Pure(redrawn(k * task.epsilon))
    rows = []
    for a in task.schema.attributes:
        if isinstance(a, Nominal):
            query = by_class(Values(a), task)
            rows.append(Step(a.name, query, mechanisms=("laplace_resampled",), group="nominal", cost=counts))
            continue
        mean = k * task.epsilon * (size + 1) / 2 if size else math.inf
        deviation = 2 * mean / math.sqrt(size) if size else math.inf
        # the redrawing mechanism halves what it is given where it cannot count on a histogram
        for name, moment, noise, cost, claimed in (
            ("mean", Means(a, classes), "laplace", mean, task.epsilon),
            ("deviation", Deviations(a, classes), "laplace_resampled", deviation, 2 * task.epsilon),
        ):
            rows.append(
                Step(
                    f"{a.name}: {name}",
                    moment,
                    mechanisms=(noise,),
                    sensitivity="vaidya2013",
                    sensitivity_parameters={"size": size},
                    group="numeric",
                    cost=Pure(cost),
                    claimed=Pure(claimed),
                )
            )
    prior = Step(_CLASS, Counts(classes), mechanisms=("laplace_resampled",), group="class", cost=Pure(redrawn(k)))
    return [*rows, prior]


def _lopuhaa(task: Task) -> list[Step]:
    schema, classes = task.schema, Values(task.schema.target)
    each = task.epsilon * _SHY / (1 + len(schema.nominal()) + 2 * len(schema.numeric()))
    counts = Pure(each * _changes(task))
    rows = [Step(_CLASS, Counts(classes), mechanisms=("laplace",), group="class", cost=counts)]
    for a in schema.attributes:
        if isinstance(a, Nominal):
            query = by_class(Values(a), task)
            rows.append(Step(a.name, query, mechanisms=("laplace",), group="nominal", cost=counts))
            continue
        for name, moment in (("mean", Means(a, classes)), ("deviation", Deviations(a, classes))):
            rows.append(
                Step(
                    f"{a.name}: {name}",
                    moment,
                    mechanisms=("laplace",),
                    sensitivity="lopuhaa2021",
                    group="numeric",
                    cost=Pure(math.inf),
                    claimed=Pure(each),
                )
            )
    return rows


def learn(variant: str, curator: Curator) -> NaiveBayesModel:
    """Ask the published steps and put the model together as published: no truncation, no consistency."""
    schema = curator.task.schema
    sizes = np.maximum(curator.ask(_CLASS), _FLOOR)
    parts: list[TablePart | NormalPart] = []
    for a in schema.attributes:
        if isinstance(a, Nominal):
            parts.append(TablePart(Values(a), _table(variant, curator.ask(a.name), sizes)))
            continue
        mean = a.middle + curator.ask(f"{a.name}: mean")
        deviation = np.maximum(curator.ask(f"{a.name}: deviation"), _FLOOR)
        missing = np.zeros((2, len(schema.classes)))
        parts.append(NormalPart(a, mean, deviation, False, missing))
    return NaiveBayesModel(np.log(sizes) - np.log(sizes.sum()), tuple(parts))


def _table(variant: str, noisy: Floats, sizes: Floats) -> Floats:
    if variant == "vaidya2013":
        counts = noisy + 1.0  # the Laplace estimator of section II-A
        log: Floats = np.log(counts) - np.log(counts.sum(axis=0))
        return log
    return np.asarray(np.log(np.maximum(noisy, _FLOOR)) - np.log(sizes))


def warning(variant: str, task: Task, size: int | None) -> str:
    """One line: what this variant really spends, and why."""
    numeric = bool(task.schema.numeric())
    if numeric and (variant == "lopuhaa2021" or size is None):
        return f"{variant} sets noise by private class sizes: no finite epsilon, so the model is not private."
    planned = steps(variant, task, size)
    epsilon = math.fsum(s.cost.epsilon * s.times for s in planned if isinstance(s.cost, Pure))
    if epsilon <= task.epsilon:
        return ""
    return (
        f"{variant} claims epsilon = {task.epsilon:g} and really spends {epsilon:.4g} under {task.adjacency} adjacency."
    )
