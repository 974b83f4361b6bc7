"""Naive Bayes, private: one noisy table (or two noisy moments) an attribute, and nothing else.

Under add-remove adjacency a row is counted once in each attribute's table, which therefore has L1 sensitivity 1
whatever its size; the steps' costs add up to the whole epsilon. Everything after the noise is free.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs

from dpcore.allocator import Step
from dpcore.classifier import Classifier, Model, Task
from dpcore.component import Citation
from dpcore.curator import Curator
from dpcore.errors import CapabilityError
from dpcore.parameters import param
from dpcore.partition import Values
from dpcore.query import Counts
from dpcore.schema import Attribute, Nominal, Numeric, Schema
from dpcore_naive_bayes import moments, published, weighted
from dpcore_naive_bayes.counts import (
    FEWEST,
    MOST,
    bins_for,
    by_class,
    cells_weight,
    consistent,
    log_likelihood,
    log_prior,
    partition,
)
from dpcore_naive_bayes.model import NaiveBayesModel, TablePart

_CLASS = "(class)"
_SIZES = 0.03
"""What the class sizes get, for all that the attributes' tables get."""


@attrs.frozen
class NaiveBayes(Classifier):
    """Naive Bayes over nominal and numeric attributes, any number of classes, missing cells as values.

    `model="bins"` counts every attribute by class, numeric ones over the schema's cut points, or public bins of equal
    width; how many of these is decided by noisy class sizes (3% of the budget, where there is such an attribute).
    Attributes with more cells get more of the budget. The class prior costs nothing more: every table counts all
    rows, and their column sums are averaged.
    `model="weighted"` takes 15% of the budget to fit a weight for each attribute, with the tables as they are.
    `model="moments"` describes a numeric attribute by noisy sums of z and z² and a normal density.
    `variant` runs a published procedure as published; its true cost is charged.
    """

    model_class: ClassVar[type[Model]] = NaiveBayesModel
    citation: ClassVar[Citation | tuple[Citation, ...] | None] = (published.VAIDYA, published.LOPUHAA)
    notes: ClassVar[str] = (
        "Vaidya et al. spend epsilon on every statistic and 1 on the priors; with the class sizes that set their "
        "noise they give no finite epsilon, and redrawing negative answers costs up to twice. "
        "Lopuhaä-Zwakenberg et al. split epsilon, but set noise by private class sizes, and their replace-one "
        "adjacency doubles what counts cost. The default spends exactly epsilon."
    )

    published: ClassVar[tuple[Mapping[str, Any], ...]] = (
        {"variant": "vaidya2013"},
        {"variant": "vaidya2013", "published_size": 1000},
        {"variant": "lopuhaa2021"},
    )

    model: str = param(
        "bins",
        choices=("bins", "weighted", "moments"),
        help="numeric attributes as noisy counts over public bins, the same with a fitted weight for each "
        "attribute, or as noisy mean and variance",
    )
    variant: str | None = param(
        None,
        type=str,
        choices=("vaidya2013", "lopuhaa2021"),
        help="a published procedure as published; says what it really spends",
    )
    bins: int | None = param(
        None,
        type=int,
        low=1,
        high=65536,
        help="equal bins of an attribute without cut points; None: by noisy class sizes",
    )
    smoothing: float = param(1.0, low=0.0, closed="right", high=1e9, help="added to every count before probabilities")
    noise_smoothing: float = param(
        0.05, low=0.0, high=1e9, help="the same, in units of the noise's scale: flattens what noise made"
    )
    truncated: bool = param(True, help="normal densities are cut off at the public bounds")
    published_size: int | None = param(
        None, type=int, low=1, help="vaidya2013: the paper's n; None takes each class's true, private size"
    )

    def check(self, schema: Schema) -> None:
        super().check(schema)
        if not _telling(schema):
            raise CapabilityError("NaiveBayes needs an attribute with at least two values.")

    def steps(self, task: Task) -> Sequence[Step]:
        if self.variant is not None:
            return published.steps(self.variant, task, self.published_size)
        if self.model == "moments":
            return moments.steps(task, _telling(task.schema))
        tables = [self._table(a, task) for a in _telling(task.schema)]
        if not all(step.fixed for step in tables):
            sizes = Counts(Values(task.schema.target))
            weight = _SIZES * sum(step.weight for step in tables)
            tables = [Step(_CLASS, sizes, weight=weight, group="class"), *tables]
        if self.model == "weighted":
            largest = [partition(a, self.bins or MOST) for a in _telling(task.schema)]
            return [*tables, *weighted.steps(task, tables, largest)]
        return tables

    def _table(self, attribute: Attribute, task: Task) -> Step:
        """The step of one attribute: its largest table, where the bins are chosen by the noisy class sizes."""
        largest = partition(attribute, self.bins or MOST)
        fixed = self.bins is not None or partition(attribute, FEWEST) == largest
        weight = cells_weight(largest)
        return Step(attribute.name, by_class(largest, task), weight=weight, group=_group(attribute), fixed=fixed)

    def learn(self, curator: Curator) -> NaiveBayesModel:
        task = curator.task
        if self.variant is not None:
            return published.learn(self.variant, curator)
        if self.model == "moments":
            return moments.learn(curator, _telling(task.schema), self._smoothing, truncated=self.truncated)
        chosen = [a.name for a in _telling(task.schema) if not self._table(a, task).fixed]
        sizes = [curator.ask(_CLASS)] if chosen else []
        bins = self.bins or MOST
        if chosen:
            noise = sum(map(curator.scale, chosen)) / len(chosen)
            bins = bins_for(sizes[0], noise / len(_telling(task.schema)))
        cells = [partition(a, bins) for a in _telling(task.schema)]
        questions = {c.attribute.name: by_class(c, task) for c in cells}
        curator.prepare(questions)
        asked = [curator.ask(name, query) for name, query in questions.items()]
        scales = [curator.scale(name) for name in questions]
        tables, totals = consistent(
            [*asked, *(s[None, :] for s in sizes)], [*scales, *(curator.scale(_CLASS) for _ in sizes)]
        )
        logs = [log_likelihood(t, self._smoothing(s)) for t, s in zip(tables, scales, strict=False)]
        found = NaiveBayesModel(log_prior(totals), tuple(map(TablePart, cells, logs)))
        return weighted.learn(curator, found) if self.model == "weighted" else found

    def warning(self, task: Task) -> str:
        return published.warning(self.variant, task, self.published_size) if self.variant else ""

    def _smoothing(self, noise: float) -> float:
        return self.smoothing + self.noise_smoothing * noise


def _telling(schema: Schema) -> list[Attribute]:
    """The attributes that can tell classes apart: a nominal one with a single cell cannot, and costs nothing."""
    return [a for a in schema.attributes if isinstance(a, Numeric) or a.cells > 1]


def _group(attribute: Attribute) -> str:
    return "nominal" if isinstance(attribute, Nominal) else "numeric"
