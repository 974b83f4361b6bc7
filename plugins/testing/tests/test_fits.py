"""A learner is judged by its models alone.

False alarms: at most 1e-4 a finding, the noise being the operating system's.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

from dpcore.bound import Bound
from dpcore.errors import InputError
from dpcore.mechanism import Answer, Calibration, Mechanism
from dpcore.noise import NoiseSource
from dpcore.planning import make_plan
from dpcore.privacy import Adjacency, Cost, Pure
from dpcore.registry import load_plugins
from dpcore.schema import Nominal, Numeric, Schema
from dpcore_testing.fits import audit_learner, cases_of, fits
from dpcore_testing.pairs import pairs, row_at, rows_of
from dpcore_testing.trials import audit_cases

SMALL = Schema([Nominal("colour", ["red", "green"])], Nominal("outcome", ["no", "yes"]))
SURE = 1 - 1e-4


def halved(cost: Cost) -> Pure:
    """The cost that noise half as large as it should be is set for."""
    assert isinstance(cost, Pure)
    return Pure(2 * cost.epsilon)


@attrs.frozen
class HalfTheNoise(Mechanism):
    """Says the right density and draws half the noise: an audit by densities cannot see it."""

    accepts: ClassVar[tuple[str, ...]] = ("l1",)
    honest: Any = attrs.field(factory=load_plugins().get("mechanism", "geometric"))

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        found: Calibration = self.honest.calibrate(bound, cost)
        return found

    def release(self, exact: Any, bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        drawn: Answer = self.honest.release(exact, bound, halved(cost), noise)
        return drawn

    def log_density(self, output: Answer, exact: Any, bound: Bound, cost: Cost) -> float:
        return float(self.honest.log_density(output, exact, bound, cost))


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_a_correct_learner_is_not_flagged(adjacency: str) -> None:
    (found,) = audit_learner("naive_bayes", schema=SMALL, adjacency=adjacency, trials=1000, pairs=4, confidence=SURE)
    assert (found.verdict, found.adjacency, found.kind) == ("ok", adjacency, "classifier")
    assert found.charged == pytest.approx(1)
    assert 0 <= found.loss < 1


def test_a_published_procedure_is_seen_to_lose_more_than_it_claims() -> None:
    given = {"parameters": {"variant": "vaidya2013"}, "schema": SMALL, "adjacency": "add-remove", "epsilon": 0.01}
    (found,) = audit_learner("naive_bayes", **given, trials=2500, pairs=4, confidence=SURE)
    assert found.verdict == "LEAKS"
    assert found.loss > 0.05


def test_noise_that_is_not_what_its_density_says_is_seen() -> None:
    plan = make_plan("naive_bayes", SMALL, epsilon=2.0, mechanism="geometric")
    wrong = attrs.evolve(plan, steps=tuple(attrs.evolve(step, mechanism=HalfTheNoise()) for step in plan.steps))
    pair = pairs(SMALL, Adjacency.ADD_REMOVE)[:1]
    rng = np.random.default_rng(0)
    (_, found), (_, honest) = (
        audit_cases(cases_of(one, pair), 2500, confidence=SURE, rng=rng) for one in (wrong, plan)
    )
    assert found.epsilon > 2 > honest.epsilon  # type: ignore[union-attr]


def test_every_fit_has_its_own_noise_and_the_same_exact_answers() -> None:
    plan = make_plan("naive_bayes", SMALL, epsilon=0.01)
    models = fits(plan, rows_of(SMALL, [row_at(SMALL, "low", 0)] * 5), 20)
    assert len({m.numbers.tobytes() for m in models}) > 8
    assert not any(m.error for m in models)


def test_findings_come_for_every_adjacency_that_is_claimed() -> None:
    found = audit_learner("naive_bayes", schema=SMALL, trials=40, pairs=3)
    assert [f.adjacency for f in found] == ["add-remove", "replace-one"]
    assert all(math.isfinite(f.loss) and f.trials == 40 and f.case == "given" for f in found)


def test_a_learner_that_fits_no_schema_is_refused() -> None:
    nothing = Schema([Nominal("one", ["only"])], Nominal("outcome", ["no", "yes"]))
    with pytest.raises(InputError, match="naive_bayes fits no audit schema under add-remove"):
        audit_learner("naive_bayes", schema=nothing, trials=40)
    with pytest.raises(InputError, match="adjacency must be"):
        audit_learner("naive_bayes", schema=Schema([Numeric("x", 0, 1)], SMALL.target), adjacency="swap")
