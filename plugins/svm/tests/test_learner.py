"""The learner spends exactly its epsilon, and with much of it finds what everybody finds."""

from __future__ import annotations

from typing import Any
from unittest import mock

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from dpcore.errors import CapabilityError, InputError, NotConverged, ParameterError
from dpcore.evaluation import NoiselessCurator
from dpcore.features import FeatureMap
from dpcore.noise import SeededNoise
from dpcore.planning import make_plan
from dpcore.release import Release, fit
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows
from dpcore_svm.learner import Svm

ADJACENCIES = ["add-remove", "replace-one"]
SETTINGS: list[dict[str, Any]] = [
    {},
    {"bins": 6},
    {"strength": 2.0},
    {"lam": 5.0, "encoding": "scaled"},
    {"encoding": "ordinal", "perturbation": "output"},
    {"centre": "naive_bayes", "share": 0.4},
    {"centre": "naive_bayes", "loss": "huber"},
    {"centre": "zero", "loss": "logistic"},
    {"kernel": "rbf", "waves": 8, "encoding": "scaled"},
    {"variant": "chaudhuri2011"},
]


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_the_steps_cost_exactly_epsilon_and_the_file_gives_the_same_model(  # noqa: PLR0917
    registry: Any, tmp_path: Any, adjacency: str, classes: int, settings: dict[str, Any], schema: Any, sample: Any
) -> None:
    train, test = sample(classes, 300), sample(classes, 50, seed=1)
    for epsilon in (1e-9, 0.7):
        plan = make_plan(
            "svm", schema(classes), epsilon=epsilon, adjacency=adjacency, parameters=settings, registry=registry
        )
        assert epsilon * (1 - 1e-9) <= plan.total[0] <= epsilon
        release = fit(plan, MemoryTable(train), random_state=1)
        assert release.privacy["spent"]["epsilon"] == pytest.approx(epsilon, rel=1e-9)
        assert release.privacy["guarantee"] == "pure"
        assert [r.step for r in release.releases] == [p.step.name for p in plan.steps]
        release.save(tmp_path / "m.json")
        again = Release.load(tmp_path / "m.json", registry)
        log = release.log_proba(test)
        assert np.exp(log).sum(axis=1) == pytest.approx(1.0)
        assert (again.log_proba(test) == log).all()
        assert again.model.to_json() == release.model.to_json()


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("centre", ["zero", "naive_bayes"])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_with_delta_the_total_stays_within_the_budget(  # noqa: PLR0917
    registry: Any, classes: int, centre: str, adjacency: str, schema: Any, sample: Any
) -> None:
    plan = make_plan(
        "svm",
        schema(classes),
        epsilon=0.8,
        delta=1e-6,
        adjacency=adjacency,
        parameters={"centre": centre},
        registry=registry,
    )
    assert plan.total[0] <= 0.8
    assert plan.total[1] <= 1e-6
    release = fit(plan, MemoryTable(sample(classes, 200)), random_state=1)
    assert release.privacy["spent"]["epsilon"] <= 0.8 * (1 + 1e-9)


def matrix(rows: Rows, settings: Any) -> Any:
    """The rows as the learner sees them, written out."""
    features: FeatureMap = (
        Svm(**settings)._encoding(mock.Mock(schema=rows.schema), settings["bins"]).features(rows.schema)
    )
    places, numbers = features.encode(rows.columns, rows.size)
    dense = np.zeros((rows.size, features.width))
    np.put_along_axis(dense, places.astype(np.intp), numbers, axis=1)
    return dense


@pytest.mark.parametrize("classes", [2, 3])
def test_without_noise_it_is_logistic_regression(registry: Any, classes: int, schema: Any, sample: Any) -> None:
    train = sample(classes, 800)
    settings = {"loss": "logistic", "bins": 6, "centre": "zero", "strength": 1.0}
    plan = make_plan("svm", schema(classes), epsilon=1.0, parameters=settings, registry=registry)
    curator = NoiselessCurator(MemoryTable(train), plan.task, plan.steps, plan.accountant(), SeededNoise(0))
    ours = plan.classifier.learn(curator)
    x = matrix(train, settings)
    # without noise lam is 1, which is scikit-learn's C = 1; the last entry is the constant
    peer = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=2000).fit(x, train.columns["class"])
    assert ours.log_proba(train) == pytest.approx(peer.predict_log_proba(x), abs=1e-4)


@pytest.mark.parametrize("settings", [{}, {"loss": "logistic"}, {"encoding": "scaled"}, {"centre": "naive_bayes"}])
@pytest.mark.parametrize("classes", [2, 3])
def test_with_a_large_epsilon_it_learns(
    registry: Any, classes: int, settings: dict[str, Any], schema: Any, sample: Any
) -> None:
    train, test = sample(classes, 4000), sample(classes, 1000, seed=1)
    plan = make_plan("svm", schema(classes), epsilon=5.0, parameters=settings, registry=registry)
    release = fit(plan, MemoryTable(train), random_state=0)
    assert (release.predict(test) == test.columns["class"]).mean() > 0.85


def test_a_ring_needs_the_rbf_kernel(registry: Any) -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (20_000, 2))
    ring = Schema((Numeric("u", -1, 1), Numeric("v", -1, 1)), Nominal("class", ("in", "out")))
    y = ((x**2).sum(axis=1) > 0.6).astype(np.uint8)
    rows = Rows(ring, {"u": x[:, 0], "v": x[:, 1], "class": y}, len(x))
    right = {}
    for kernel in ("linear", "rbf"):
        settings = {"kernel": kernel, "encoding": "scaled", "gamma": 1.0 if kernel == "rbf" else None}
        plan = make_plan("svm", ring, epsilon=2.0, parameters=settings, registry=registry)
        right[kernel] = (fit(plan, MemoryTable(rows), random_state=0).predict(rows) == y).mean()
    assert right["linear"] < 0.65
    assert right["rbf"] > 0.85


class Replay(NoiselessCurator):
    """Gives the same answers whatever the rows are."""

    def _release(self, planned: Any, asked: Any, exact: Any, bound: Any) -> Any:
        return np.random.default_rng(len(self.releases)).normal(20, 15, asked.shape)


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
def test_equal_answers_give_equal_models_whatever_the_rows(
    registry: Any, settings: dict[str, Any], schema: Any, sample: Any
) -> None:
    plan = make_plan("svm", schema(3), epsilon=1.0, parameters=settings, registry=registry)
    made = []
    for n in (0, 1, 200):
        curator = Replay(MemoryTable(sample(3, n)), plan.task, plan.steps, plan.accountant(), SeededNoise(0))
        made.append(plan.classifier.learn(curator).to_json())
    assert made[0] == made[1] == made[2]


def test_an_inexact_minimum_is_never_released(registry: Any, schema: Any, sample: Any) -> None:
    plan = make_plan("svm", schema(2), epsilon=1.0, registry=registry)
    stays = mock.patch("dpcore_mechanisms.newton._descend", lambda objective, w, slope, *rest: (w, slope, True))
    with stays, pytest.raises(NotConverged, match="Nothing is released"):
        fit(plan, MemoryTable(sample(2, 500)), random_state=0)


def test_bins_and_regularisation_follow_noisy_sizes_alone(registry: Any, schema: Any, sample: Any) -> None:
    plan = make_plan("svm", schema(2), epsilon=1.0, registry=registry)
    found = {}
    for n in (20, 200_000):
        release = fit(plan, MemoryTable(sample(2, n)), random_state=0)
        asked = release.releases[-1].query
        found[n] = (release.model.encoding.bins, asked.strength)
    assert found[20][0] < found[200_000][0]
    assert found[20][1] > found[200_000][1]


def test_no_rows_at_all_make_a_model(registry: Any, schema: Any, sample: Any) -> None:
    for classes in (2, 3):
        plan = make_plan("svm", schema(classes), epsilon=1.0, registry=registry)
        release = fit(plan, MemoryTable(sample(classes, 0)), random_state=0)
        assert np.exp(release.log_proba(sample(classes, 9))).sum(axis=1) == pytest.approx(1.0)


def test_what_cannot_work_is_refused_before_any_row_is_read(registry: Any, schema: Any) -> None:
    with pytest.raises(CapabilityError, match="at least two values"):
        make_plan("svm", Schema((Nominal("only", ("same",)),), schema(2).target), epsilon=1.0, registry=registry)
    for settings in (
        {"centre": "naive_bayes", "kernel": "rbf"},
        {"variant": "chaudhuri2011", "perturbation": "output"},
    ):
        with pytest.raises(InputError, match=r"naive_bayes|output"):
            make_plan("svm", schema(2), epsilon=1.0, parameters=settings, registry=registry)


@pytest.mark.parametrize(
    ("name", "value"), [("loss", "hinge"), ("h", 0.0), ("share", 1.0), ("bins", 0), ("waves", 0), ("gamma", 0.0)]
)
def test_a_wrong_parameter_is_refused_in_the_form_of_scikit_learn(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=rf"^The '{name}' parameter of Svm must be .* Got .* instead\.$"):
        Svm(**{name: value})
