"""Support vector machines and logistic regression, private: the minimum of a perturbed objective.

One row adds one term to the objective, with a gradient of norm at most 1 and entries in few places: what is released is
one vector of weights, however many attributes there are. See the mechanism for the proof.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import attrs
import numpy as np

from dpcore.allocator import Step
from dpcore.classifier import Classifier, Model, Task
from dpcore.component import Citation
from dpcore.curator import Curator
from dpcore.errors import CapabilityError, ParameterError
from dpcore.features import FeatureMap, OneHot
from dpcore.joint import JointMinimiser
from dpcore.parameters import param
from dpcore.partition import Values
from dpcore.query import Counts
from dpcore.risk import Minimiser
from dpcore.schema import Numeric, Schema
from dpcore_svm import published, rules
from dpcore_svm.centre import Floats, naive_bayes, table, table_weight
from dpcore_svm.encoding import ENCODINGS, Encoding, cells, telling
from dpcore_svm.model import SvmModel, make_loss

_CLASS = "(class)"


@attrs.frozen
class Svm(Classifier):
    """A linear (or RBF) classifier over nominal and numeric attributes, any number of classes, missing cells as values.

    Two classes: a wide Huber hinge. A row may move the gradient by 1 under any loss with slopes of at most 1, and near
    0, where strongly regularised weights are, the logistic loss has slope 1/2: half the signal for the same noise.
    More classes: multinomial logistic regression, drawn to a noisy naive Bayes. `loss="huber"` tells each class from
    all others instead, with equal shares of the budget.
    lam and the bins of numeric attributes follow from epsilon, the number of attributes and noisy class sizes (2% of
    the budget). `centre="naive_bayes"` spends a share on noisy counts and draws the weights to those of naive Bayes
    instead of 0.
    """

    model_class: ClassVar[type[Model]] = SvmModel
    citation: ClassVar[Citation | tuple[Citation, ...] | None] = (published.CHAUDHURI, published.LOPUHAA)
    notes: ClassVar[str] = (
        "lam = strength · c / (e^(epsilon/4) − 1) for an objective of summed losses, with strength = 0.52 √(attributes "
        "+ 1), up to 10 times that where the noisy number of rows is small, 14 times "
        "where the weights are drawn to a centre. "
        "Chaudhuri et al. pay the determinant twice and add more noise than they need under add-remove adjacency. "
        "Lopuhaä-Zwakenberg et al. never shorten rows to norm 1, on which that proof stands, and so spend more than "
        "they claim by about the longest row. The default spends exactly epsilon."
    )
    published: ClassVar[tuple[Mapping[str, Any], ...]] = ({"variant": "lopuhaa2021"},)

    loss: str | None = param(
        None,
        type=str,
        choices=("huber", "logistic"),
        help="the Huber hinge of width h, or the logistic loss; None: huber for two classes, logistic for more",
    )
    h: float = param(0.7, low=1e-3, high=1e3, help="the Huber hinge is rounded off within h of its corner at margin 1")
    encoding: str = param(
        "bins",
        choices=ENCODINGS[:3],
        help="one-hot cells; or numeric values on [-1, 1]; or one number for every attribute",
    )
    bins: int | None = param(
        None,
        type=int,
        low=1,
        high=65536,
        help="equal bins of an attribute without cut points; None: by noisy class sizes",
    )
    strength: float | None = param(
        None, type=float, low=1e-9, high=1e9, help="what lam is multiplied by; None: by the rule"
    )
    lam: float | None = param(
        None,
        type=float,
        low=1e-12,
        high=1e12,
        help="the regularisation of summed losses, where it is decided beforehand; raised where it costs too much",
    )
    centre: str | None = param(
        None,
        type=str,
        choices=("zero", "naive_bayes"),
        help="what weights are drawn to; None: naive Bayes for more than two classes, otherwise zero",
    )
    share: float = param(
        rules.SHARE, low=0.0, high=1.0, closed="neither", help="what the centre's counts get of the budget"
    )
    kernel: str = param("linear", choices=("linear", "rbf"), help="rbf by random Fourier features")
    waves: int = param(64, low=1, high=4096, help="rbf: how many random features")
    gamma: float | None = param(
        None, type=float, low=1e-6, high=1e6, help="rbf: exp(-gamma |x - x'|²); None: 1 / attributes"
    )
    feature_seed: int = param(0, low=0, high=2**63 - 1, help="rbf: the public seed of the random features")
    perturbation: str = param("objective", choices=("objective", "output"), help="what is perturbed")
    variant: str | None = param(
        None,
        type=str,
        choices=("chaudhuri2011", "lopuhaa2021"),
        help="the constants, or the whole procedure, of a paper; says what it really spends",
    )
    published_size: int = param(10_000, low=1, help="lopuhaa2021: the paper's n, taken to be public")

    def check(self, schema: Schema) -> None:
        super().check(schema)
        if not telling(schema):
            raise CapabilityError("Svm needs an attribute with at least two values.")
        if self.centre == "naive_bayes" and not self._one_hot:
            raise ParameterError("centre='naive_bayes' needs encoding='bins' and kernel='linear'.")
        if self.variant is not None and self.perturbation == "output":
            raise ParameterError(f"variant={self.variant!r} perturbs the objective, not the output.")

    def steps(self, task: Task) -> Sequence[Step]:
        if self.variant == "lopuhaa2021":
            return published.steps(task, self.published_size)
        largest = self._encoding(task, self.bins or rules.MOST).features(task.schema)
        asks_sizes, centred = self._asks_sizes(task.schema), self._centred(task.schema)
        steps, left = [], 1.0
        if asks_sizes:
            sizes = Counts(Values(task.schema.target))
            steps.append(Step(_CLASS, sizes, weight=rules.SIZES, group="class"))
            left -= rules.SIZES
        if centred:
            tables = {p.partition.attributes[0]: p.partition for p in largest.parts if isinstance(p, OneHot)}
            whole = sum(map(table_weight, tables.values()))
            for name, partition in tables.items():
                weight = left * self.share * table_weight(partition) / whole
                query = table(partition, task.schema.target)
                steps.append(Step(f"{name}: counts", query, weight=weight, group="nominal", fixed=not asks_sizes))
            left *= 1 - self.share
        problems, strength = self._problems(task.schema), self._strength(task.schema, math.inf)
        for name, positive in problems.items():
            steps.append(
                Step(
                    name,
                    self._question(largest, task.schema, positive, strength),
                    weight=left / len(problems),
                    mechanisms=(self._mechanism,),
                    group="weights",
                    fixed=not asks_sizes and not centred,
                )
            )
        return steps

    def learn(self, curator: Curator) -> SvmModel:
        task = curator.task
        if self.variant == "lopuhaa2021":
            return published.learn(curator)
        nu = math.inf
        if self._asks_sizes(task.schema):
            n = rules.rows(curator.ask(_CLASS), curator.scale(_CLASS))
            left = 1 - self.share if self._centred(task.schema) else 1.0
            epsilon = task.epsilon * left / len(self._problems(task.schema))
            nu = rules.detail(epsilon, n, len(telling(task.schema)))
        encoding = self._encoding(task, self.bins or rules.bins(nu))
        features, strength = encoding.features(task.schema), self._strength(task.schema, nu)
        tables, noise = self._tables(curator, features)
        weights = []
        for name, positive in self._problems(task.schema).items():
            centre = naive_bayes(features, tables, noise, positive) if tables else None
            weights.append(curator.ask(name, self._question(features, task.schema, positive, strength, centre)))
        loss = "multinomial" if self._together(task.schema) else self._loss(task.schema)
        return SvmModel(task.schema, encoding, loss, self.h, columns(weights, features.width))

    def warning(self, task: Task) -> str:
        return published.warning(task, self.published_size) if self.variant == "lopuhaa2021" else ""

    def _encoding(self, task: Task, bins: int) -> Encoding:
        if self.kernel == "linear":
            return Encoding(self.encoding, bins)
        gamma = self.gamma or 1 / len(telling(task.schema))
        return Encoding(self.encoding, bins, self.waves, gamma, self.feature_seed)

    @property
    def _one_hot(self) -> bool:
        return self.encoding == "bins" and self.kernel == "linear"

    @property
    def _mechanism(self) -> str:
        if self.variant == "chaudhuri2011":
            return "objective_chaudhuri2011"
        return "objective_perturbation" if self.perturbation == "objective" else "output_perturbation"

    def _loss(self, schema: Schema) -> str:
        if self.loss is not None:
            return self.loss
        return "logistic" if len(schema.classes) > 2 and self._mechanism == "objective_perturbation" else "huber"

    def _together(self, schema: Schema) -> bool:
        """Whether all classes are found at once."""
        several, whole = len(schema.classes) > 2, self._mechanism == "objective_perturbation"
        return several and whole and self._loss(schema) == "logistic"

    def _problems(self, schema: Schema) -> dict[str, int | None]:
        """Step name -> the class that is told from all others; None for all classes at once."""
        if len(schema.classes) == 2 or self._together(schema):
            return {"weights": 1 if len(schema.classes) == 2 else None}
        return {f"weights of {name}": code for code, name in enumerate(schema.classes)}

    def _centred(self, schema: Schema) -> bool:
        if self.centre is None:
            return len(schema.classes) > 2 and self._one_hot and self.variant is None
        return self.centre == "naive_bayes"

    def _asks_sizes(self, schema: Schema) -> bool:
        """Whether anything is decided by noisy class sizes."""
        if self.strength is None and self.lam is None and not self._centred(schema):
            return True
        numeric = [a for a in telling(schema) if isinstance(a, Numeric)]
        differ = any(cells(a, rules.FEWEST) != cells(a, rules.MOST) for a in numeric)
        return self.encoding == "bins" and self.bins is None and differ

    def _strength(self, schema: Schema, nu: float) -> float:
        if self.strength is not None:
            return self.strength
        parts = len(telling(schema))
        return rules.strength_centred(parts) if self._centred(schema) else rules.strength(parts, nu)

    def _question(
        self, features: FeatureMap, schema: Schema, positive: int | None, strength: float, centre: Floats | None = None
    ) -> Minimiser:
        return (JointMinimiser if positive is None else Minimiser)(
            features,
            schema.target,
            positive=positive or 0,
            loss=make_loss(self._loss(schema), self.h),
            strength=strength,
            lam=self.lam,
            centre=None if centre is None else tuple(centre.tolist()),
        )

    def _tables(self, curator: Curator, features: FeatureMap) -> tuple[list[Floats], list[float]]:
        """Noisy counts of every attribute by class, with the scale of their noise, where there is a centre."""
        if not self._centred(curator.task.schema):
            return [], []
        partitions = [p.partition for p in features.parts if isinstance(p, OneHot)]
        names = [f"{p.attributes[0]}: counts" for p in partitions]
        questions = {n: table(p, curator.task.schema.target) for n, p in zip(names, partitions, strict=True)}
        curator.prepare(questions)
        asked = [np.asarray(curator.ask(name, query)) for name, query in questions.items()]
        return asked, [curator.scale(name) for name in names]


def columns(weights: Sequence[Any], width: int) -> Floats:
    """The weights of all problems, or of all classes at once, as columns: shape (width, problems or classes)."""
    return np.ascontiguousarray(np.concatenate([np.asarray(w) for w in weights]).reshape(-1, width).T)
