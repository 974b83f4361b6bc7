"""A small experiment that needs no file: iris, two forms of naive Bayes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from dpcore_experiments.experiment import Data, Experiment, Learner
from dpcore_experiments.results import Results
from dpcore_experiments.running import run


@pytest.fixture(scope="session")
def make() -> Callable[..., Experiment]:
    """An experiment of 2 methods, 2 epsilons, 3 folds and 2 repeats, with changes."""

    def build(**changes: Any) -> Experiment:
        base = {
            "data": (Data("iris", "iris"),),
            "learners": (Learner("bins", "naive_bayes"), Learner("moments", "naive_bayes", parameters=MOMENTS)),
            "epsilon": (0.1, 1.0),
            "folds": 3,
            "repeats": 2,
        }
        return Experiment(**{**base, **changes})

    return build


MOMENTS = {"model": "moments"}


@pytest.fixture(scope="session")
def results(make: Callable[..., Experiment]) -> Results:
    """What that experiment comes to, with a third method from elsewhere."""
    foreign = Learner("<Bernoulli>", estimator="sklearn.naive_bayes:BernoulliNB")
    return run(make(learners=(*make().learners, foreign), title="A <small> experiment & its report"))
