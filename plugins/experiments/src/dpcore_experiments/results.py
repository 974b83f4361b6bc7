"""What came out of an experiment: its runs under the labels of its file, their summaries, and their tests."""

from __future__ import annotations

import itertools
import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dpcore_experiments.experiment import ALL, Experiment, Unit
from dpcore_experiments.keys import KEY
from dpcore_experiments.stats import Floats, Standing, Test, corrected_t, interval, ranking, signed_rank

if TYPE_CHECKING:
    import pandas as pd

    from dpcore_experiments.running import Agenda


@attrs.frozen
class Summary:
    """One method on one data set at one epsilon, over folds and repeats.

    Args:
        accuracy_sd: over all runs.
        accuracy_low, accuracy_high: a 95% interval of the mean, corrected as the t-test is.
        non_private_accuracy: the same method with exact answers; NaN for an estimator from elsewhere that claims to be
            private.
        ratio: accuracy over that without noise.
        guarantee: `pure`, `approximate`, `none`, or `claimed`.
        guarantee_epsilon: what a fit really spends; inf where there is no guarantee.
    """

    data: str
    method: str
    epsilon: float
    runs: int
    accuracy_mean: float
    accuracy_sd: float
    accuracy_low: float
    accuracy_high: float
    balanced_accuracy_mean: float
    auc_mean: float
    log_loss_mean: float
    non_private_accuracy: float
    majority_accuracy: float
    guarantee: str
    guarantee_epsilon: float
    train_rows_mean: float
    fit_seconds_mean: float
    predict_seconds_mean: float

    @property
    def ratio(self) -> float:
        """Accuracy over accuracy without noise."""
        return self.accuracy_mean / self.non_private_accuracy if self.non_private_accuracy else math.nan


@attrs.define(eq=False)
class Results:
    """The runs of an experiment.

    Args:
        experiment: what was done.
        frame: one line a run; `method` is the label, with the adjacency and the training size where there are several.
        new: how many runs were done now; the others were held.
        runs: how many runs there are.
    """

    experiment: Experiment
    frame: pd.DataFrame
    new: int = 0
    runs: int = 0

    @classmethod
    def of(cls, experiment: Experiment, agenda: Agenda, stored: pd.DataFrame, new: int = 0) -> Results:
        """The experiment's runs out of all that a file holds.

        A method without an epsilon has one run a fold, which stands for all epsilons.
        """
        import pandas as pd

        named = [
            (*attrs.astuple(key), experiment.data[unit.data].label, method_of(experiment, unit), unit.rows)
            for unit, keys in agenda.units.items()
            for key in keys
        ]
        wanted = pd.DataFrame(named, columns=[*KEY, "data", "method", "size"]).astype(
            {name: stored[name].dtype for name in KEY}
        )
        frame = wanted.merge(stored.drop(columns=["data", "learner"]), on=list(KEY), how="left", validate="1:1")
        endless = np.isinf(frame["epsilon"])
        spread = [frame[endless].assign(epsilon=epsilon) for epsilon in experiment.epsilon] if endless.any() else []
        return cls(experiment, pd.concat([frame[~endless], *spread], ignore_index=True), new, len(wanted))

    @property
    def data(self) -> list[str]:
        """The data sets' labels."""
        return [d.label for d in self.experiment.data]

    @cached_property
    def methods(self) -> list[str]:
        """The methods' labels, in the experiment's order."""
        return list(dict.fromkeys(method_of(self.experiment, unit) for unit in self._heads))

    @property
    def epsilons(self) -> list[float]:
        """The epsilons, from small to large."""
        return sorted(self.experiment.epsilon)

    @cached_property
    def overspent(self) -> dict[str, tuple[float, float]]:
        """Methods that spend more than is asked for -> (what they spend, what is asked for) where it is worst."""
        found: dict[str, tuple[float, float]] = {}
        for s in self.summaries.values():
            if s.method in self.whole and s.guarantee != "claimed" and s.guarantee_epsilon > s.epsilon * (1 + 1e-8):
                worst = max(found.get(s.method, (0.0, 1.0)), (s.guarantee_epsilon, s.epsilon))
                found[s.method] = worst
        return found

    @property
    def _heads(self) -> list[Unit]:
        x = self.experiment
        sizes = sorted(x.rows, key=lambda n: n or math.inf, reverse=True)
        axes = itertools.product(range(len(x.learners)), x.adjacency, sizes)
        return [Unit(0, learner, adjacency, rows, 0) for learner, adjacency, rows in axes]

    @cached_property
    def whole(self) -> list[str]:
        """The methods at the largest training size: those that the general figures show."""
        largest = max(self.experiment.rows, key=lambda n: n or math.inf)
        return list(dict.fromkeys(method_of(self.experiment, u) for u in self._heads if u.rows == largest))

    def by_size(self) -> dict[str, dict[int, str]]:
        """Learner (with its adjacency) -> training size -> method."""
        found: dict[str, dict[int, str]] = {}
        for unit in self._heads:
            bare = method_of(attrs.evolve(self.experiment, rows=(ALL,)), unit)
            found.setdefault(bare, {})[unit.rows] = method_of(self.experiment, unit)
        return found

    @cached_property
    def _folds(self) -> dict[tuple[str, str, float], Floats]:
        """(data, method, epsilon) -> accuracy on each fold, the mean over its repeats."""
        wide = self.frame.pivot_table("accuracy", ["data", "method", "epsilon"], "fold", aggfunc="mean")
        return {key: row for key, row in zip(wide.index, wide.to_numpy(np.float64), strict=True)}  # noqa: C416

    def folds(self, data: str, method: str, epsilon: float) -> Floats:
        """Accuracies on the folds, each the mean over its repeats."""
        return self._folds[data, method, epsilon]

    @cached_property
    def test_by_train(self) -> dict[str, float]:
        """Test rows over the other folds' rows, for each data set: what corrects the tests.

        A smaller training set is drawn from these; the folds overlap less then, and the correction is on the safe side.
        """
        sizes = self.frame.groupby(["data", "fold"])["test_rows"].first()
        found = {}
        for data in self.data:
            test = sizes[data].to_numpy(np.float64)
            found[data] = float(np.mean(test / (test.sum() - test)))
        return found

    @cached_property
    def summaries(self) -> dict[tuple[str, str, float], Summary]:
        """(data, method, epsilon) -> summary, in the experiment's order."""
        means = ("balanced_accuracy", "auc", "log_loss", "train_rows", "fit_seconds", "predict_seconds")
        grouped = self.frame.groupby(["data", "method", "epsilon"], sort=False)
        numbers: dict[Any, dict[Any, float]] = (
            grouped[[*means, "accuracy", "non_private_accuracy", "majority_accuracy"]].mean().to_dict("index")
        )  # fmt: skip
        spread: dict[Any, float] = grouped["accuracy"].std(ddof=1).fillna(0.0).to_dict()
        said: dict[Any, dict[Any, Any]] = grouped[["guarantee", "guarantee_epsilon"]].first().to_dict("index")
        runs: dict[Any, int] = grouped.size().to_dict()
        found = {}
        for key in itertools.product(self.data, self.methods, self.epsilons):
            low, high = interval(self._folds[key], self.test_by_train[key[0]])
            row = numbers[key]
            more: dict[str, Any] = {**said[key], **{f"{name}_mean": row[name] for name in means}}
            found[key] = Summary(
                data=key[0],
                method=key[1],
                epsilon=key[2],
                runs=runs[key],
                accuracy_mean=row["accuracy"],
                accuracy_sd=spread[key],
                accuracy_low=low,
                accuracy_high=high,
                non_private_accuracy=row["non_private_accuracy"],
                majority_accuracy=row["majority_accuracy"],
                **more,
            )
        return found

    def mean(self, method: str, epsilon: float, of: str = "accuracy_mean") -> float:
        """A figure of a method at one epsilon, the mean over data sets."""
        return float(np.mean([getattr(self.summaries[data, method, epsilon], of) for data in self.data]))

    def over_epsilons(self, data: str, method: str, of: str = "accuracy_mean") -> float:
        """A figure of a method on one data set, the mean over epsilons."""
        return float(np.mean([getattr(self.summaries[data, method, e], of) for e in self.epsilons]))

    def test(self, data: str, epsilon: float, first: str, second: str) -> Test:
        """The corrected paired t-test of two methods on one data set at one epsilon."""
        x, y = self._folds[data, first, epsilon], self._folds[data, second, epsilon]
        return corrected_t(x, y, self.test_by_train[data])

    @cached_property
    def signed_ranks(self) -> dict[tuple[str, str], Test]:
        """Each pair of methods, at the largest training size, over all data sets and epsilons."""
        cases = list(itertools.product(self.data, self.epsilons))
        figures = {m: [self.summaries[d, m, e].accuracy_mean for d, e in cases] for m in self.whole}
        return {(a, b): signed_rank(figures[a], figures[b]) for a in self.whole for b in self.whole if a != b}

    @cached_property
    def ranking(self) -> list[Standing]:
        """Wins and losses of each method, at the largest training size, over all pairs, data sets and epsilons."""
        cases = itertools.product(self.data, self.epsilons, itertools.combinations(self.whole, 2))
        return ranking(self.whole, [(a, b, self.test(d, e, a, b)) for d, e, (a, b) in cases])

    def to_json(self) -> dict[str, Any]:
        """Plain data: the shape of `dpcore compare --json`."""
        return {
            "title": self.experiment.title,
            "runs": self.runs,
            "new": self.new,
            "results": [{**attrs.asdict(s), "ratio": s.ratio} for s in self.summaries.values()],
            "ranking": [{**attrs.asdict(one), "balance": one.balance} for one in self.ranking],
            "wilcoxon": [
                {"first": a, "second": b, "difference": test.difference, "z": test.statistic, "p": test.p}
                for (a, b), test in self.signed_ranks.items()
                if self.methods.index(a) < self.methods.index(b)
            ],
        }


def method_of(experiment: Experiment, unit: Unit) -> str:
    """What tables and figures call the method of a unit."""
    words = [experiment.learners[unit.learner].label]
    if len(experiment.adjacency) > 1:
        words.append(unit.adjacency)
    if len(experiment.rows) > 1:
        words.append("all rows" if unit.rows == ALL else f"{unit.rows:,} rows")
    return ", ".join(words)
