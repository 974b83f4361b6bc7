"""A plan comes of public facts alone, costs no more than its budget, and says what a fit will do."""

from __future__ import annotations

import builtins
import io
import json
import math
from pathlib import Path
from typing import Any

import attrs
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.allocator import BudgetAllocator, Step
from dpcore.classifier import Classifier, Task
from dpcore.component import Capabilities
from dpcore.errors import BudgetError, CapabilityError, InputError, ParameterError, PluginError
from dpcore.features import FeatureMap, OneHot
from dpcore.partition import EqualBins, Values
from dpcore.planned import Plan
from dpcore.planning import make_plan
from dpcore.privacy import ZCDP, Approximate, Pure
from dpcore.query import CellCount, Choice, Counts, Sums
from dpcore.registry import Registry, load_plugins
from dpcore.risk import Minimiser
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import Rows, Table

TARGET = Nominal("c", ("no", "yes"))
AGE = Numeric("age", 0, 99.7)
SCHEMA = Schema((Nominal("colour", ("red", "green")), AGE, Nominal("size", ("s", "m", "l"), missing=True)), TARGET)
EIGHT = Schema([Nominal(f"a{i}", ("p", "q", "r")) for i in range(8)], TARGET)
CLASSES = Values(TARGET)
ADJACENCIES = ["add-remove", "replace-one"]
REGISTRY = load_plugins()


@attrs.frozen
class Asker(Classifier):
    """Asks the steps it was made with."""

    asked: tuple[Step, ...] = ()

    def steps(self, task: Task) -> tuple[Step, ...]:
        return self.asked

    def learn(self, curator: Any) -> Any:
        raise NotImplementedError


class OneWay(Asker):
    """Has a guarantee under one adjacency only, and no use for numbers."""

    adjacency = ("add-remove",)
    capabilities = Capabilities(numeric=False)


@attrs.frozen
class Given(BudgetAllocator):
    """Allocates what it was told to."""

    fractions: Any

    def allocate(self, steps: Any) -> Any:
        return self.fractions


COUNTS = Step("counts", Counts(CLASSES))
CELLS = Step("cells", Counts(EqualBins(AGE, 8) * CLASSES), times=3)
SUMS = Step("sums", Sums(AGE, CLASSES), mechanisms=("laplace", "gaussian"))
PICK = Step("pick", Choice(Counts(CLASSES), CellCount()), mechanisms=("exponential",))
STEPS = (COUNTS, CELLS, SUMS, PICK)


def plan(*steps: Step, epsilon: float = 1.0, **options: Any) -> Plan:
    """A plan of these steps."""
    return make_plan(Asker(steps), SCHEMA, epsilon=epsilon, registry=REGISTRY, **options)


def test_a_plan_opens_no_file_and_makes_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = make_plan("naive_bayes", SCHEMA, epsilon=1, registry=REGISTRY).to_json()  # imports what it needs

    def explode(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError("a plan looked for rows")

    for owner, name in ((builtins, "open"), (io, "open"), (Path, "open"), (pd, "read_csv"), (pd, "read_parquet")):
        monkeypatch.setattr(owner, name, explode)
    for kind in (Table, Rows, pd.DataFrame):
        monkeypatch.setattr(kind, "__init__", explode)
    assert make_plan("naive_bayes", SCHEMA, epsilon=1, registry=REGISTRY).to_json() == expected


@pytest.mark.parametrize(
    "fractions",
    [
        [],
        [0.5, 0.5],
        [0.2] * 5,
        [0.3, 0.3, 0.5, -0.1],
        [0.25, 0.25, 0.25, math.nan],
        [0.25, 0.25, 0.25, math.inf],
        [1e308] * 4,
        [0.26] * 4,
        [0.5, 0.5, 0.0, 0.0],
        [0.5, 0.25, 0.25, 5e-324],
    ],
)
def test_an_allocator_that_gives_nonsense_is_refused(fractions: list[float]) -> None:
    with pytest.raises(PluginError, match="'Given'"):
        plan(*STEPS, allocator=Given(fractions))


HOSTILE = st.floats(-0.1, 1.2) | st.sampled_from([0.25, 0.5, math.nan, 1e-300, 1 / 3])
FAIR = st.tuples(st.lists(st.floats(1e-9, 1), min_size=4, max_size=4), st.floats(0.5, 1) | st.just(1 + 5e-10)).map(
    lambda drawn: [weight / math.fsum(drawn[0]) * drawn[1] for weight in drawn[0]]
)


@settings(deadline=None, max_examples=150)
@given(
    st.lists(HOSTILE, min_size=3, max_size=5) | FAIR,
    st.floats(-11, 3).map(lambda power: 10.0**power),
    st.sampled_from([0.0, 1e-6]),
)
def test_no_allocator_can_make_a_plan_spend_more(fractions: list[float], epsilon: float, delta: float) -> None:
    try:
        made = plan(*STEPS, epsilon=epsilon, delta=delta, allocator=Given(fractions))
    except PluginError:
        assert len(fractions) != 4 or min(fractions) < 1e-29 or not math.fsum(fractions) <= 1
        return
    assert made.total[0] <= epsilon
    assert made.total[1] <= delta
    assert made.within_budget
    account = made.accountant()
    for planned in made.steps:  # what the curator will do
        assert planned.cost == planned.calibrated
        for _ in range(planned.step.times):
            account.charge(planned.cost)
    assert account.spent()[0] <= epsilon


@pytest.mark.parametrize("accounting", ["zcdp", "gdp"])
@pytest.mark.parametrize("epsilon", [0.01, 0.1, 0.5, 1.0, 2.0, 10.0])
def test_a_plan_that_spends_everything_says_no_more_than_everything(accounting: str, epsilon: float) -> None:
    for delta in (1e-9, 1e-6, 1e-3):
        total = plan(COUNTS, epsilon=epsilon, delta=delta, accounting=accounting).total
        assert epsilon * (1 - 1e-3) <= total[0] <= epsilon


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_the_json_has_the_documented_shape(adjacency: str, registry: Registry) -> None:
    for delta in (0.0, 1e-6):
        made = make_plan("naive_bayes", SCHEMA, epsilon=0.5, delta=delta, adjacency=adjacency, registry=registry)
        data = json.loads(json.dumps(made.to_json(), allow_nan=False))
        assert {"classifier", "epsilon", "delta", "adjacency", "allocator", "steps", "total_epsilon"} <= {*data}
        assert (data["classifier"], data["allocator"], data["adjacency"]) == ("naive_bayes", "weights", adjacency)
        wanted = {"step", "query", "cells", "sensitivity", "mechanism", "epsilon", "scale", "expected_error"}
        for row in data["steps"]:
            assert wanted <= {*row}
            assert row["sensitivity"] == pytest.approx(1 if adjacency == "add-remove" else 2, rel=0.3)
            assert row["scale"] > 0
        assert data["total_epsilon"] <= 0.5
        if delta == 0:
            assert math.fsum(row["epsilon"] * row["times"] for row in data["steps"]) == pytest.approx(0.5)


@given(st.floats(-6, 1).map(lambda power: 10.0**power), st.integers(1, 20))
@settings(deadline=None, max_examples=40)
def test_replacing_a_row_needs_twice_the_noise_of_adding_one(epsilon: float, bins: int) -> None:
    step = Step("cells", Counts(EqualBins(AGE, bins)))
    one, two = (plan(step, epsilon=epsilon, adjacency=a).steps[0].calibration for a in ADJACENCIES)
    assert one.scale is not None
    assert two.scale == pytest.approx(2 * one.scale, rel=1e-11)
    assert one.scale == pytest.approx(1 / epsilon, rel=1e-9)
    assert one.scale >= 1 / epsilon


@settings(deadline=None, max_examples=40)
@given(
    st.floats(0.01, 10),
    st.sampled_from([1e-12, 1e-6, 1e-3]),
    st.sampled_from(ADJACENCIES),
    st.lists(st.sampled_from([COUNTS, CELLS, SUMS, PICK]), min_size=1, max_size=8),
)
def test_a_delta_never_makes_things_worse(epsilon: float, delta: float, adjacency: str, asked: list[Step]) -> None:
    steps = [attrs.evolve(step, name=f"{step.name} {i}") for i, step in enumerate(asked)]

    def error(delta: float) -> float:
        made = plan(*steps, epsilon=epsilon, delta=delta, adjacency=adjacency)
        return math.fsum(p.step.times * (p.calibration.expected_error or 0) for p in made.steps)

    assert error(delta) <= error(0.0)


@pytest.mark.parametrize("mechanism", ["laplace", "geometric", "gaussian", "discrete_gaussian"])
def test_a_mechanism_that_was_asked_for_is_used_in_every_step_that_it_fits(mechanism: str) -> None:
    made = plan(COUNTS, CELLS, PICK, delta=1e-6, mechanism=mechanism)
    assert [p.mechanism_name for p in made.steps] == [mechanism, mechanism, "exponential"]


def test_a_mechanism_that_fits_nowhere_is_refused() -> None:
    for name, options in (("gaussian", {}), ("exponential", {}), ("gaussian", {"accounting": "pure", "delta": 1e-6})):
        with pytest.raises(PluginError, match=name):
            plan(COUNTS, mechanism=name, **options)  # type: ignore[arg-type]


def test_the_planner_takes_the_mechanism_with_the_least_error() -> None:
    for names in (("laplace", "geometric"), ("geometric", "laplace")):
        made = plan(attrs.evolve(COUNTS, mechanisms=names), epsilon=3.0)
        assert made.steps[0].mechanism_name == "geometric"


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"mechanism": "nonesuch"}, PluginError),
        ({"sensitivity": "nonesuch"}, PluginError),
        ({"allocator": "nonesuch"}, PluginError),
        ({"accounting": "nonesuch"}, InputError),
        ({"adjacency": "nonesuch"}, InputError),
        ({"epsilon": 0.0}, InputError),
        ({"delta": 1.0}, InputError),
        ({"accounting": "zcdp"}, InputError),
        ({"accounting": "gdp"}, InputError),
    ],
)
def test_a_wrong_argument_is_one_line(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        plan(COUNTS, **options)
    assert "\n" not in str(caught.value)


def test_an_unknown_learner_parameter_or_kind_of_query_is_refused(registry: Registry) -> None:
    with pytest.raises(PluginError, match="nonesuch"):
        make_plan("nonesuch", SCHEMA, epsilon=1, registry=registry)
    with pytest.raises(ParameterError, match="colour"):
        make_plan("naive_bayes", SCHEMA, epsilon=1, parameters={"colour": 1}, registry=registry)
    with pytest.raises(PluginError, match="counts"):
        plan(attrs.evolve(COUNTS, mechanisms=("exponential",)))


def test_what_a_learner_cannot_do_is_refused() -> None:
    nominal = Schema((Nominal("n", ("a", "b")),), TARGET)
    with pytest.raises(InputError, match="replace-one"):
        make_plan(OneWay((COUNTS,)), nominal, epsilon=1, adjacency="replace-one", registry=REGISTRY)
    with pytest.raises(CapabilityError, match="numeric"):
        make_plan(OneWay((COUNTS,)), SCHEMA, epsilon=1, registry=REGISTRY)
    assert make_plan(OneWay((COUNTS,)), nominal, epsilon=1, registry=REGISTRY).within_budget


def test_a_learner_cannot_be_charged_less_than_its_noise_is_set_for() -> None:
    with pytest.raises(PluginError, match="charged less"):
        plan(attrs.evolve(COUNTS, cost=Pure(0.1), claimed=Pure(1.0)))
    with pytest.raises(ValueError, match=">= 0"):
        plan(attrs.evolve(COUNTS, cost=Pure(-1.0)), CELLS)


def test_a_cost_that_is_not_pure_gives_no_pure_epsilon() -> None:
    made = plan(attrs.evolve(COUNTS, cost=ZCDP(0.01), mechanisms=("discrete_gaussian",)))
    assert (made.total[0], made.guarantee.kind, made.within_budget) == (math.inf, "none", False)


def test_the_accountant_of_a_plan_refuses_one_ask_more() -> None:
    made = plan(COUNTS)
    account = made.accountant()
    account.charge(made.steps[0].cost)
    with pytest.raises(BudgetError):
        account.charge(made.steps[0].cost)


@pytest.mark.parametrize(("adjacency", "rows"), [("add-remove", 1), ("replace-one", 2)])
def test_published_naive_bayes_costs_what_the_derivation_says(adjacency: str, rows: int, registry: Registry) -> None:
    def published(variant: str, schema: Schema = EIGHT) -> Plan:
        options = {"adjacency": adjacency, "parameters": {"variant": variant}, "registry": registry}
        return make_plan("naive_bayes", schema, epsilon=0.1, **options)  # type: ignore[arg-type]

    vaidya, lopuhaa = published("vaidya2013"), published("lopuhaa2021")
    redrawn = 8 * math.log(2 * math.exp(0.1 * rows) - 1) + math.log(2 * math.exp(rows) - 1)
    assert vaidya.total == (pytest.approx(redrawn, rel=1e-12), 0.0)
    assert lopuhaa.total == (pytest.approx(0.1 * rows, rel=1e-12), 0.0)
    assert not vaidya.within_budget
    assert lopuhaa.within_budget == (rows == 1)
    assert vaidya.guarantee.note
    assert bool(lopuhaa.guarantee.note) == (rows == 2)
    for variant in ("vaidya2013", "lopuhaa2021"):  # with numbers, noise is set by private class sizes
        data = published(variant, SCHEMA).to_json()
        assert (data["guarantee"], data["total_epsilon"]) == ("none", None)
        assert data["warning"]


FIT = Step(
    "fit",
    Minimiser(FeatureMap([OneHot(Values(TARGET))]), TARGET),
    times=2,
    mechanisms=("objective_perturbation",),
)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_with_basic_composition_only_a_mechanism_that_uses_a_delta_is_charged_one(adjacency: str) -> None:
    steps = (COUNTS, CELLS, FIT)
    made = plan(*steps, epsilon=0.8, delta=1e-6, accounting="pure", adjacency=adjacency)
    costs = [p.cost for p in made.steps]
    assert [type(cost) for cost in costs] == [Pure, Pure, Approximate]
    assert made.total == (pytest.approx(0.8), pytest.approx(1e-6 * 2 / 6, rel=1e-9))
    assert made.total[0] <= 0.8
    assert made.guarantee.kind == "approximate"
    account = made.accountant()
    for planned in made.steps:
        for _ in range(planned.step.times):
            account.charge(planned.cost)
    assert account.spent() == pytest.approx(made.total)
    rows = made.to_json()["steps"]
    assert all(row["epsilon"] > 0 and row["rho"] is None for row in rows)
    # and without a delta nothing has one
    pure = plan(*steps, epsilon=0.8, adjacency=adjacency)
    assert [type(p.cost) for p in pure.steps] == [Pure] * 3
    assert pure.total == (pytest.approx(0.8), 0.0)
    assert pure.guarantee.kind == "pure"


def test_plans_of_pure_mechanisms_alone_spend_no_delta_under_basic_composition() -> None:
    made = plan(COUNTS, CELLS, epsilon=0.8, delta=1e-6, accounting="pure")
    assert made.total == (pytest.approx(0.8), 0.0)
    assert made.guarantee.kind == "pure"


def test_a_given_cost_with_a_delta_is_added_where_that_is_possible_and_is_no_guarantee_elsewhere() -> None:
    given = attrs.evolve(FIT, cost=Approximate(0.2, 1e-7), times=1)
    made = plan(given, delta=1e-6)
    assert (made.accounting, made.total) == ("pure", (0.2, 1e-7))
    for accounting in ("zcdp", "gdp", "pld"):
        assert plan(given, delta=1e-6, accounting=accounting).total[0] == math.inf
