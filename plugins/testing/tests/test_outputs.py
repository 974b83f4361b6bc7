"""The outputs that are forced tell as much as any could."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpcore import load_plugins
from dpcore.bound import Bound
from dpcore.errors import PluginError
from dpcore.privacy import ZCDP, Pure
from dpcore_testing.outputs import Central, Directed, Side, Tilted, log_density, log_ratio

REGISTRY = load_plugins()


def loss(name: str, here: Side, there: Side, epsilon: float) -> float:
    noise, rng = REGISTRY.get("mechanism", name)(), np.random.default_rng(0)
    output = Directed().choose(noise, here, there, Pure(epsilon), rng).output
    return log_ratio(*(log_density(noise, output, side, Pure(epsilon)) for side in (here, there)))


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
@pytest.mark.parametrize("change", [[1, 0, 0], [0, -1, 0], [1, -1, 0], [-3, 2, 5]])
@pytest.mark.parametrize("name", ["laplace", "geometric"])
def test_laplace_noise_loses_epsilon_times_the_distance(name: str, change: list[int], epsilon: float) -> None:
    exact, bound = np.array([5, 0, 100]), Bound(10.0, "l1")
    found = loss(name, Side(exact, bound), Side(exact + change, bound), epsilon)
    assert found == pytest.approx(epsilon * np.abs(change).sum() / 10, rel=1e-6)


@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_the_worst_of_redrawn_noise_is_found_at_zero(epsilon: float) -> None:
    # all of ln(2 e^eps' − 1) is lost where the answer rises from 0; the noise is set so that this is the cost
    bound = Bound(1.0, "l1", rises=1)
    here, there = Side(np.array([1]), bound), Side(np.array([0]), bound)
    either = max(loss("laplace_resampled", here, there, epsilon), loss("laplace_resampled", there, here, epsilon))
    assert either == pytest.approx(epsilon, rel=1e-4)


@pytest.mark.parametrize("name", ["exponential", "permute_and_flip"])
def test_of_all_candidates_the_most_telling_is_chosen(name: str) -> None:
    draw = np.random.default_rng(3)
    here, there = draw.normal(size=30), draw.normal(size=30)
    bound, noise = Bound(5.0, "score"), REGISTRY.get("mechanism", name)()
    sides = Side(here, bound), Side(there, bound)
    ratios = [np.subtract(*(log_density(noise, i, side, Pure(1.0)) for side in sides)) for i in range(30)]
    assert loss(name, *sides, 1.0) == pytest.approx(max(ratios))


def test_a_tilted_output_says_how_likely_it_was() -> None:
    noise, cost, bound = REGISTRY.get("mechanism", "gaussian")(), ZCDP(0.5), Bound(1.0, "l2")
    here, there = Side(np.array([3]), bound), Side(np.array([2]), bound)
    rng = np.random.default_rng(0)
    for tilt in (0.0, 4.0):
        drawn = [Tilted(tilt).choose(noise, here, there, cost, rng) for _ in range(4000)]
        weights = [math.exp(log_density(noise, c.output, here, cost) - c.log_proposal) for c in drawn]
        # sigma is 1: around 3 + tilt, with weights that average to 1
        assert np.mean([c.output for c in drawn]) == pytest.approx(3 + tilt, abs=0.1)
        if tilt == 0:
            assert weights == pytest.approx([1.0] * 4000)
    half = Central().choose(noise, here, there, cost, rng)
    loss = log_density(noise, half.output, here, cost) - log_density(noise, half.output, there, cost)
    assert loss == pytest.approx(0.5, rel=1e-3)


def test_a_density_that_is_no_number_is_refused() -> None:
    class Odd(REGISTRY.get("mechanism", "laplace")):  # type: ignore[misc]
        def log_density(self, *args: object) -> float:
            return math.nan

    side = Side(np.array([0]), Bound(1.0, "l1"))
    with pytest.raises(PluginError, match="no log-density"):
        log_density(Odd(), np.array([0.0]), side, Pure(1.0))
    assert log_ratio(-3.0, -math.inf) == math.inf


@pytest.mark.parametrize("name", ["exponential", "permute_and_flip"])
def test_of_choices_the_rows_that_differ_tell(name: str) -> None:
    here, there = np.array([[3.0, 0.0], [1.0, 1.0], [0.0, 5.0]]), np.array([[3.0, 0.0], [2.0, 1.0], [0.0, 5.0]])
    bound = Bound(1.0, "score", monotone=True)
    alone = loss(name, Side(here[1], bound), Side(there[1], bound), 1.0)
    assert loss(name, Side(here, bound), Side(there, bound), 1.0) == pytest.approx(alone)
    assert 0 < alone <= 1.0
