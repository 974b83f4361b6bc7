"""A fit tells its ledger public facts, before any noise exists, and the model's hash before the model exists."""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore
from dpcore.budget import Budget
from dpcore.errors import BudgetError, DpcoreError, InputError, PluginError
from dpcore.ledger import Entry, Ledger, Receipt, canonical, fingerprint, open_ledger, short_name
from dpcore.planned import Plan
from dpcore.registry import load_plugins
from dpcore.release import Release, fit
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows

REGISTRY = load_plugins()
SCHEMA = Schema([Numeric("income", 0, 100_000)], Nominal("class", ["no", "yes"]))


class Book(Ledger):
    """A ledger in memory that remembers everything it was told."""

    def __init__(self, left: float = 10.0) -> None:
        self.left = left
        self.told: list[tuple[str, Any]] = []

    @property
    def dataset(self) -> str:
        return "people"

    def remaining(self) -> tuple[float, float]:
        return self.left, 0.0

    def check(self, *entries: Entry) -> None:
        if sum(entry.epsilon for entry in entries) > self.left:
            raise BudgetError("the book refuses.")

    def spend(self, entry: Entry) -> Receipt:
        self.check(entry)
        self.left -= entry.epsilon
        self.told.append(("spend", entry))
        return Receipt("people", len(self.told), "ab" * 32)

    def seal(self, receipt: Receipt, digest: str) -> None:
        self.told.append(("seal", (receipt, digest)))


class Untouched(MemoryTable):
    """A table that nobody may ask."""

    def aggregate(self, queries: Any) -> Any:
        raise AssertionError("rows were read")


def rows() -> Rows:
    income = np.arange(200) * 400.0
    return Rows(SCHEMA, {"income": income, "class": (income > 40_000).astype(np.uint8)}, 200)


def plan(**options: Any) -> Plan:
    return dpcore.plan("naive_bayes", SCHEMA, **{"epsilon": 1.0, "registry": REGISTRY, **options})


# -- a fit ----------------------------------------------------------------------------------------


def test_the_whole_cost_is_spent_before_the_rows_are_asked() -> None:
    book = Book()
    with pytest.raises(AssertionError, match="rows were read"):
        fit(plan(), Untouched(rows()), ledger=book)
    ((what, entry),) = book.told
    assert what == "spend"
    assert entry.epsilon == plan().total[0] == pytest.approx(1.0)
    assert book.left == pytest.approx(9.0)  # a crash can waste budget, never leak


def test_a_ledger_is_told_public_facts_only() -> None:
    book = Book()
    made = plan(delta=1e-6, accounting="gdp", adjacency="replace-one", parameters={"bins": 7})
    fit(made, MemoryTable(rows()), ledger=book, random_state=3, data="/home/jo/secret-client/people.csv")
    ((_, entry),) = book.told
    assert entry == Entry(
        learner="naive_bayes",
        parameters={**entry.parameters, "bins": 7},
        schema=fingerprint(SCHEMA),
        epsilon=made.total[0],
        delta=1e-6,
        adjacency=dpcore.Adjacency.REPLACE_ONE,
        accounting="gdp",
        reproducible=True,
        data="people.csv",
    )


def test_a_ledger_that_refuses_costs_the_shared_budget_nothing() -> None:
    budget, book = Budget(5.0), Book(left=0.5)
    with pytest.raises(BudgetError, match="the book refuses"):
        fit(plan(), Untouched(rows()), budget=budget, ledger=book)
    assert budget.spent() == (0.0, 0.0)


def test_a_shared_budget_that_refuses_costs_the_ledger_nothing() -> None:
    budget, book = Budget(0.5), Book()
    with pytest.raises(BudgetError, match="shared budget refuses"):
        fit(plan(), Untouched(rows()), budget=budget, ledger=book)
    assert book.told == []


def test_a_usage_error_costs_nothing() -> None:
    book, other = Book(), Schema(SCHEMA.attributes, Nominal("class", ["a", "b"]))
    wrong: list[dict[str, Any]] = [{"random_state": "seven"}]
    for options in wrong:
        with pytest.raises(DpcoreError):
            fit(plan(), Untouched(rows()), ledger=book, **options)
    with pytest.raises(PluginError, match="schema"):
        fit(dpcore.plan("naive_bayes", other, epsilon=1), Untouched(rows()), ledger=book)
    assert book.told == []


# -- a model file ---------------------------------------------------------------------------------


def test_a_model_names_its_entry_and_is_sealed_before_it_exists(tmp_path: Path) -> None:
    path = tmp_path / "m.json"

    class Watching(Book):
        def seal(self, receipt: Receipt, digest: str) -> None:
            assert not path.exists()
            super().seal(receipt, digest)

    book = Watching()
    release = fit(plan(), MemoryTable(rows()), ledger=book)
    release.save(path)
    receipt = Receipt("people", 1, "ab" * 32)
    assert book.told[1:] == [("seal", (receipt, hashlib.sha256(path.read_bytes()).hexdigest()))]
    anchor = {"dataset": "people", "entry": 1, "hash": "ab" * 32}
    assert json.loads(path.read_text())["privacy"]["ledger"] == anchor
    assert Release.load(path, REGISTRY).privacy["ledger"] == anchor


def test_a_model_that_cannot_be_sealed_is_not_written(tmp_path: Path) -> None:
    class Lost(Book):
        def seal(self, receipt: Receipt, digest: str) -> None:
            raise InputError("the book was lost.")

    release = fit(plan(), MemoryTable(rows()), ledger=Lost())
    with pytest.raises(InputError, match="the book was lost"):
        release.save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_found_before_the_seal(tmp_path: Path) -> None:
    book = Book()
    release = fit(plan(), MemoryTable(rows()), ledger=book)
    for place in (tmp_path, tmp_path / "none" / "m.json"):
        with pytest.raises(InputError, match="cannot write"):
            release.save(place)
    assert [what for what, _ in book.told] == ["spend"]


def test_a_model_never_takes_its_ledgers_place(tmp_path: Path) -> None:
    class File(Book):
        def owns(self, path: Path) -> bool:
            return path.name == "people.ledger"

    release = fit(plan(), MemoryTable(rows()), ledger=File())
    with pytest.raises(InputError, match="it is the ledger"):
        release.save(tmp_path / "people.ledger")
    release.save(tmp_path / "m.json")


def test_without_a_ledger_nothing_is_said_of_one(tmp_path: Path) -> None:
    release = fit(plan(), MemoryTable(rows()))
    assert "ledger" not in release.privacy
    release.save(tmp_path / "m.json")
    assert "ledger" not in (tmp_path / "m.json").read_text()


# -- what is recorded -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("adult", "adult"),
        ("rows.csv", "rows.csv"),
        ("../clients/smith & co/rows.csv.gz", "rows.csv.gz"),
        (r"C:\clients\rows.csv", "rows.csv"),
        ("rows/", "rows"),
        ("sqlite:///srv/clients/people.db?table=visits#1", "people.db"),
        ("postgres://jo:secret@host/people?password=secret", "people"),
        ("postgres://jo:secret@host", "host"),
        ("memory://", ""),
        ("", ""),
        ("/", ""),
    ],
)
def test_data_is_recorded_without_folders_passwords_or_options(given: str, kept: str) -> None:
    assert short_name(given) == kept


ENTRY = Entry("naive_bayes", {"bins": 7, "weights": {"a": 1.5}}, "ab" * 32, 0.5, 1e-6, "add-remove", "gdp", False, "x")  # type: ignore[arg-type]


@given(
    st.builds(
        Entry,
        learner=st.text(),
        parameters=st.dictionaries(st.text(), st.none() | st.booleans() | st.integers() | st.text()),
        schema=st.text(),
        epsilon=st.floats(min_value=0, allow_infinity=False),
        delta=st.floats(0, 1),
        adjacency=st.sampled_from(list(dpcore.Adjacency)),
        accounting=st.text(),
        reproducible=st.booleans(),
        data=st.text(),
    )
)
def test_an_entry_survives_its_json(entry: Entry) -> None:
    text = canonical(entry.to_json())
    again = Entry.from_json(json.loads(text))
    assert canonical(again.to_json()) == text
    assert (again.epsilon, again.delta, again.adjacency) == (entry.epsilon, entry.delta, entry.adjacency)


@pytest.mark.parametrize("change", [{"epsilon": -0.1}, {"epsilon": math.nan}, {"delta": 1.5}, {"adjacency": "near"}])
def test_a_cost_that_is_none_is_no_entry(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="must"):
        attrs.evolve(ENTRY, **change)


@pytest.mark.parametrize("value", [math.inf, math.nan, object(), b"x", {1}])
def test_parameters_that_json_cannot_hold_are_found_before_anything_is_spent(value: Any) -> None:
    with pytest.raises(InputError, match="plain JSON data"):
        attrs.evolve(ENTRY, parameters={"bins": value})


def test_the_fingerprint_changes_with_the_schema_and_with_nothing_else() -> None:
    same = Schema.from_json(json.loads(json.dumps(SCHEMA.to_json())))
    assert fingerprint(same) == fingerprint(SCHEMA)
    assert fingerprint(Schema([Numeric("income", 0, 100_001)], SCHEMA.target)) != fingerprint(SCHEMA)


# -- opening --------------------------------------------------------------------------------------


def test_a_path_is_opened_with_sqlite_and_a_scheme_with_its_component(tmp_path: Path) -> None:
    sqlite = REGISTRY.get("ledger", "sqlite")
    for where in (tmp_path / "x", str(tmp_path / "x"), f"sqlite://{tmp_path / 'x'}"):
        opened = open_ledger(where, REGISTRY)
        assert type(opened) is sqlite
        assert opened == sqlite(tmp_path / "x")
    book = Book()
    assert open_ledger(book) is book
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("where", "says"), [(3, "Got int"), (b"x", "Got bytes"), ("", "Got an empty text")])
def test_what_is_no_place_is_refused(where: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        open_ledger(where)


def test_a_scheme_without_a_component_lists_those_there_are() -> None:
    with pytest.raises(PluginError, match="no ledger is called 'stone'; there are: sqlite"):
        open_ledger("stone://tablet", REGISTRY)
