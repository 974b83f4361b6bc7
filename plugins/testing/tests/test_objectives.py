"""Audits of learners that ask for a minimiser, whose exact answer is no number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpcore.planning import make_plan
from dpcore.registry import load_plugins
from dpcore_testing.audit import _has_a_pure_loss
from dpcore_testing.lockstep import replay
from dpcore_testing.outputs import Central, Directed, Tilted
from dpcore_testing.pairs import pairs, schemas

REGISTRY = load_plugins()


def weighted(adjacency: str, **options: Any) -> Any:
    return make_plan(
        "naive_bayes",
        schemas()["nominal"],
        epsilon=1.0,
        adjacency=adjacency,
        parameters={"model": "weighted"},
        registry=REGISTRY,
        **options,
    )


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_a_minimiser_with_a_delta_is_weighed_against_it(adjacency: str) -> None:
    """Its noise is Gaussian: single losses may exceed epsilon, and are no leak."""
    plan = weighted(adjacency, delta=1e-6, accounting="pure")
    assert 0 < plan.total[1] <= 1e-6
    assert not _has_a_pure_loss(plan)
    pair = pairs(plan.task.schema, plan.task.adjacency)[5]
    for chooser in (Central(), Tilted(0.0), Tilted(3.0)):
        found = replay(plan, pair, chooser, np.random.default_rng(0))
        assert found.divergence is None
        assert math.isfinite(found.loss)
        assert math.isfinite(found.log_weight)


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_a_pure_minimiser_is_audited_exactly(adjacency: str) -> None:
    plan = weighted(adjacency)
    assert _has_a_pure_loss(plan)
    for pair in pairs(plan.task.schema, plan.task.adjacency)[:12]:
        found = replay(plan, pair, Directed(), np.random.default_rng(0))
        assert found.divergence is None
        assert found.loss <= 1.0
