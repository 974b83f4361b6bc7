"""Numeric attributes as normal densities from noisy sums: the sound form of Vaidya et al. (2013).

z = x − middle of the public range R. Per class Σz moves by at most R/2 and Σz² by R²/4 when a row comes or goes
(Vaidya's mean and deviation have no such bound, since the class size is private), so mean = Σz / ñ_c and
variance = Σz² / ñ_c − mean², over a noisy class size, cost what the plan says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from dpcore.allocator import Step
from dpcore.classifier import Task
from dpcore.curator import Curator
from dpcore.partition import EqualBins, Product, Values
from dpcore.query import Counts, Sums
from dpcore.schema import Attribute, Nominal, Numeric
from dpcore_naive_bayes.counts import Floats, by_class, consistent, log_likelihood, log_prior
from dpcore_naive_bayes.model import NaiveBayesModel, NormalPart, TablePart

_CLASS = "(class)"
_TINY = 1e-3
"""The smallest deviation, as a part of R."""
_CONTINUOUS = ("laplace", "gaussian")


def steps(task: Task, attributes: Sequence[Attribute]) -> list[Step]:
    """The class sizes, a table for each nominal attribute, two sums for each numeric one."""
    classes = Values(task.schema.target)
    rows = [Step(_CLASS, Counts(classes), group="class")]
    for a in attributes:
        if isinstance(a, Nominal):
            rows.append(Step(a.name, by_class(Values(a), task), group="nominal"))
            continue
        if a.missing:
            known = Counts(Product((EqualBins(a, 1), classes)))
            rows.append(Step(f"{a.name}: known", known, group="numeric"))
        for power, name in ((1, "sum"), (2, "squares")):
            sums = Sums(a, classes, power=power)
            rows.append(Step(f"{a.name}: {name}", sums, mechanisms=_CONTINUOUS, group="numeric"))
    return rows


def learn(
    curator: Curator, attributes: Sequence[Attribute], smoothing: Callable[[float], float], *, truncated: bool
) -> NaiveBayesModel:
    """Ask and put together; `smoothing` gives the pseudo-count for a noise scale."""
    sizes: Floats = curator.ask(_CLASS)
    nominal = [a for a in attributes if isinstance(a, Nominal)]
    asked = [curator.ask(a.name) for a in nominal]
    noise = [curator.scale(name) for name in (_CLASS, *(a.name for a in nominal))]
    (_, *tables), totals = consistent([sizes[None, :], *asked], noise)
    parts: list[TablePart | NormalPart] = []
    for n, table in zip(nominal, tables, strict=True):
        parts.append(TablePart(Values(n), log_likelihood(table, smoothing(curator.scale(n.name)))))
    for a in attributes:
        if isinstance(a, Numeric):
            parts.append(_normal(curator, a, totals, smoothing, truncated=truncated))
    return NaiveBayesModel(log_prior(totals), tuple(parts))


def _normal(
    curator: Curator,
    a: Numeric,
    totals: Floats,
    smoothing: Callable[[float], float],
    *,
    truncated: bool,
) -> NormalPart:
    size, missing = np.maximum(totals, 1.0), np.zeros((2, len(totals)))
    if a.missing:
        known = curator.ask(f"{a.name}: known")
        missing = log_likelihood(known, smoothing(curator.scale(f"{a.name}: known")))[::-1]
        size = np.maximum(known[0], 1.0)
    mean = np.clip(curator.ask(f"{a.name}: sum") / size, -a.width / 2, a.width / 2)
    second = curator.ask(f"{a.name}: squares") / size
    # Noise can make a variance of nothing, and a narrow density then outvotes every other attribute: none is
    # taken to be smaller than its own noise.
    noise = (curator.scale(f"{a.name}: squares") + a.width * curator.scale(f"{a.name}: sum")) / size
    least = np.clip(noise, (_TINY * a.width) ** 2, a.width**2 / 4)
    variance = np.clip(second - mean**2, least, a.width**2 / 4)
    return NormalPart(a, a.middle + mean, np.sqrt(variance), truncated, missing)
