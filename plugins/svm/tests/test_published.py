"""The published procedure has the paper's constants, and says what they really cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from dpcore.features import FeatureMap, Scaled
from dpcore.losses import HuberHinge
from dpcore.planning import make_plan
from dpcore.release import fit
from dpcore.risk import GradientBound
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable
from dpcore_svm import published


def test_constants_are_those_of_the_paper() -> None:
    left, lam = published.constants(1.0, 5000)
    nhl = 5000 * 0.05 * 10**-2.5
    # epsilon' is negative here, so the second line of equations 18 and 19 holds: n Lambda' = 1 / (2 h (e^(eps/4) − 1))
    assert 1 - math.log(1 + 1 / nhl + 1 / (4 * nhl**2)) == pytest.approx(0.0198, abs=1e-3)
    assert (left, lam) == pytest.approx((1 - math.log(1 + 1 / nhl + 1 / (4 * nhl**2)), 5000 * 10**-2.5))
    assert published.constants(0.1, 5000) == pytest.approx((0.05, 10 / math.expm1(0.025)))


def test_at_their_size_our_noise_has_25_times_the_rate_of_theirs(registry: Any) -> None:
    """n = 5000, epsilon = 1, their c and lam, under the adjacency that they use."""
    lam, curvature = 5000 * published.LAMBDA, HuberHinge(published.H).curvature
    bound = GradientBound(2.0, "gradient", l1=2.0, width=1, curvature=curvature, lam=lam)
    from dpcore.privacy import Pure

    ours = registry.get("mechanism", "objective_perturbation")().noise(bound, Pure(1.0))
    theirs = published.constants(1.0, 5000)[0] / 2
    assert theirs == pytest.approx(0.0099, abs=2e-4)
    assert 1 / ours.scale >= 0.25


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 2.0])
@pytest.mark.parametrize("n", [500, 100_000])
def test_the_noise_is_the_papers_and_its_cost_what_rows_of_that_length_spend(
    registry: Any, epsilon: float, n: int
) -> None:
    one = Schema((Numeric("x", -1, 1), Nominal("v", tuple("abc"))), Nominal("class", ("0", "1")))
    plan = make_plan(
        "svm",
        one,
        epsilon=epsilon,
        parameters={"variant": "lopuhaa2021", "published_size": n},
        registry=registry,
    )
    (step,) = plan.steps
    longest = math.sqrt(1 + 2**2 + 1)
    left, lam = published.constants(epsilon, n)
    noise = step.mechanism.noise(step.bound, step.calibrated)
    # in the paper's units, weights and noise are shorter and longer by the longest row
    assert noise.scale == pytest.approx(2 / (left * longest), rel=1e-6)
    assert step.mechanism.lam(step.bound, step.calibrated) == pytest.approx(lam / longest**2)
    assert step.cost.epsilon > epsilon
    assert "may spend" in plan.guarantee.note
    assert not plan.within_budget


@pytest.mark.parametrize("classes", [2, 3])
def test_it_makes_a_model_of_as_many_problems_as_needed(registry: Any, classes: int, schema: Any, sample: Any) -> None:
    plan = make_plan("svm", schema(classes), epsilon=1.0, parameters={"variant": "lopuhaa2021"}, registry=registry)
    release = fit(plan, MemoryTable(sample(classes, 500)), random_state=0, not_private=True)
    assert release.privacy["warning"]
    assert release.model.weights.shape == (4, 1 if classes == 2 else classes)
    assert np.isfinite(release.log_proba(sample(classes, 20))).all()


def test_numeric_values_count_at_most_one() -> None:
    assert FeatureMap([Scaled(Numeric("x", -5, 900))]).longest == pytest.approx(math.sqrt(2))
