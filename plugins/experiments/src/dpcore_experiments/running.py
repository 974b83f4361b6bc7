"""Runs an experiment: what is not held yet, in processes, with every unit kept as soon as it is done."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import attrs

from dpcore.errors import DpcoreError, InputError
from dpcore_experiments.experiment import Experiment, Learner, Unit
from dpcore_experiments.foreign import Estimator
from dpcore_experiments.keys import Key
from dpcore_experiments.results import Results
from dpcore_experiments.store import Store, check_place
from dpcore_experiments.working import loaded, plan_for, plugins, version_of, work

Progress = Callable[[str, int], AbstractContextManager[Callable[[int], object]]]
"""What shows progress: from a description and the number of runs, a context that is told how many are done."""


@attrs.frozen(eq=False)
class Agenda:
    """All units of an experiment with the keys of their runs.

    Args:
        units: unit -> keys, in order.
        warnings: what a reader must know of the methods' guarantees, of each where it is worst.
    """

    units: Mapping[Unit, tuple[Key, ...]]
    warnings: tuple[str, ...] = ()

    @property
    def keys(self) -> Iterator[Key]:
        """The keys of all runs."""
        return (key for keys in self.units.values() for key in keys)

    def without(self, held: set[Key]) -> Agenda:
        """What is left to do."""
        left = {unit: tuple(k for k in keys if k not in held) for unit, keys in self.units.items()}
        return attrs.evolve(self, units={unit: keys for unit, keys in left.items() if keys})


def agenda(experiment: Experiment) -> Agenda:
    """Everything that an experiment does; every method is planned for every data set first.

    Raises:
        InputError, PluginError: if a data set cannot be had, or a method does not fit one of them.
    """
    hashes = [loaded(data).hash for data in experiment.data]
    versions: dict[tuple[int, int], str] = {}
    warnings: dict[str, tuple[float, str]] = {}
    for d in range(len(experiment.data)):
        for m, learner in enumerate(experiment.learners):
            versions[d, m] = _check(experiment, d, learner, warnings)
    units = {}
    for unit in experiment.units():
        learner = experiment.learners[unit.learner]
        noisy = not learner.estimator or _estimator(learner).claims
        keys = [
            Key(
                data_hash=hashes[unit.data],
                rows=unit.rows,
                settings=learner.settings,
                epsilon=epsilon,
                delta=experiment.delta_of(learner) if noisy else 0.0,
                adjacency=unit.adjacency,
                folds=experiment.folds,
                fold=unit.fold,
                repeat=repeat,
                seed=experiment.seed,
                exact_epsilon=math.inf if learner.estimator else experiment.planned_exactly,
                version=versions[unit.data, unit.learner],
            )
            for epsilon in (experiment.epsilon if noisy else [math.inf])
            for repeat in range(experiment.repeats_of(learner) if noisy else 1)
        ]
        units[unit] = tuple(keys)
    return Agenda(units, tuple(f"{label}: {text}" for label, (_, text) in warnings.items()))


def _check(experiment: Experiment, data: int, learner: Learner, warnings: dict[str, tuple[float, str]]) -> str:
    """Plan a method on a data set, note what is wrong with its guarantee, and return its packages' versions."""
    if learner.estimator:
        if _estimator(learner).claims:
            warnings[learner.label] = 0.0, "its guarantee is what it claims; nothing enforces it."
        return version_of(learner, None)
    plugins().component("classifier", learner.name)
    plan = None
    for adjacency in experiment.adjacency:
        for epsilon in sorted({*experiment.epsilon, experiment.planned_exactly}):
            place = experiment.data[data]
            try:
                plan = plan_for(place, learner.settings, experiment.delta_of(learner), adjacency, epsilon)
            except DpcoreError as error:
                raise type(error)(f"{learner.label} on {place.label}: {error}") from None
        if plan is not None and plan.guarantee.note:
            told = plan.guarantee.epsilon, f"{plan.guarantee.note.rstrip('.')} ({experiment.data[data].label})."
            warnings[learner.label] = max(warnings.get(learner.label, told), told)
    return version_of(learner, plan)


def _estimator(learner: Learner) -> Estimator:
    return Estimator.find(learner.estimator, learner.parameters, learner.encoding)


def run(
    experiment: Experiment,
    *,
    out: str | Path | None = None,
    jobs: int = 1,
    progress: Progress | None = None,
    warn: Callable[[str], object] = lambda text: None,
) -> Results:
    """Do all runs of an experiment that are not held yet.

    Args:
        experiment: what to do.
        out: a results file (.csv or .parquet) that is read first and added to; None keeps nothing.
        jobs: processes; the results are the same for any number.
        progress: shows how far it is.
        warn: told what is wrong with a method's guarantee.

    Returns:
        the experiment's results, also of runs that were held.

    Raises:
        InputError, PluginError: for a wrong experiment or results file, before any run; or if a fit fails, when what
            was done is kept.
    """
    if jobs < 1:
        raise InputError(f"jobs must be at least 1. Got {jobs}.")
    path = None if out is None else Path(out)
    if path is not None:
        check_place(path)
    full = agenda(experiment)
    for text in full.warnings:
        warn(text)
    with Store(path) as store:
        left = full.without(store.held())
        many = sum(map(len, left.units.values()))
        show = progress or _silent
        with show(f"{many} runs", many) as advance:
            for records in _done(experiment, left, jobs):
                store.add(records)
                advance(len(records))
        return Results.of(experiment, full, store.finish(), new=many)


def _done(experiment: Experiment, left: Agenda, jobs: int) -> Iterator[list[dict[str, Any]]]:
    """The records of every unit, as they are done."""
    if min(jobs, len(left.units)) <= 1:
        for unit, keys in left.units.items():
            yield work(experiment, unit, keys)
        return
    from joblib import Parallel, delayed

    pool = Parallel(n_jobs=jobs, backend="loky", return_as="generator_unordered", batch_size=1)
    found = pool(delayed(work)(experiment, unit, keys) for unit, keys in left.units.items())
    try:
        while (records := _quietly(lambda: next(found, None))) is not None:
            yield records
    finally:
        _quietly(found.close)


def _quietly(act: Callable[[], Any]) -> Any:
    """Without joblib's advice to those whom an error or Ctrl-C stops: what was done is kept."""
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*tasks which were still being processed", category=UserWarning)
        return act()


class _Silent(AbstractContextManager[Callable[[int], object]]):
    def __enter__(self) -> Callable[[int], object]:
        return lambda count: None

    def __exit__(self, *_: object) -> None:
        return None


def _silent(description: str, total: int) -> AbstractContextManager[Callable[[int], object]]:
    return _Silent()
