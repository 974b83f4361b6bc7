"""A model file holds what was released and public facts, nothing else; it is written whole or not at all."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest

from dpcore.budget import Budget
from dpcore.errors import BudgetError, InputError, NotPrivateError, ParameterError, PluginError
from dpcore.parameters import build
from dpcore.planned import Plan
from dpcore.planning import make_plan
from dpcore.recording import learner_parameters
from dpcore.registry import load_plugins
from dpcore.release import Release, fit
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows

REGISTRY = load_plugins()
CANARY = 73519.25
SIZE = 1237


def schema(classes: int) -> Schema:
    """Numeric and nominal attributes, some of which may lack values."""
    colour = Nominal("colour", ("red", "green", "blue"), missing=True)
    income = Numeric("income", 0, 100_000.7, missing=True)
    return Schema(
        (colour, income, Numeric("age", 17, 90, integer=True)), Nominal("c", ("no", "yes", "maybe")[:classes])
    )


def rows(classes: int, seed: int = 0) -> Rows:
    """Rows in which one income stands many times."""
    rng = np.random.default_rng(seed)
    c = rng.integers(0, classes, SIZE).astype(np.uint8)
    income = rng.normal(3e4 + 2e4 * c, 1e4)
    income[rng.random(SIZE) < 0.1] = np.nan
    income[rng.random(SIZE) < 0.3] = CANARY
    columns = {
        "colour": rng.integers(0, 4, SIZE, np.uint8),
        "income": income,
        "age": rng.integers(17, 91, SIZE),
        "c": c,
    }
    return Rows(schema(classes), columns, SIZE)


CASES = [
    pytest.param(model, adjacency, classes, delta, id=f"{model}-{adjacency}-{classes}-{delta}")
    for model in ("bins", "moments")
    for adjacency in ("add-remove", "replace-one")
    for classes, delta in ((2, 0.0), (3, 1e-6))
]
each_case = pytest.mark.parametrize(("model", "adjacency", "classes", "delta"), CASES)


def plan(
    model: str = "bins", adjacency: str = "add-remove", classes: int = 2, delta: float = 0.0, **options: Any
) -> Plan:
    """A plan of the installed naive Bayes, by name."""
    settings = {"epsilon": 1.0, "parameters": {"model": model}} | options
    return make_plan("naive_bayes", schema(classes), adjacency=adjacency, delta=delta, registry=REGISTRY, **settings)


@attrs.define
class Replay:
    """All of a curator that a learner may use, without rows: it repeats what was released."""

    task: Any
    steps: dict[str, Any]
    releases: list[Any]

    def ask(self, step: str, query: Any = None) -> Any:
        released = self.releases.pop(0)
        assert step == released.step
        assert query in (None, released.query)
        return released.value.copy() if isinstance(released.value, np.ndarray) else released.value

    def prepare(self, queries: Any) -> None:
        assert list(queries)

    def scale(self, step: str) -> float:
        return self.steps[step].calibration.scale or 0.0


def replayed(of: Plan, release: Release) -> str:
    """The model learned again from what was released alone."""
    curator = Replay(of.task, {p.step.name: p for p in of.steps}, list(release.releases))
    text = json.dumps(of.classifier.learn(curator).to_json())  # type: ignore[arg-type]
    assert curator.releases == []
    return text


@each_case
def test_the_model_is_a_function_of_what_was_released(model: str, adjacency: str, classes: int, delta: float) -> None:
    made = plan(model, adjacency, classes, delta)
    for seed in (None, 1):
        release = fit(made, MemoryTable(rows(classes)), random_state=seed)
        assert replayed(made, release) == json.dumps(release.model.to_json())
        assert {r.step for r in release.releases} == {p.step.name for p in made.steps}


@pytest.mark.parametrize("variant", ["vaidya2013", "lopuhaa2021"])
def test_a_published_model_too_is_a_function_of_what_was_released(variant: str) -> None:
    made = plan(parameters={"variant": variant})
    release = fit(made, MemoryTable(rows(2)), random_state=3, not_private=True)
    assert replayed(made, release) == json.dumps(release.model.to_json())
    assert release.privacy["guarantee"] == "none"


@each_case
def test_a_seed_repeats_the_model_and_says_so(model: str, adjacency: str, classes: int, delta: float) -> None:
    made = plan(model, adjacency, classes, delta)
    one, same, other, system = (
        json.dumps(fit(made, MemoryTable(rows(classes)), random_state=seed).to_json()) for seed in (7, 7, 8, None)
    )
    assert one == same
    assert len({one, other, system}) == 3
    assert json.loads(one)["privacy"]["reproducible"] is True
    assert json.loads(system)["privacy"]["reproducible"] is False


@each_case
def test_a_model_survives_its_file(model: str, adjacency: str, classes: int, delta: float, tmp_path: Path) -> None:
    made = plan(model, adjacency, classes, delta)
    release = fit(made, MemoryTable(rows(classes)), random_state=0)
    path = tmp_path / "model.json"
    release.save(path)
    again = Release.load(path, REGISTRY)
    assert again.to_json() == release.to_json()
    assert again.schema == release.schema
    fresh = rows(classes, seed=9)
    fresh.columns["colour"][:5] = 4  # nothing known
    assert (again.log_proba(fresh) == release.log_proba(fresh)).all()
    assert (again.predict(fresh) == release.predict(fresh)).all()
    assert np.exp(again.log_proba(fresh)).sum(axis=1) == pytest.approx(np.ones(SIZE))
    assert build(type(made.classifier), again.parameters) == made.classifier
    assert again.parameters == learner_parameters(made.classifier)


@each_case
def test_no_private_number_stands_in_the_file(model: str, adjacency: str, classes: int, delta: float) -> None:
    data = rows(classes)
    release = fit(plan(model, adjacency, classes, delta), MemoryTable(data), random_state=0)
    content = release.to_json()
    text = json.dumps(content)
    assert str(CANARY) not in text
    counts = {int(n) for n in np.bincount(data.columns["c"])} | {SIZE}
    numbers: list[float] = []

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            for inner in value:
                collect(inner)
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            numbers.append(value)

    collect({key: content[key] for key in ("model", "parameters", "privacy")})
    prior = np.log(np.bincount(data.columns["c"]) / SIZE)
    forbidden = {float(n) for n in counts} | {float(p) for p in prior} | {CANARY}
    assert not forbidden & {float(n) for n in numbers}
    assert "size" not in json.dumps(content["model"])


def test_what_was_spent_is_what_was_planned() -> None:
    for options in ({}, {"delta": 1e-6}, {"model": "moments"}):
        made = plan(**options)  # type: ignore[arg-type]
        privacy = fit(made, MemoryTable(rows(2)), random_state=0).privacy
        assert privacy["spent"]["epsilon"] == pytest.approx(1.0, rel=1e-3)
        assert privacy["spent"]["epsilon"] <= 1.0
        assert privacy["steps"] == [p.to_json() for p in made.steps]
        assert json.loads(json.dumps(privacy, allow_nan=False)) == privacy


# -- refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize("variant", ["vaidya2013", "lopuhaa2021"])
def test_a_plan_that_is_not_private_is_refused_unless_that_was_meant(variant: str) -> None:
    made, budget = plan(parameters={"variant": variant}), Budget(100.0)
    with pytest.raises(NotPrivateError, match="no guarantee at all"):
        fit(made, MemoryTable(rows(2)), budget=budget)
    with pytest.raises(BudgetError):  # no finite budget pays for an infinite cost
        fit(made, MemoryTable(rows(2)), not_private=True, budget=budget)
    assert budget.spent() == (0.0, 0.0)


class Untouched(MemoryTable):
    """A table that nobody may ask."""

    def aggregate(self, queries: Any) -> Any:
        raise AssertionError("rows were read")


def test_a_shared_budget_is_reserved_before_the_rows_are_read() -> None:
    budget = Budget(1.5)
    with pytest.raises(AssertionError, match="rows were read"):
        fit(plan(), Untouched(rows(2)), budget=budget)
    assert budget.spent()[0] == pytest.approx(1.0)  # a crash can waste budget, never leak
    with pytest.raises(BudgetError, match="shared budget"):
        fit(plan(), Untouched(rows(2)), budget=budget)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_a_shared_budget_of_one_fit_pays_for_one_fit(delta: float) -> None:
    for epsilon in (0.1, 0.3, 1.0, 2.0):
        budget = Budget(epsilon, delta)
        fit(plan(epsilon=epsilon, delta=delta), MemoryTable(rows(2)), random_state=0, budget=budget)


def test_a_usage_error_costs_nothing() -> None:
    budget = Budget(1.0)
    with pytest.raises(ParameterError):
        fit(plan(), Untouched(rows(2)), random_state="seven", budget=budget)
    with pytest.raises(PluginError, match="schema"):
        fit(plan(), Untouched(rows(3)), budget=budget)
    assert budget.spent() == (0.0, 0.0)


# -- files ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def text() -> str:
    """A good model file."""
    return json.dumps(fit(plan("moments"), MemoryTable(rows(2)), random_state=0).to_json())


def refused(path: Path, content: str | bytes) -> str:
    """The one line that a bad file gives."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError) as caught:
        Release.load(path, REGISTRY)
    assert "\n" not in str(caught.value)
    assert path.name in str(caught.value)
    return str(caught.value)


def test_a_truncated_file_is_one_line(text: str, tmp_path: Path) -> None:
    for length in [*range(0, len(text), 97), len(text) - 1]:
        refused(tmp_path / "m.json", text[:length])


@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"[]", b"3", b"null", b"[" * 100_000, b"{}", b'{"format": 3}'])
def test_what_is_no_model_is_one_line(content: bytes, tmp_path: Path) -> None:
    refused(tmp_path / "m.json", content)


def test_another_version_is_named(text: str, tmp_path: Path) -> None:
    assert "dpcore-model/2" in refused(tmp_path / "m.json", text.replace("dpcore-model/1", "dpcore-model/2"))


def _places(data: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [at, *(place for key, value in inner for place in _places(value, (*at, key)))]


@pytest.mark.parametrize("junk", [None, "x", -1, math.inf, 10**400, [], {}, [[]], True], ids=repr)
@pytest.mark.parametrize("model", ["bins", "moments"])
def test_a_damaged_file_is_one_line_or_still_a_model(model: str, junk: Any, tmp_path: Path) -> None:
    content = json.dumps(fit(plan(model), MemoryTable(rows(2)), random_state=0).to_json())
    path, loaded = tmp_path / "m.json", 0
    parts = ("model", "schema", "format", "classifier", "parameters", "privacy")
    places = [
        p
        for p in _places(json.loads(content))
        if p and p[0] in parts and not any(i > 1 for i in p if isinstance(i, int))
    ]
    for *way, last in places:
        data = json.loads(content)
        spot = data
        for key in way:
            spot = spot[key]
        spot[last] = junk
        path.write_text(json.dumps(data))
        reason = ""
        try:
            Release.load(path, REGISTRY)
            loaded += 1
        except (InputError, PluginError) as error:
            reason = str(error)
        assert "\n" not in reason
    assert loaded < len(places)


def test_a_missing_file_is_one_line(tmp_path: Path) -> None:
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(InputError, match=path.name):
            Release.load(path, REGISTRY)


def test_a_model_with_a_number_that_json_lacks_is_not_written(tmp_path: Path) -> None:
    release = fit(plan(), MemoryTable(rows(2)), random_state=0)
    bad = attrs.evolve(release, privacy={**release.privacy, "epsilon": math.nan})
    with pytest.raises(ValueError, match="JSON"):
        bad.save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []
