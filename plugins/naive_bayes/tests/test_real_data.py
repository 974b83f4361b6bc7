"""On the real sets the default learner keeps the accuracy that it was chosen for."""

from __future__ import annotations

from typing import Any

import pytest

from dpcore.encode import encode
from dpcore.evaluation import evaluate
from dpcore.planning import make_plan


@pytest.fixture(scope="module")
def floors(registry: Any) -> Any:
    """Asserts mean accuracies over 5 stratified folds with fixed seeds."""

    def check(name: str, least: dict[float, float], repeats: int = 1) -> None:
        found = registry.get("dataset", name)
        dataset = found() if isinstance(found, type) else found
        schema = dataset.schema()
        plans = [make_plan("naive_bayes", schema, epsilon=e, registry=registry) for e in least]
        table = evaluate(plans, encode(dataset.frame(), schema), folds=5, repeats=repeats, seed=0)
        for one in table:
            assert one.accuracy_mean >= least[one.epsilon], one
            assert one.accuracy_mean > one.majority_accuracy

    return check


@pytest.mark.usefixtures("data_folder")
@pytest.mark.parametrize(("name", "least", "repeats"), [
    ("adult", {0.05: 0.81, 0.1: 0.82, 0.5: 0.822, 1.0: 0.822}, 1),
    ("mushroom", {0.1: 0.90}, 5), ("nursery", {0.1: 0.85}, 3), ("skin", {0.1: 0.90}, 1),
])  # fmt: skip
def test_accuracy_stays_above_its_floor(floors: Any, name: str, least: dict[float, float], repeats: int) -> None:
    floors(name, least, repeats)
