"""Naive Bayes spends exactly its epsilon, and without noise is the naive Bayes that everybody knows."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

from dpcore.errors import BudgetError, CapabilityError, ParameterError
from dpcore.evaluation import NoiselessCurator
from dpcore.noise import SeededNoise
from dpcore.partition import EqualBins
from dpcore.planning import make_plan
from dpcore.release import fit
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows
from dpcore_naive_bayes.counts import FEWEST, MOST, by_class, partition
from dpcore_naive_bayes.learner import NaiveBayes
from dpcore_naive_bayes.model import TablePart

COLOUR = Nominal("colour", ("red", "green", "blue"), missing=True)
ONLY = Nominal("only", ("same",))
GRADE = Numeric("grade", 1, 5, integer=True)
SIZE = Numeric("size", 0.0, 10.0, missing=True)
SCHEMA = Schema((COLOUR, ONLY, GRADE, SIZE), Nominal("class", ("a", "b", "c")))
ADJACENCIES = ["add-remove", "replace-one"]
NAN = float("nan")


def sample(rows: Any, n: int, seed: int = 0, classes: int = 3) -> Any:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    size = np.where(rng.random(n) < 0.1, np.nan, np.clip(rng.normal(3 + 2 * y, 2), 0, 10))
    colour = ((y + rng.integers(0, 3, n)) % 4).astype(np.uint8)
    columns = (colour, np.zeros(n, np.uint8), np.clip(rng.poisson(1 + y), 1, 5), size)
    return rows(SCHEMA, *columns, y.astype(np.uint8))


def encoded(plan_rows: Any, bins: int) -> Any:
    """The same rows for scikit-learn, numeric attributes as bin numbers."""
    c = plan_rows.columns
    size = np.where(np.isnan(c["size"]), bins, np.minimum(np.floor(c["size"] / 10 * bins), bins - 1))
    return np.column_stack([c["colour"], c["grade"] - 1, size]).astype(int)


@pytest.mark.parametrize("bins", [5, 16])
def test_with_a_huge_epsilon_it_is_categorical_naive_bayes(registry: Any, rows: Any, bins: int) -> None:
    train, test = sample(rows, 600), sample(rows, 300, seed=1)
    settings = {"bins": bins, "noise_smoothing": 0.0, "smoothing": 0.7}
    plan = make_plan("naive_bayes", SCHEMA, epsilon=1e9, parameters=settings, registry=registry)
    release = fit(plan, MemoryTable(train), random_state=0)
    peer = CategoricalNB(alpha=0.7, min_categories=[4, 5, bins + 1])
    peer.fit(encoded(train, bins), train.columns["class"])
    assert release.log_proba(test) == pytest.approx(peer.predict_log_proba(encoded(test, bins)), abs=1e-9)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("allocator", ["weights", "uniform", "two_to_one", "one_to_two"])
@pytest.mark.parametrize("settings", [{}, {"bins": 12}, {"model": "moments"}])
def test_the_steps_cost_exactly_epsilon(
    registry: Any, rows: Any, adjacency: str, allocator: str, settings: Any
) -> None:
    chosen = {"adjacency": adjacency, "allocator": allocator, "parameters": settings, "registry": registry}
    for epsilon in (1e-12, 0.3, 7.0):
        plan = make_plan("naive_bayes", SCHEMA, epsilon=epsilon, **chosen)
        assert epsilon * (1 - 1e-9) <= plan.total[0] <= epsilon
        release = fit(plan, MemoryTable(sample(rows, 50)), random_state=1)
        assert release.privacy["spent"]["epsilon"] == pytest.approx(epsilon, rel=1e-9)
        assert release.privacy["guarantee"] == "pure"
        assert [r.step for r in release.releases] == [p.step.name for p in plan.steps]
        assert np.isfinite(release.log_proba(sample(rows, 20))).all()


def test_an_attribute_with_a_single_cell_is_not_asked_and_costs_nothing(registry: Any) -> None:
    plans = [
        make_plan("naive_bayes", s, epsilon=1.0, registry=registry).to_json()["steps"]
        for s in (SCHEMA, Schema((COLOUR, GRADE, SIZE), SCHEMA.target))
    ]
    assert plans[0] == plans[1]
    assert "only" not in {step["step"] for step in plans[0]}
    with pytest.raises(CapabilityError, match="at least two values"):
        make_plan("naive_bayes", Schema((ONLY,), SCHEMA.target), epsilon=1.0, registry=registry)


def all_rows(values: Any, most: int) -> Any:
    for n in range(most + 1):
        yield from itertools.combinations_with_replacement(values, n)


@pytest.mark.parametrize("adjacency", ADJACENCIES)
@pytest.mark.parametrize("bins", [None, 3])
def test_the_losses_of_all_steps_add_up_to_epsilon_on_no_neighbours_to_more(
    registry: Any, rows: Any, adjacency: str, bins: int | None
) -> None:
    """All neighbours among tables of up to two rows: per step the largest log-ratio is (L1 distance) / scale."""
    values = [(0, 0, 1, 0.0, 0), (3, 0, 5, 10.0, 1), (1, 0, 5, NAN, 0), (0, 0, 1, 0.0, 1), (2, 0, 3, 77.0, 2)]
    plan = make_plan(
        "naive_bayes", SCHEMA, epsilon=0.8, adjacency=adjacency, parameters={"bins": bins}, registry=registry
    )

    def answers(chosen: Any, cells: int) -> list[Any]:
        columns = np.array([values[i] for i in chosen], dtype=np.float64).reshape(-1, 5)
        codes = [columns[:, i].astype(np.uint8) if i in (0, 1, 4) else columns[:, i] for i in range(5)]
        table = MemoryTable(rows(SCHEMA, *codes))
        asked = [p.step.query for p in plan.steps[:1]]
        asked += [by_class(partition(SCHEMA[p.step.name], cells), plan.task) for p in plan.steps[1:]]
        return [table.answer(q) for q in asked]

    # with bins=None any of these may be chosen, by noisy sizes
    for cells in [bins] if bins else [FEWEST, 16, 32, MOST]:
        exact = {chosen: answers(chosen, cells) for chosen in all_rows(range(5), 3)}
        worst = 0.0
        for one, two in itertools.product(exact, repeat=2):
            away = (Counter(one) - Counter(two)).total(), (Counter(two) - Counter(one)).total()
            if away in ([(0, 1), (1, 0)] if adjacency == "add-remove" else [(1, 1)]):
                losses = [
                    np.abs(a - b).sum() / p.calibration.scale
                    for a, b, p in zip(exact[one], exact[two], plan.steps, strict=True)
                ]
                worst = max(worst, float(sum(losses)))
        assert 0.999 * 0.8 <= worst <= 0.8


class Replay(NoiselessCurator):
    """Gives the same answers whatever the rows are."""

    def _release(self, planned: Any, asked: Any, exact: Any, bound: Any) -> Any:
        shape = np.asarray(exact).shape
        return np.random.default_rng(len(self.releases)).normal(20, 15, shape)


@pytest.mark.parametrize("settings", [{}, {"bins": 9}, {"model": "moments"}])
def test_equal_answers_give_equal_models_whatever_the_rows(registry: Any, rows: Any, settings: Any) -> None:
    plan = make_plan("naive_bayes", SCHEMA, epsilon=1.0, parameters=settings, registry=registry)
    made = []
    for n in (0, 1, 200):
        table = MemoryTable(sample(rows, n))
        curator = Replay(table, plan.task, plan.steps, plan.accountant(), SeededNoise(0))
        made.append(plan.classifier.learn(curator).to_json())
    assert made[0] == made[1] == made[2]


def test_bins_are_chosen_by_noisy_class_sizes_alone(registry: Any, rows: Any) -> None:
    plan = make_plan("naive_bayes", SCHEMA, epsilon=1.0, registry=registry)
    chosen = {}
    for n in (30, 30_000):
        model = fit(plan, MemoryTable(sample(rows, n)), random_state=0).model
        cells = {p.partition.attribute.name: p.partition for p in model.parts if isinstance(p, TablePart)}
        assert isinstance(cells["size"], EqualBins)
        chosen[n] = cells["size"].bins
        assert cells["grade"] == EqualBins(GRADE, 5)  # one a whole number, however many are wanted
    assert chosen[30] == FEWEST < chosen[30_000] <= MOST


@pytest.mark.parametrize("settings", [{}, {"bins": 4}, {"model": "moments"}])
def test_ten_classes_of_which_one_is_never_seen(registry: Any, rows: Any, settings: Any) -> None:
    schema = Schema((SIZE, Nominal("v", tuple("abcdefghij"))), Nominal("class", tuple("0123456789")))
    rng = np.random.default_rng(3)
    y = rng.integers(0, 9, 3000).astype(np.uint8)
    train = rows(schema, y + 0.5, y, y)
    plan = make_plan("naive_bayes", schema, epsilon=30.0, parameters=settings, registry=registry)
    release = fit(plan, MemoryTable(train), random_state=0)
    log = release.log_proba(train)
    assert np.isfinite(log).all()
    assert np.exp(log).sum(axis=1) == pytest.approx(1.0)
    assert (release.predict(train) == y).mean() > 0.99
    assert np.exp(log[:, 9]).max() < 0.05


@pytest.mark.parametrize("attribute", [COLOUR, SIZE, GRADE, Numeric("x", -1e90, 1e90), Numeric("t", 0, 1e-90)])
@pytest.mark.parametrize("model", ["bins", "moments"])
def test_one_attribute_alone_and_no_rows_at_all_make_a_model(
    registry: Any, rows: Any, attribute: Any, model: str
) -> None:
    schema = Schema((attribute,), Nominal("class", ("a", "b")))
    plan = make_plan("naive_bayes", schema, epsilon=0.5, parameters={"model": model}, registry=registry)
    empty = rows(schema, np.empty(0, np.uint8), np.empty(0, np.uint8))
    release = fit(plan, MemoryTable(empty), random_state=2)
    column = np.zeros(1, np.uint8) if isinstance(attribute, Nominal) else np.array([attribute.lower])
    assert np.exp(release.log_proba(rows(schema, column))).sum() == pytest.approx(1.0)


def test_a_step_is_answered_once(registry: Any, rows: Any) -> None:
    class Greedy(NaiveBayes):
        def learn(self, curator: Any) -> Any:
            curator.ask("(class)")
            return super().learn(curator)

    plan = make_plan(Greedy(), SCHEMA, epsilon=1.0, registry=registry)
    with pytest.raises(BudgetError, match="asked once more"):
        fit(plan, MemoryTable(sample(rows, 9)), random_state=0)


@pytest.mark.parametrize(("name", "value"), [
    ("bins", 0), ("smoothing", 0.0), ("model", "normal"), ("variant", "x"), ("published_size", 0), ("truncated", 1),
])  # fmt: skip
def test_a_wrong_parameter_is_refused_in_the_form_of_scikit_learn(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=rf"^The '{name}' parameter of NaiveBayes must be .* Got .* instead\.$"):
        NaiveBayes(**{name: value})


def test_a_schemas_cut_points_are_the_bins_and_survive_the_file() -> None:
    draw = np.random.default_rng(0)
    x = draw.uniform(0, 100, 4000)
    schema = Schema([Numeric("x", 0, 100, cuts=(1, 10, 42))], Nominal("class", ("low", "high")))
    rows = Rows(schema, {"x": x, "class": (x > 42).astype(np.uint8)}, 4000)
    plan = make_plan("naive_bayes", schema, epsilon=5.0)
    assert [(p.step.name, p.step.query.cells) for p in plan.steps] == [("x", 8)]
    release = fit(plan, MemoryTable(rows), random_state=0)
    assert (release.predict(rows) == rows.columns["class"]).all()
    again = type(release.model).from_json(schema, json.loads(json.dumps(release.model.to_json())))
    assert again.to_json() == release.model.to_json()
    assert (again.log_proba(rows) == release.log_proba(rows)).all()
