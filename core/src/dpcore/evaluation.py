"""Cross-validation at several epsilons, beside the same learner without noise and the majority class.

The exact answers of a fold depend neither on epsilon nor on the repeat, so they are computed once. The figures are
computed on private rows and are not themselves private.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.bound import Bound
from dpcore.classifier import Model
from dpcore.curator import Curator
from dpcore.errors import InputError
from dpcore.mechanism import Answer
from dpcore.noise import noise_source
from dpcore.planned import Plan, PlannedStep, Unlimited
from dpcore.query import Exact, Query
from dpcore.release import fit
from dpcore.table import MemoryTable, Rows, Table


class NoiselessCurator(Curator):
    """Gives exact answers: for the non-private counterpart of a learner, never for a release."""

    def _release(self, planned: PlannedStep, asked: Query, exact: Exact, bound: Bound) -> Answer:
        return planned.mechanism.without_noise(exact, bound, planned.calibrated)

    def scale(self, step: str) -> float:
        """No noise, so none to smooth."""
        return 0.0


@attrs.frozen
class Evaluation:
    """What one epsilon came to: means over folds and repeats."""

    epsilon: float
    accuracy_mean: float
    accuracy_sd: float
    folds: int
    repeats: int
    fit_seconds_mean: float
    non_private_accuracy: float
    majority_accuracy: float

    def to_json(self) -> dict[str, Any]:
        """Plain data: one object of `dpcore evaluate --json`."""
        return attrs.asdict(self)


def stratified_folds(rows: Rows, folds: int, seed: int) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    """(train, test) indices of shuffled stratified folds.

    Raises:
        InputError: for fewer than 2 folds, or more folds than rows.
    """
    import warnings

    from sklearn.model_selection import StratifiedKFold

    if not 2 <= folds <= rows.size:
        raise InputError(f"folds must be between 2 and the number of rows. Got {folds}.")
    labels = rows.columns[rows.schema.target.name]
    if folds > np.bincount(labels).max():
        raise InputError(f"folds must be at most the size of the largest class. Got {folds}.")
    splitter = StratifiedKFold(folds, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        # a class with fewer rows than folds is in some of them only; that is so in the data, too
        warnings.simplefilter("ignore", UserWarning)
        return list(splitter.split(np.zeros(rows.size), labels))


def evaluate(
    plans: Sequence[Plan],
    rows: Rows,
    *,
    folds: int = 10,
    repeats: int = 1,
    seed: int = 0,
    advance: Callable[[], object] = lambda: None,
) -> list[Evaluation]:
    """Accuracy of each plan by stratified cross-validation.

    Args:
        plans: one an epsilon, all for the schema of `rows`.
        rows: encoded rows with the class.
        folds: at least 2; the same for every plan.
        repeats: how often noise is drawn anew on each fold, at least 1.
        seed: of the folds and the noise.
        advance: called after every fit.

    Returns:
        one `Evaluation` a plan; the non-private figure is the same learner, planned alike, with exact answers.
    """
    if repeats < 1:
        raise InputError(f"repeats must be at least 1. Got {repeats}.")
    names = rows.schema.target.name
    splits = stratified_folds(rows, folds, seed)
    shape = (len(plans), folds, repeats)
    accuracy, seconds = np.zeros(shape), np.zeros(shape)
    exact, majority = np.zeros((len(plans), folds)), np.zeros(folds)
    for f, (train, test) in enumerate(splits):
        table, held = MemoryTable(rows.take(train)), rows.take(test)
        truth = held.columns[names]
        majority[f] = np.mean(truth == np.bincount(rows.columns[names][train]).argmax())
        for p, plan in enumerate(plans):
            exact[p, f] = np.mean(np.argmax(fit_exactly(plan, table).log_proba(held), axis=1) == truth)
            for r in range(repeats):
                # by epsilon, not by its place: a budget's figures do not depend on which others are asked for
                draw = np.random.default_rng([seed, *_words(plan.task.epsilon), f, r])
                start = time.process_time()
                release = fit(plan, table, random_state=draw, not_private=True)
                seconds[p, f, r] = time.process_time() - start
                accuracy[p, f, r] = np.mean(release.predict(held) == truth)
                advance()
    return [
        Evaluation(
            epsilon=plan.task.epsilon,
            accuracy_mean=float(accuracy[p].mean()),
            accuracy_sd=float(accuracy[p].std(ddof=1)) if accuracy[p].size > 1 else 0.0,
            folds=folds,
            repeats=repeats,
            fit_seconds_mean=float(seconds[p].mean()),
            non_private_accuracy=float(exact[p].mean()),
            majority_accuracy=float(majority.mean()),
        )
        for p, plan in enumerate(plans)
    ]


def _words(number: float) -> list[int]:
    """A float's 64 bits, as two seeds."""
    return [int(word) for word in np.array([number]).view(np.uint32)]


def fit_exactly(plan: Plan, table: Table) -> Model:
    """The model that a plan's learner makes of exact answers: its counterpart without privacy, never a release."""
    curator = NoiselessCurator(
        table,
        plan.task,
        plan.steps,
        Unlimited(plan.task.epsilon, plan.task.delta),
        noise_source(0),
        allow_local=True,
    )
    return plan.classifier.learn(curator)
