"""Low bits give away noise that was drawn as a float, and nothing else.

The audits of correct mechanisms draw from the operating system; each is wrong with probability at most 1e-6.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpcore.bound import Bound
from dpcore.errors import InputError
from dpcore.mechanism import Answer, Calibration, Mechanism
from dpcore.noise import NoiseSource
from dpcore.privacy import Cost, Pure
from dpcore.registry import load_plugins
from dpcore_testing.lowbits import audit_low_bits, features, off_grid

SURE = 1 - 1e-6


def additive() -> list[str]:
    registry = load_plugins()
    names = registry.names("mechanism")
    return [n for n in names if set(registry.get("mechanism", n).accepts) & {"l1", "l2"}]


@attrs.frozen
class FloatLaplace(Mechanism):
    """The textbook line: NumPy's Laplace noise added to a float, rounded to a grid or not."""

    accepts: ClassVar[tuple[str, ...]] = ("l1",)
    rounded: bool = False
    rng: np.random.Generator = attrs.field(factory=lambda: np.random.default_rng(7))

    def calibrate(self, bound: Bound, cost: Cost) -> Calibration:
        assert isinstance(cost, Pure)
        return Calibration(bound.scalar() / cost.epsilon, 2.0**-40, None)

    def release(self, exact: Any, bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        scale = self.calibrate(bound, cost).scale
        noisy = exact * bound.grid + self.rng.laplace(scale=scale, size=exact.shape)
        return np.asarray(np.rint(noisy * 2.0**40) / 2.0**40 if self.rounded else noisy)

    def log_density(self, output: Answer, exact: Any, bound: Bound, cost: Cost) -> float:
        scale = self.calibrate(bound, cost).scale
        assert scale is not None
        return float(-np.sum(np.abs(output - exact * bound.grid)) / scale)


@attrs.frozen
class OddGrid(FloatLaplace):
    """Rounds to a grid twice as coarse where the exact answer is even."""

    def release(self, exact: Any, bound: Bound, cost: Cost, noise: NoiseSource) -> Answer:
        grid = np.where(exact % 2 == 0, 2.0, 1.0) * 2.0**-40
        return np.asarray(np.rint(super().release(exact, bound, cost, noise) / grid) * grid)


def test_numpys_float_laplace_is_caught_by_its_low_bits() -> None:
    for found in audit_low_bits(FloatLaplace(), confidence=SURE):
        assert found.verdict == "LEAKS"
        assert found.off_grid > 0.5 * found.outputs
        assert found.loss > 6
        assert found.feature == "place of the lowest set bit"


def test_a_grid_that_follows_the_exact_answer_is_caught() -> None:
    found = audit_low_bits(OddGrid(), confidence=SURE)[0]
    assert found.off_grid == 0
    assert found.loss > 6
    assert found.verdict == "LEAKS"


def test_the_same_noise_on_a_public_grid_shows_no_more_than_its_cost() -> None:
    assert {f.verdict for f in audit_low_bits(FloatLaplace(rounded=True), confidence=SURE)} == {"ok"}


@pytest.mark.parametrize("name", additive())
@pytest.mark.parametrize("epsilon", [1.0, 5.0])
def test_every_additive_mechanism_keeps_its_low_bits_to_itself(name: str, epsilon: float) -> None:
    for found in audit_low_bits(name, epsilon=epsilon, trials=20_000, confidence=SURE):
        assert found.off_grid == 0
        assert 0 < found.loss <= epsilon
        assert found.verdict == "ok"
        assert found.to_json()["name"] == name


def test_a_choice_has_no_low_bits() -> None:
    with pytest.raises(InputError, match="exponential fits none of its bounds"):
        audit_low_bits("exponential")


finite = st.floats(allow_nan=False, allow_infinity=False)


@given(hnp.arrays(np.float64, st.integers(1, 20), elements=finite | st.integers(-(2**40), 2**40).map(float)))
def test_the_place_of_the_lowest_set_bit_is_exact(outputs: Any) -> None:
    for x, place in zip(outputs.tolist(), features(outputs, 1.0)[:, 1].tolist(), strict=True):
        if x == 0:
            assert math.isnan(place)
        else:
            units = abs(Fraction(x)) / Fraction(2) ** int(place)
            assert units.denominator == 1
            assert units.numerator % 2 == 1


def test_outputs_without_digits_have_no_lowest_bit() -> None:
    found = features(np.array([0.0, -0.0, np.inf, -np.inf, np.nan]), 1.0)
    assert np.isnan(found[:, 1]).all()


@given(st.integers(-(2**50), 2**50), st.integers(-30, 10))
def test_whole_multiples_of_a_grid_are_on_it_and_halves_are_not(steps: int, log: int) -> None:
    grid = 2.0**log
    assert off_grid(np.array([steps * grid, 0.0]), grid) == 0
    assert off_grid(np.array([(steps + 0.5) * grid]), grid) == 1
    assert off_grid(np.array([1.0]), 0.0) == 1
