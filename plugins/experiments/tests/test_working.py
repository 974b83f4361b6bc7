"""A run is the fit that anybody would do by hand with the same seed, judged on the same rows."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import numpy as np
import pytest

from dpcore.errors import PluginError
from dpcore.evaluation import fit_exactly, stratified_folds
from dpcore.planning import make_plan
from dpcore.release import fit
from dpcore.table import MemoryTable
from dpcore_experiments import working
from dpcore_experiments.experiment import Data, Experiment, Learner
from dpcore_experiments.running import agenda
from dpcore_experiments.working import loaded, work


def test_a_record_is_the_fit_by_hand(make: Callable[..., Experiment]) -> None:
    experiment = make()
    (unit, keys) = list(agenda(experiment).units.items())[2]
    records = work(experiment, unit, keys)
    rows = loaded(experiment.data[0]).rows
    train, test = stratified_folds(rows, experiment.folds, experiment.seed)[unit.fold]
    table, held = MemoryTable(rows.take(train)), rows.take(test)
    truth = held.columns["species"]
    assert len(records) == 4
    for key, record in zip(keys, records, strict=True):
        plan = make_plan("naive_bayes", rows.schema, epsilon=key.epsilon)
        release = fit(plan, table, random_state=np.random.default_rng(key.noise_seed))
        assert record["accuracy"] == pytest.approx(np.mean(release.predict(held) == truth))
        exact = fit_exactly(make_plan("naive_bayes", rows.schema, epsilon=1.0), table)
        assert record["non_private_accuracy"] == pytest.approx(
            np.mean(exact.log_proba(held).argmax(axis=1) == truth)
        )  # fmt: skip
        assert (record["guarantee"], record["guarantee_epsilon"]) == ("pure", pytest.approx(key.epsilon))
        assert (record["train_rows"], record["test_rows"]) == (len(train), len(test))


def test_runs_do_not_depend_on_which_others_are_done(make: Callable[..., Experiment]) -> None:
    experiment = make()
    unit, keys = next(iter(agenda(experiment).units.items()))
    together = {key: record["log_loss"] for key, record in zip(keys, work(experiment, unit, keys), strict=True)}
    for key in reversed(keys):
        assert work(experiment, unit, [key])[0]["log_loss"] == together[key]


def test_smaller_training_sets_are_parts_of_larger_ones(make: Callable[..., Experiment]) -> None:
    cuts = [working._fold(make().data[0], 3, 0, 1, size) for size in (20, 60, 0)]
    seen = [{tuple(row) for row in zip(*(c.train.columns.values()), strict=True)} for c in cuts]
    assert [c.train.size for c in cuts] == [20, 60, 100]
    assert seen[0] <= seen[1] <= seen[2]
    assert len({id(c.held) for c in cuts}) == 3


def test_the_hash_of_a_data_set_is_that_of_its_values(tmp_path: object) -> None:
    assert loaded(Data("a", "iris")).hash == loaded(Data("b", "iris")).hash
    assert loaded(Data("a", "iris")).hash != loaded(Data("a", "wine")).hash


def test_a_fit_that_fails_is_named_without_its_words(make: Callable[..., Experiment]) -> None:
    experiment = make(learners=(Learner("broken", estimator=f"{__name__}:Broken"),))
    unit, keys = next(iter(agenda(experiment).units.items()))
    with pytest.raises(PluginError, match="broken on iris, fold 1: it failed with ValueError") as caught:
        work(experiment, unit, keys)
    assert "secret" not in str(caught.value)


class Broken:
    """Cannot be fitted."""

    def fit(self, x: np.ndarray, y: np.ndarray) -> None:
        """Fail."""
        raise ValueError(f"a secret value {x[0]}")


def test_a_method_without_an_epsilon_runs_once_a_fold(make: Callable[..., Experiment]) -> None:
    foreign = Learner("bernoulli", estimator="sklearn.naive_bayes:BernoulliNB")
    experiment = make(learners=(foreign,))
    planned = agenda(experiment)
    assert [len(keys) for keys in planned.units.values()] == [1, 1, 1]
    unit, keys = next(iter(planned.units.items()))
    (record,) = work(experiment, unit, keys)
    assert record["guarantee"] == "none"
    assert record["non_private_accuracy"] == record["accuracy"]
    assert attrs.evolve(keys[0], repeat=1).noise_seed != keys[0].noise_seed
