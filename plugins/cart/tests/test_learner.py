"""The learner end to end: what is charged, what is asked, what is learned."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dpcore.curator import Curator
from dpcore.errors import CapabilityError, ParameterError
from dpcore.evaluation import fit_exactly
from dpcore.noise import SeededNoise
from dpcore.planning import make_plan
from dpcore.release import fit
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows
from dpcore_cart.growing import class_weights, depth_for
from dpcore_cart.learner import Cart
from dpcore_cart.model import TreeModel

SCHEMA = Schema(
    (
        Nominal("colour", ("red", "green", "blue"), missing=True),
        Numeric("size", 0, 10),
        Numeric("grade", 1, 5, integer=True, missing=True),
    ),
    Nominal("class", ("a", "b", "c")),
)
SPLITTERS = [{}, {"score": "max"}, {"score": "gini", "selection": "exponential"}, {"multiway": 4},
             {"splitter": "noisy_gini"}, {"splitter": "random", "trees": 3}]  # fmt: skip


def sample(n: int, seed: int = 0) -> Rows:
    draw = np.random.default_rng(seed)
    colour, size = draw.integers(0, 4, n).astype(np.uint8), draw.uniform(0, 10, n)
    grade = draw.integers(1, 6, n).astype(float)
    grade[draw.random(n) < 0.1] = np.nan
    label = np.where(colour == 0, 0, np.where(size < 5, 1, 2)).astype(np.uint8)
    return Rows(SCHEMA, {"colour": colour, "size": size, "grade": grade, "class": label}, n)


def plan_of(registry: Any, epsilon: float = 1.0, adjacency: str = "add-remove", **parameters: Any) -> Any:
    return make_plan("cart", SCHEMA, epsilon=epsilon, adjacency=adjacency, parameters=parameters, registry=registry)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
@pytest.mark.parametrize("settings", SPLITTERS, ids=str)
def test_the_whole_budget_is_planned_and_no_more_is_spent(registry: Any, settings: Any, adjacency: str) -> None:
    plan = plan_of(registry, 0.7, adjacency, **settings)
    assert plan.total[0] == pytest.approx(0.7)
    release = fit(plan, MemoryTable(sample(3000)), random_state=0)
    assert release.privacy["spent"]["epsilon"] <= 0.7 * (1 + 1e-9)
    assert release.privacy["guarantee"] == "pure"


def test_a_level_is_charged_once_however_many_nodes_choose(registry: Any) -> None:
    plan = plan_of(registry, 3.0, depth=4)
    names = [f"{what} {level}" for level in range(4) for what in ("counts", "splits")] + ["leaves"]
    assert [p.step.name for p in plan.steps] == names
    assert all(p.step.times == 1 for p in plan.steps)
    release = fit(plan, MemoryTable(sample(20_000)), random_state=0)
    assert [r.step for r in release.releases] == names
    asked = {r.step: r.query for r in release.releases}
    assert asked["splits 2"].parts > 2
    for p in plan.steps:
        assert asked[p.step.name].cells <= p.step.query.cells


@pytest.mark.parametrize("settings", SPLITTERS, ids=str)
def test_with_much_budget_it_finds_the_rule_that_made_the_data(registry: Any, settings: Any) -> None:
    if settings.get("splitter") == "random":
        settings = {**settings, "depth": 8, "trees": 8}
    release = fit(plan_of(registry, 50.0, **settings), MemoryTable(sample(5000)), random_state=0)
    held = sample(1000, seed=9)
    log = release.log_proba(held)
    assert np.exp(log).sum(axis=1) == pytest.approx(1.0)
    assert (release.predict(held) == held.columns["class"]).mean() > 0.95


@pytest.mark.parametrize("settings", SPLITTERS, ids=str)
def test_equal_answers_give_equal_models_whatever_the_rows(registry: Any, settings: Any) -> None:
    plan = plan_of(registry, **settings)

    class Replay(Curator):
        def _release(self, planned: Any, asked: Any, exact: Any, bound: Any) -> Any:
            draw = np.random.default_rng(len(self.releases))
            if bound.norm == "score":
                return draw.integers(0, exact.shape[1], exact.shape[0]).astype(float)
            return draw.integers(-5, 900, exact.shape).astype(float)

    made = [
        plan.classifier.learn(Replay(MemoryTable(sample(n)), plan.task, plan.steps, plan.accountant(), SeededNoise(0)))
        for n in (0, 1, 200)
    ]
    assert made[0].to_json() == made[1].to_json() == made[2].to_json()


@pytest.mark.parametrize("settings", SPLITTERS, ids=str)
@pytest.mark.parametrize("epsilon", [1e-11, 0.01, 100.0])
def test_no_rows_and_any_epsilon_make_a_model(registry: Any, settings: Any, epsilon: float) -> None:
    plan = plan_of(registry, epsilon, **settings)
    release = fit(plan, MemoryTable(sample(0)), random_state=0)
    assert np.isfinite(release.log_proba(sample(50))).all()
    assert isinstance(fit_exactly(plan, MemoryTable(sample(40))), TreeModel)


def test_the_structure_of_random_trees_is_public_and_depends_on_the_seed_alone(registry: Any) -> None:
    def structure(seed: int, n: int, noise: int) -> Any:
        plan = plan_of(registry, splitter="random", trees=2, seed=seed)
        model = fit(plan, MemoryTable(sample(n)), random_state=noise).model
        return [fitted.tree for fitted in model.trees]

    assert structure(1, 10, 0) == structure(1, 500, 7)
    assert structure(1, 10, 0) != structure(2, 10, 0)


def test_the_default_depth_is_a_public_rule_over_epsilon() -> None:
    assert [depth_for(e) for e in (1e-11, 0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 1e9)] == [1, 1, 3, 4, 5, 6, 6, 9]


def test_class_weights_lower_the_largest_class_alone() -> None:
    weights = class_weights(np.array([[900.0, 99.0, 9.0], [50.0, 50.0, 0.0], [-5.0, 3.0, -1.0]]))
    assert weights[0, 0] == pytest.approx((100 / 901) ** 0.6)
    assert (weights[0, 1:] == 1).all()
    assert (weights[1] == 1).all()
    assert ((weights > 0) & (weights <= 1)).all()


def test_attributes_without_a_choice_are_refused(registry: Any) -> None:
    schema = Schema((Nominal("flat", ("only",)),), Nominal("class", ("a", "b")))
    with pytest.raises(CapabilityError, match="at least two values"):
        make_plan("cart", schema, epsilon=1.0, registry=registry)


def test_a_variant_does_not_go_with_random_trees() -> None:
    with pytest.raises(ParameterError, match="noisy_gini"):
        Cart(splitter="random", variant="lopuhaa2021")


def test_the_model_is_plain_json(registry: Any) -> None:
    release = fit(plan_of(registry, 2.0), MemoryTable(sample(2000)), random_state=0)
    text = json.dumps(release.model.to_json(), allow_nan=False)
    again = TreeModel.from_json(SCHEMA, json.loads(text))
    assert again.to_json() == release.model.to_json()
    assert (again.log_proba(sample(100)) == release.log_proba(sample(100))).all()
