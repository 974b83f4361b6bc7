"""The staircase is a distribution, costs no more than it is charged, and is drawn as stated."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from dpcore_staircase.mechanism import Staircase
from dpcore_staircase.stairs import Stairs
from scipy.stats import chisquare

from dpcore.bound import Bound
from dpcore.noise import ExactNoise, SeededNoise
from dpcore.privacy import ZCDP, Pure

ALPHA = 1e-6
STAIRS = [Stairs(1, 1, Fraction(2)), Stairs(7, 1, Fraction(1, 2)), Stairs(40, 9, Fraction(2, 5))]
BOUNDS = [
    Bound(1.0, "l1", rises=1),  # a histogram, add-remove
    Bound(2.0, "l1", rises=1),  # the same, replace-one: one cell down, one up
    Bound(3.0, "l1", rises=1),
    Bound(6.0, "l1", rises=1, grid=0.5),
    Bound(5.0, "l1", rises=2),
]


def masses(stairs: Stairs, reach: int) -> np.ndarray:
    """Probabilities of −reach … reach, normalised by the closed form of the tail."""
    mass = np.exp(stairs.log_mass(np.arange(-reach, reach + 1.0)))
    return mass * (1 - stairs.tail) / ((2 * stairs.radius - 1) * mass[reach])


@pytest.mark.parametrize("stairs", STAIRS)
def test_the_masses_sum_to_one_and_give_the_stated_error(stairs):
    reach = 400 * stairs.width
    mass = masses(stairs, reach)
    assert math.isclose(mass.sum(), 1, rel_tol=1e-9)
    assert math.isclose(mass @ np.abs(np.arange(-reach, reach + 1)), stairs.expected_error, rel_tol=1e-9)


@pytest.mark.parametrize("source", [ExactNoise(), SeededNoise(7)], ids=["exact", "seeded"])
@pytest.mark.parametrize("stairs", STAIRS)
def test_draws_follow_the_masses(stairs, source):
    size, reach = 40_000, 3 * stairs.width
    drawn = np.clip(stairs.draw(source, size).astype(int), -reach - 1, reach + 1)
    expected = size * masses(stairs, reach)
    rest = (size - expected.sum()) / 2
    found = np.bincount(drawn + reach + 1, minlength=2 * reach + 3)
    expected = np.concatenate([[rest], expected, [rest]])
    enough = expected >= 10
    few = [(found[~enough].sum(), expected[~enough].sum())] if not enough.all() else []
    pairs = np.array([*zip(found[enough], expected[enough], strict=True), *few])
    assert chisquare(pairs[:, 0], pairs[:, 1] * size / pairs[:, 1].sum()).pvalue > ALPHA


def neighbours(steps: int, rises: int):
    """Every way in which at most `rises` numbers of four go up, as many down, by `steps` in all."""
    for shift in product(range(-steps, steps + 1), repeat=4):
        ups, downs = sum(d > 0 for d in shift), sum(d < 0 for d in shift)
        if 0 < sum(map(abs, shift)) <= steps and max(ups, downs) <= rises:
            yield shift


@pytest.mark.parametrize("epsilon", [1e-9, 0.5, 3.0, 15.0, 30.0, 80.0])
@pytest.mark.parametrize("bound", BOUNDS, ids=str)
def test_no_neighbours_lose_more_than_the_cost(bound, epsilon):
    stairs = Staircase().stairs(bound, Pure(epsilon))
    steps = math.ceil(bound.scalar() / bound.grid)
    x = np.arange(-6.0 * steps, 6.0 * steps + 1)
    here = stairs.log_mass(x)
    loss = {d: float(np.max(here - stairs.log_mass(x - d))) for d in range(-steps, steps + 1)}
    worst = max(sum(loss[d] for d in shift) for shift in neighbours(steps, bound.rises))
    assert worst <= epsilon * (1 + 1e-12)
    assert worst >= epsilon * (1 - 1e-9) / 2


def test_the_scalar_recipe_would_cost_a_vector_twice_its_epsilon():
    scalar = Stairs(2, 1, Fraction(1))  # w = D = 2 and eps' = eps = 1
    x = np.arange(-20.0, 21.0)
    one_step = float(np.max(scalar.log_mass(x) - scalar.log_mass(x - 1)))
    assert math.isclose(2 * one_step, 2.0, rel_tol=1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 20.0])
def test_counts_that_move_by_one_step_get_geometric_noise(epsilon):
    found = Staircase().stairs(BOUNDS[0], Pure(epsilon))
    assert (found.width, found.radius, float(found.scale)) == (1, 1, pytest.approx(1 / epsilon))


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0, 10.0, 20.0, 40.0, 700.0, 5000.0])
def test_it_is_never_worse_than_geometric_and_better_for_many_steps_and_a_large_epsilon(epsilon):
    bound, cost = Bound(1.0, "l1", rises=1, grid=2.0**-24), Pure(epsilon)
    geometric = Stairs(1, 1, Fraction(2**24) / Fraction(epsilon)).expected_error * bound.grid
    found = Staircase().calibrate(bound, cost).expected_error
    assert found <= geometric * (1 + 1e-9)
    if epsilon >= 20:
        assert found < geometric / 5


@pytest.mark.parametrize(
    "bound",
    [
        Bound(2.0, "l1"),
        Bound(1.0, "l2", rises=1),
        Bound(1.0, "score", rises=1),
        Bound(np.ones(3), "l1", rises=1),
        Bound(0.0, "l1", rises=1),
        Bound(1.0, "l1", "smooth", beta=0.1, rises=1),
        Bound(None, "l1", "smooth", beta=0.1, rises=1),
    ],
    ids=str,
)
def test_what_the_proof_does_not_cover_is_refused(bound):
    assert not Staircase().fits(bound, Pure(1.0))
    with pytest.raises(ValueError, match="how many numbers one person raises"):
        Staircase().stairs(bound, Pure(1.0))


@pytest.mark.parametrize("source", [ExactNoise(), SeededNoise(7)], ids=["exact", "seeded"])
@pytest.mark.parametrize(("steps", "epsilon"), [(1, 1.0), (2**24, 30.0), (2**70, 30.0), (2**24, 3000.0)])
def test_releases_stand_on_the_grid_and_can_be_audited(source, steps, epsilon):
    bound, cost = Bound(steps * 0.25, "l1", rises=1, grid=0.25), Pure(epsilon)
    exact = np.array([[0, 3], [10, 2**40]])
    released = Staircase().release(exact, bound, cost, source)
    assert released.shape == exact.shape
    assert released.dtype == np.float64
    assert np.array_equal(released * 4, np.rint(released * 4))
    neighbour = exact + np.array([[0, 0], [steps, 0]], dtype=object)
    here, there = (Staircase().log_density(released, e, bound, cost) for e in (exact, neighbour))
    assert abs(here - there) <= epsilon * (1 + 1e-9)


def test_a_zcdp_cost_buys_the_pure_epsilon_that_it_implies():
    bound = BOUNDS[0]
    assert Staircase().stairs(bound, ZCDP(0.5)).scale == Staircase().stairs(bound, Pure(1.0)).scale
