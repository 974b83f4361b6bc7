"""What an experiment is: data sets × methods × epsilons × folds × repeats, as frozen values that hold no row."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import attrs

from dpcore.errors import InputError
from dpcore.ledger import canonical
from dpcore.privacy import Adjacency, check_budget

ALL = 0
"""As a number of training rows: all that the fold has."""
_MOST_SEED = 2**32 - 1
_MOST = 100_000


@attrs.frozen
class Data:
    """A data set by name, or a file with its schema.

    Args:
        label: what tables and figures call it.
        source: a data set's name, or a file.
        schema: a schema file or a data set's name; None where the data set has its own.
    """

    label: str
    source: str
    schema: str | None = None


@attrs.frozen
class Learner:
    """A method: an installed learner, or an estimator from elsewhere.

    Args:
        label: what tables and figures call it.
        name: the installed learner's name; "" for an estimator.
        estimator: `module:Class` in scikit-learn's style; "" for an installed learner.
        parameters: of either.
        mechanism, sensitivity, allocator, accounting, delta: as for `dpcore plan`; None takes the default, of delta the
            experiment's.
        encoding: of the rows that an estimator sees, `onehot` or `ordinal`.
        repeats: how often noise is drawn on each fold; None takes the experiment's.
    """

    label: str
    name: str = ""
    estimator: str = ""
    parameters: Mapping[str, Any] = attrs.field(factory=dict)
    mechanism: str | None = None
    sensitivity: str | None = None
    allocator: str | None = None
    accounting: str | None = None
    delta: float | None = None
    encoding: str = "onehot"
    repeats: int | None = None

    @property
    def settings(self) -> str:
        """All that decides what it does, as one line of JSON: part of every run's key."""
        named = {"estimator": self.estimator, "encoding": self.encoding} if self.estimator else {"name": self.name}
        overrides = {
            key: getattr(self, key)
            for key in ("mechanism", "sensitivity", "allocator", "accounting")
            if getattr(self, key) is not None
        }
        given = {"parameters": dict(self.parameters)} if self.parameters else {}
        return canonical({**named, **given, **overrides})


@attrs.frozen
class Published:
    """Figures of a paper, to stand beside ours: label of method -> label of data set -> accuracy.

    Args:
        source: the paper.
        private: mean accuracies over the epsilons.
        non_private: accuracies without noise.
        notes: label of method -> label of data set -> why a figure cannot be right.
    """

    source: str = ""
    private: Mapping[str, Mapping[str, float]] = attrs.field(factory=dict)
    non_private: Mapping[str, Mapping[str, float]] = attrs.field(factory=dict)
    notes: Mapping[str, Mapping[str, str]] = attrs.field(factory=dict)


@attrs.frozen
class Unit:
    """What one worker does in one go: every epsilon and repeat of one method on one fold, with the same exact answers.

    Args:
        data, learner: indices into the experiment's.
        rows: training rows, `ALL` for all.
    """

    data: int
    learner: int
    adjacency: str
    rows: int
    fold: int


def _adjacencies(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(str(Adjacency.parse(value)) for value in values)


@attrs.frozen
class Experiment:
    """What is compared.

    Args:
        data, learners: at least one each, with different labels.
        epsilon: whole budgets of a fit.
        delta: of (epsilon, delta); 0 for pure epsilon.
        adjacency: `add-remove`, `replace-one`, or both.
        folds: of a stratified cross-validation, the same for every method.
        repeats: how often noise is drawn anew on each fold.
        rows: sizes of the training set, taken at random from the fold's; `ALL` for all of them.
        seed: of the folds and the noise.
        exact_epsilon: the epsilon at which the noiseless figure is planned; by default the largest.
        title, notes: for the report.
        published: figures of a paper.

    Raises:
        InputError: for an empty or wrong field.
    """

    data: tuple[Data, ...]
    learners: tuple[Learner, ...]
    epsilon: tuple[float, ...] = (0.05, 0.1, 0.5, 1.0)
    delta: float = 0.0
    adjacency: tuple[str, ...] = attrs.field(default=(str(Adjacency.ADD_REMOVE),), converter=_adjacencies)
    folds: int = 10
    repeats: int = 1
    rows: tuple[int, ...] = (ALL,)
    seed: int = 0
    exact_epsilon: float | None = None
    title: str = ""
    notes: str = ""
    published: Published = attrs.field(factory=Published)

    def __attrs_post_init__(self) -> None:
        for what, there in (("data set", self.data), ("learner", self.learners), ("epsilon", self.epsilon)):
            if not there:
                raise InputError(f"an experiment needs at least one {what}.")
        for epsilon in (*self.epsilon, *([] if self.exact_epsilon is None else [self.exact_epsilon])):
            check_budget(epsilon, self.delta)
        axes: tuple[tuple[str, tuple[Any, ...]], ...] = (
            ("epsilon", self.epsilon), ("adjacency", self.adjacency), ("rows", self.rows),
        )  # fmt: skip
        for what, given in axes:
            if len(set(given)) < len(given) or not given:
                raise InputError(f"{what} must be different values, at least one. Got {list(given)!r}.")
        for learner in self.learners:
            _check_learner(learner)
        self._check_labels()
        _whole("folds", self.folds, 2, _MOST)
        _whole("repeats", self.repeats, 1, _MOST)
        _whole("seed", self.seed, 0, _MOST_SEED)
        for size in self.rows:
            if size != ALL:
                _whole("rows", size, 2, 2**40)

    def _check_labels(self) -> None:
        for what, labels in (("data set", [d.label for d in self.data]), ("learner", [x.label for x in self.learners])):
            twice = [label for label in labels if labels.count(label) > 1]
            if twice:
                raise InputError(f"two {what}s are called {twice[0]!r}: give one of them another label.")
        same = [x.label for x in self.learners if [self.identity(y) for y in self.learners].count(self.identity(x)) > 1]
        if same:
            raise InputError(f"the learners {' and '.join(map(repr, same[:2]))} are the same but for their labels.")

    def identity(self, learner: Learner) -> tuple[str, float]:
        """What tells two methods of this experiment apart."""
        return learner.settings, self.delta_of(learner)

    def delta_of(self, learner: Learner) -> float:
        """The delta of a method's fits."""
        return self.delta if learner.delta is None else learner.delta

    def repeats_of(self, learner: Learner) -> int:
        """How often noise is drawn for it on each fold."""
        return self.repeats if learner.repeats is None else learner.repeats

    @property
    def planned_exactly(self) -> float:
        """The epsilon at which the figure without noise is planned."""
        return max(self.epsilon) if self.exact_epsilon is None else self.exact_epsilon

    def units(self) -> list[Unit]:
        """All units, those of one data set and fold together, so that a worker can keep what they share."""
        axes = itertools.product(
            range(len(self.data)), range(self.folds), self.rows, self.adjacency, range(len(self.learners))
        )
        return [Unit(data, learner, adjacency, rows, fold) for data, fold, rows, adjacency, learner in axes]

    def only(self, learners: tuple[str, ...] = (), data: tuple[str, ...] = ()) -> Experiment:
        """The part with these labels or names; no label takes all.

        Raises:
            InputError: for one that there is not.
        """
        chosen = tuple(x for x in self.learners if not learners or {x.label, x.name} & set(learners))
        sets = tuple(d for d in self.data if not data or {d.label, d.source} & set(data))
        for asked, found in ((learners, [t for x in chosen for t in (x.label, x.name)]), (data, _names(sets))):
            for one in asked:
                if one not in found:
                    known = [x.label for x in self.learners] if asked is learners else [d.label for d in self.data]
                    raise InputError(f"the experiment has no {one!r}; it has: {', '.join(known)}.")
        return attrs.evolve(self, learners=chosen, data=sets)


def _names(sets: tuple[Data, ...]) -> list[str]:
    return [text for d in sets for text in (d.label, d.source)]


def _check_learner(learner: Learner) -> None:
    if bool(learner.name) == bool(learner.estimator):
        raise InputError(f"learner {learner.label!r} needs a name or an estimator, and not both.")
    if learner.encoding not in ("onehot", "ordinal"):
        raise InputError(f"encoding must be onehot or ordinal. Got {learner.encoding!r}.")
    try:
        canonical(dict(learner.parameters))
    except InputError:
        raise InputError(
            f"learner {learner.label!r}: parameters must be finite numbers, texts, lists, tables."
        ) from None
    if learner.delta is not None:
        check_budget(1.0, learner.delta)
    if learner.repeats is not None:
        _whole("repeats", learner.repeats, 1, _MOST)
    if learner.estimator and any((learner.mechanism, learner.sensitivity, learner.allocator, learner.accounting)):
        raise InputError(f"learner {learner.label!r}: an estimator from elsewhere takes parameters only.")


def _whole(name: str, value: Any, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        shown = value if not isinstance(value, float) or math.isfinite(value) else str(value)
        raise InputError(f"{name} must be a whole number from {low} to {high}. Got {shown!r}.")


def resolve(folder: Path, text: str) -> str:
    """A file's path as an experiment file means it: relative to the folder that it stands in."""
    looks_like_a_file = bool(Path(text).suffix) or "/" in text
    return str(folder / text) if looks_like_a_file and "://" not in text else text
