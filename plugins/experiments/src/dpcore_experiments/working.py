"""What one process does: the fits of a unit, on rows that it reads and cuts once."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore.errors import DpcoreError, PluginError
from dpcore.evaluation import fit_exactly, stratified_folds
from dpcore.ledger import fingerprint
from dpcore.planned import Plan
from dpcore.planning import make_plan
from dpcore.registry import Registry, load_plugins
from dpcore.release import fit
from dpcore.source import check_classes, find_schema, read_rows
from dpcore.table import MemoryTable, Rows
from dpcore_experiments.experiment import ALL, Data, Experiment, Learner, Unit
from dpcore_experiments.foreign import Estimator, log_proba, matrix
from dpcore_experiments.keys import Key
from dpcore_experiments.scoring import Held, Scores

_SETS = 2
"""Data sets that a process keeps: units come data set by data set."""


@attrs.frozen(eq=False)
class Loaded:
    """The rows of a data set, and the hash of them and of their schema."""

    rows: Rows
    hash: str


@attrs.frozen(eq=False)
class Fold:
    """One fold: a table that remembers its answers, the test rows, and the training class that most rows have."""

    train: Rows
    table: MemoryTable
    held: Held
    commonest: int


@lru_cache(maxsize=1)
def plugins() -> Registry:
    """This process's plugins."""
    return load_plugins()


@lru_cache(maxsize=_SETS)
def loaded(data: Data) -> Loaded:
    """A data set, read and encoded.

    Raises:
        InputError: if it cannot be had, does not fit its schema, or has one class only.
    """
    schema = find_schema(data.source, data.schema, plugins())
    rows = read_rows(data.source, schema, plugins())
    check_classes(MemoryTable(rows))
    digest = hashlib.sha256(fingerprint(schema).encode())
    for name in (*schema.names, schema.target.name):
        column = np.ascontiguousarray(rows.columns[name])
        # by value: whether a file's whole numbers were read as floats must not matter
        digest.update(column.astype(np.float64).tobytes())
    return Loaded(rows, digest.hexdigest()[:16])


@lru_cache(maxsize=_SETS)
def _splits(data: Data, folds: int, seed: int) -> list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]:
    return stratified_folds(loaded(data).rows, folds, seed)


@lru_cache(maxsize=_SETS)
def _fold(data: Data, folds: int, seed: int, fold: int, size: int) -> Fold:
    rows = loaded(data).rows
    train, test = _splits(data, folds, seed)[fold]
    if size != ALL and size < len(train):
        words = [seed, folds, fold, int(loaded(data).hash[:8], 16)]
        # smaller sets are parts of larger ones
        train = np.random.default_rng(words).permutation(train)[:size]
    part = rows.take(train)
    labels = part.columns[rows.schema.target.name]
    return Fold(part, MemoryTable(part), Held.of(rows.take(test)), int(np.bincount(labels).argmax()))


@lru_cache(maxsize=256)
def plan_for(data: Data, settings: str, delta: float, adjacency: str, epsilon: float) -> Plan:
    """The plan of one method (by `Learner.settings`) for the schema of a data set.

    Raises:
        InputError, PluginError: if the method does not fit, or its name or parameters are wrong.
    """
    given = json.loads(settings)
    schema = find_schema(data.source, data.schema, plugins())
    return make_plan(
        given.pop("name"), schema, epsilon=epsilon, delta=delta, adjacency=adjacency, registry=plugins(), **given
    )


def work(experiment: Experiment, unit: Unit, keys: Sequence[Key]) -> list[dict[str, Any]]:
    """The runs of a unit with these keys, one record each.

    Raises:
        DpcoreError: if a fit fails; says which, and holds no row's value.
    """
    from threadpoolctl import threadpool_limits

    data, learner = experiment.data[unit.data], experiment.learners[unit.learner]
    cut = _fold(data, experiment.folds, experiment.seed, unit.fold, unit.rows)
    runner = _run_estimator if learner.estimator else _run_learner
    about = {
        "data": data.label,
        "learner": learner.label,
        "train_rows": cut.train.size,
        "test_rows": int(cut.held.classes.sum()),
        "majority_accuracy": cut.held.majority(cut.commonest),
    }
    # one thread: the order in which numbers are added up must not depend on the machine
    with threadpool_limits(1):
        try:
            return [{**key.to_json(), **about, **row} for key, row in runner(experiment, unit, cut, keys)]
        except DpcoreError as error:
            raise type(error)(f"{learner.label} on {data.label}: {error}") from None
        except Exception as error:
            raise PluginError(
                f"{learner.label} on {data.label}, fold {unit.fold + 1}: it failed with {_where(error)}."
            ) from error


def _where(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = "" if trace is None else f" in {trace.tb_frame.f_globals.get('__name__', '?')}, line {trace.tb_lineno}"
    return f"{type(error).__name__}{place}"


_Runs = list[tuple[Key, dict[str, Any]]]


def _run_learner(experiment: Experiment, unit: Unit, cut: Fold, keys: Sequence[Key]) -> _Runs:
    learner = experiment.learners[unit.learner]
    planned = partial(
        plan_for, experiment.data[unit.data], learner.settings, experiment.delta_of(learner), unit.adjacency
    )
    bare = fit_exactly(planned(experiment.planned_exactly), cut.table)
    exact = cut.held.score(bare.log_proba(cut.held.rows)).accuracy
    found = []
    for key in keys:
        plan = planned(key.epsilon)
        start = time.process_time()
        release = fit(plan, cut.table, random_state=np.random.default_rng(key.noise_seed), not_private=True)
        fitted = time.process_time()
        told = release.log_proba(cut.held.rows)
        done = time.process_time()
        epsilon = release.privacy["spent"]["epsilon"] if release.privacy["guarantee"] != "none" else None
        about = {
            "guarantee": release.privacy["guarantee"],
            "guarantee_epsilon": float("inf") if epsilon is None else epsilon,
            "non_private_accuracy": exact,
        }
        found.append((key, _record(cut.held.score(told), fitted - start, done - fitted, about)))
    return found


def _run_estimator(experiment: Experiment, unit: Unit, cut: Fold, keys: Sequence[Key]) -> _Runs:
    import warnings

    learner = experiment.learners[unit.learner]
    estimator = Estimator.find(learner.estimator, learner.parameters, learner.encoding)
    schema = cut.train.schema
    x, seen = matrix(cut.train, learner.encoding), matrix(cut.held.rows, learner.encoding)
    y = cut.train.columns[schema.target.name].astype(np.int64)
    found = []
    for key in keys:
        made = estimator.build(key.epsilon, key.delta, key.noise_seed, schema)
        start = time.process_time()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            made.fit(x.copy(), y.copy())
        fitted = time.process_time()
        predicted, told = log_proba(made, seen, len(schema.classes))
        done = time.process_time()
        scores = cut.held.score_labels(predicted)
        if told is not None:
            full = cut.held.score(told)
            scores = attrs.evolve(scores, auc=full.auc, log_loss=full.log_loss)
        about = {
            "guarantee": "claimed" if estimator.claims else "none",
            "guarantee_epsilon": key.epsilon,
            "non_private_accuracy": float("nan") if estimator.claims else scores.accuracy,
        }
        found.append((key, _record(scores, fitted - start, done - fitted, about)))
    return found


def _record(scores: Scores, fit_seconds: float, predict_seconds: float, about: dict[str, Any]) -> dict[str, Any]:
    seconds = {"fit_seconds": round(fit_seconds, 6), "predict_seconds": round(predict_seconds, 6)}
    return {**attrs.asdict(scores), **about, **seconds}


def version_of(learner: Learner, plan: Plan | None) -> str:
    """The versions of all that takes part in a run: those of dpcore and of the packages of the plan's parts."""
    import dpcore

    found = {"dpcore": dpcore.__version__}
    if plan is None:
        import importlib.metadata

        module = learner.estimator.partition(":")[0].partition(".")[0]
        for dist in importlib.metadata.packages_distributions().get(module, []):
            found[dist] = importlib.metadata.version(dist)
    else:
        parts: list[Any] = [plan.classifier, *(x for p in plan.steps for x in (p.mechanism, p.rule))]
        modules = {type(part).__module__.partition(".")[0] for part in parts}
        found |= {dist: version for module, (dist, version) in _packages().items() if module in modules}
    return ", ".join(f"{dist} {version}" for dist, version in sorted(found.items()))


@lru_cache(maxsize=1)
def _packages() -> dict[str, tuple[str, str]]:
    """Top-level module -> distribution and version, of everything that is listed."""
    found = {}
    for row in plugins().rows():
        if row.status == "ok" and row.kind:
            factory = plugins().component(row.kind, f"{row.dist}:{row.name}").factory
            found[factory.partition(":")[0].partition(".")[0]] = (row.dist, row.version)
    return found
