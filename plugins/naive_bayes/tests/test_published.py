"""The published procedures use the noise that the papers set, and are charged what that really costs."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from dpcore.errors import NotPrivateError
from dpcore.planning import make_plan
from dpcore.privacy import Adjacency
from dpcore.release import fit
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable

A, B = Nominal("a", ("p", "q")), Nominal("b", ("r", "s", "t"))
X = Numeric("x", 2.0, 5.0)
CLASS = Nominal("class", ("0", "1"))
NOMINAL, MIXED = Schema((A, B), CLASS), Schema((A, X), CLASS)
ADD, REPLACE = "add-remove", "replace-one"


def redrawn(epsilon: float) -> float:
    return math.log(2 * math.exp(epsilon) - 1)


def planned(registry: Any, schema: Schema, variant: str, adjacency: str, *, epsilon: float, size: Any = None) -> Any:
    settings = {"variant": variant, "published_size": size}
    plan = make_plan(
        "naive_bayes", schema, epsilon=epsilon, adjacency=adjacency, parameters=settings, registry=registry
    )
    return plan, {p.step.name: p for p in plan.steps}


def tables(rows: Any, schema: Schema, values: list[Any], most: int) -> dict[Any, MemoryTable]:
    made = {}
    for n in range(most + 1):
        for chosen in itertools.combinations_with_replacement(range(len(values)), n):
            columns = np.array([values[i] for i in chosen], dtype=np.float64).reshape(n, 3)
            named = zip((*schema.names, "class"), columns.T, strict=True)
            codes = [c if name == "x" else c.astype(np.uint8) for name, c in named]
            made[chosen] = MemoryTable(rows(schema, *codes))
    return made


def pairs(made: dict[Any, MemoryTable], adjacency: str, kinds: int) -> Any:
    """Each table with each of its neighbours."""
    for chosen, table in made.items():
        for new in range(kinds):
            places = [chosen] if adjacency == ADD else [(*chosen[:i], *chosen[i + 1 :]) for i in range(len(chosen))]
            for kept in places:
                other = tuple(sorted((*kept, new)))
                if other in made:
                    yield table, made[other]


def loss(step: Any, one: MemoryTable, two: MemoryTable) -> float:
    """The largest log-ratio of one step's release, over outputs at the corners of its piecewise linear form."""
    query = step.step.query
    found = []
    for table in (one, two):
        local = step.rule.bound(query, Adjacency.ADD_REMOVE, "l1", table)  # the same under both adjacencies
        found.append((table.answer(query), local if step.rule.reads_rows else step.bound))
    exact = [e.ravel().astype(float) for e, _ in found]
    outputs = [np.minimum(*exact), np.maximum(*exact), *exact, np.zeros_like(exact[0]), np.maximum(*exact) + 1e5]
    if step.mechanism_name == "laplace":
        outputs.append(np.minimum(*exact) - 1e5)
    worst = 0.0
    for output in outputs:
        y = output.reshape(found[0][0].shape) * query.grid
        logs = [step.mechanism.log_density(y, e, b, step.calibrated) for e, b in found]
        worst = max(worst, abs(logs[0] - logs[1]))
    return worst


VALUES = [(a, b, c) for a in (0, 1) for b in (0, 2) for c in (0, 1)]


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize(("variant", "adjacency"), [*itertools.product(("vaidya2013", "lopuhaa2021"), (ADD, REPLACE))])
def test_on_nominal_attributes_the_whole_cost_is_charged(
    registry: Any, rows: Any, variant: str, adjacency: str, epsilon: float
) -> None:
    plan, steps = planned(registry, NOMINAL, variant, adjacency, epsilon=epsilon)
    made = tables(rows, NOMINAL, VALUES, 2)
    worst = max(sum(loss(s, *pair) for s in steps.values()) for pair in pairs(made, adjacency, len(VALUES)))
    assert worst <= plan.total[0] * (1 + 1e-9)
    k = 1 if adjacency == ADD else 2
    if variant == "lopuhaa2021":
        assert plan.total[0] == pytest.approx(k * epsilon)
        assert worst == pytest.approx(k * epsilon)
        return
    assert plan.total[0] == pytest.approx(2 * redrawn(k * epsilon) + redrawn(k))
    # one of many equal rows goes (or none), and a row comes that is the first of its kind
    many = [np.zeros(3000, np.uint8)] * 3
    come = [np.append(np.zeros(2999 if k == 2 else 3000, np.uint8), i) for i in (1, 2, 1)]
    pair = MemoryTable(rows(NOMINAL, *many)), MemoryTable(rows(NOMINAL, *come))
    reached = [k * e + math.log(2 - math.exp(-e)) for e in (epsilon, 1.0)]
    found = sum(loss(s, *pair) for s in steps.values())
    assert found == pytest.approx(2 * reached[0] + reached[1], rel=1e-4)
    assert found <= plan.total[0] * (1 + 1e-9)
    assert found > 1.1 * (2 * k * epsilon + k)


@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
def test_the_noise_is_the_published_noise(registry: Any, adjacency: str) -> None:
    """Whatever the adjacency: the papers set 1/epsilon (and 1 for Vaidya's priors)."""
    _, steps = planned(registry, NOMINAL, "vaidya2013", adjacency, epsilon=0.2)
    assert {n: s.calibration.scale for n, s in steps.items()} == pytest.approx({"a": 5, "b": 5, "(class)": 1})
    _, steps = planned(registry, NOMINAL, "lopuhaa2021", adjacency, epsilon=0.2)
    assert {n: s.calibration.scale for n, s in steps.items()} == pytest.approx(dict.fromkeys(("a", "b", "(class)"), 15))
    _, steps = planned(registry, MIXED, "lopuhaa2021", adjacency, epsilon=0.2)
    assert steps["a"].calibration.scale == pytest.approx(20)
    assert steps["x: mean"].calibrated.epsilon == pytest.approx(0.05)


@pytest.mark.parametrize("size", [None, 4])
def test_moments_get_the_published_noise_in_each_class(registry: Any, rows: Any, size: int | None) -> None:
    plan, steps = planned(registry, MIXED, "vaidya2013", ADD, epsilon=0.5, size=size)
    columns = (np.zeros(10, np.uint8), np.linspace(2, 5, 10), np.array([0] * 3 + [1] * 7, np.uint8))
    table = MemoryTable(rows(MIXED, *columns))
    drawn: dict[str, list[Any]] = {"x: mean": [], "x: deviation": []}
    for seed in range(1500):
        for r in fit(plan, table, random_state=seed, not_private=True).releases:
            if r.step in drawn:
                drawn[r.step].append(r.value - table.answer(r.query) * r.query.grid)
    n = np.array([size, size] if size else [3, 7])
    # E|Laplace(b)| = b; its standard error over 1500 draws is b / 38.7, so 6 of them are 0.155 b
    assert np.abs(drawn["x: mean"]).mean(axis=0) == pytest.approx(3 / (n + 1) / 0.5, rel=0.155)
    for name, factor in (("x: mean", 1 / (n + 1)), ("x: deviation", np.sqrt(n) / (n + 1))):
        bound = steps[name].rule.bound(steps[name].step.query, Adjacency.ADD_REMOVE, "l1", table)
        inner = 0.5 if name == "x: mean" else steps[name].mechanism.inner(bound, steps[name].calibrated).epsilon
        assert np.asarray(bound.value) / inner == pytest.approx(3 * factor / 0.5)


EDGES = [(a, x, c) for a in (0, 1) for x in (2.0, 3.5, 5.0) for c in (0, 1)]


@pytest.mark.parametrize("adjacency", [ADD, REPLACE])
@pytest.mark.parametrize("size", [1, 3, 50])
@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_with_a_published_n_moments_of_small_classes_cost_what_is_charged(
    registry: Any, rows: Any, adjacency: str, size: int, epsilon: float
) -> None:
    plan, steps = planned(registry, MIXED, "vaidya2013", adjacency, epsilon=epsilon, size=size)
    made = tables(rows, MIXED, [e for e in EDGES if e[0] == 0], 3)
    worst = dict.fromkeys(("x: mean", "x: deviation"), 0.0)
    for one, two in pairs(made, adjacency, 6):
        for name in worst:
            worst[name] = max(worst[name], loss(steps[name], one, two))
    k = 1 if adjacency == ADD else 2
    for name, found in worst.items():
        assert found <= steps[name].cost.epsilon * (1 + 1e-6), name
    # a class of one row that gets another moves by R/2; replace-one doubles it
    assert steps["x: mean"].cost.epsilon == pytest.approx(k * epsilon * (size + 1) / 2)
    assert worst["x: mean"] >= 0.999 * steps["x: mean"].cost.epsilon
    move = epsilon * (size + 1) / (2 * math.sqrt(size))
    # redrawing adds ln(2 − e^−move) where one deviation rises alone; one that falls as far takes it off again
    reached = k * move + (math.log(2 - math.exp(-move)) if adjacency == ADD else 0.0)
    assert worst["x: deviation"] >= 0.999 * reached
    assert steps["x: deviation"].cost.epsilon == pytest.approx(2 * k * move)
    assert not plan.within_budget


@pytest.mark.parametrize("variant", ["vaidya2013", "lopuhaa2021"])
def test_noise_set_by_private_class_sizes_has_no_finite_cost(registry: Any, rows: Any, variant: str) -> None:
    plan, steps = planned(registry, MIXED, variant, ADD, epsilon=1.0)
    assert plan.total[0] == math.inf
    assert plan.guarantee.kind == "none"
    assert "not private" in plan.classifier.warning(plan.task)
    made = tables(rows, MIXED, [e for e in EDGES if e[0] == 0], 3)
    # far out in the tail the two scales give a loss as large as one likes
    far = []
    for reach in (1e2, 1e3):
        logs = []
        for chosen in ((0, 0), (0, 0, 0)):
            table, query = made[chosen], steps["x: mean"].step.query
            bound = steps["x: mean"].rule.bound(query, Adjacency.ADD_REMOVE, "l1", table)
            output = np.array([reach, 0.0])
            logs.append(
                steps["x: mean"].mechanism.log_density(output, table.answer(query), bound, steps["x: mean"].calibrated)
            )
        far.append(abs(logs[0] - logs[1]))
    assert far[1] > 8 * far[0] > 80 * (0.2 if variant == "lopuhaa2021" else 0.3)


@pytest.mark.parametrize("variant", ["vaidya2013", "lopuhaa2021"])
@pytest.mark.parametrize("schema", [NOMINAL, MIXED])
def test_it_runs_only_when_told_that_it_is_not_private_and_the_model_says_so(
    registry: Any, rows: Any, variant: str, schema: Schema
) -> None:
    plan, _ = planned(registry, schema, variant, REPLACE, epsilon=0.5)
    rng = np.random.default_rng(0)
    columns = [rng.uniform(2, 5, 40) if n == "x" else rng.integers(0, 2, 40).astype(np.uint8) for n in schema.names]
    train = rows(schema, *columns, rng.integers(0, 2, 40).astype(np.uint8))
    with pytest.raises(NotPrivateError, match="--not-private"):
        fit(plan, MemoryTable(train), random_state=0)
    release = fit(plan, MemoryTable(train), random_state=0, not_private=True)
    spent = release.privacy["spent"]["epsilon"]
    assert spent is None if schema is MIXED else spent > 0.99
    assert release.privacy["guarantee"] == ("none" if schema is MIXED else "pure")
    assert variant in release.privacy["warning"]
    assert np.exp(release.log_proba(train)).sum(axis=1) == pytest.approx(1.0)
