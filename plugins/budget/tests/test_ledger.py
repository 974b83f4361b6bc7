"""What a ledger takes it never gives back, and it never takes more than it has."""

from __future__ import annotations

import copy
import math
import os
import pickle
import sqlite3
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.errors import BudgetError, InputError
from dpcore.ledger import Entry, Receipt
from dpcore.privacy import Adjacency
from dpcore_budget import journal, storage
from dpcore_budget.charge import NANO, exact
from dpcore_budget.ledger import SqliteLedger

FIT = Entry("naive_bayes", {"bins": 7}, "ab" * 32, 0.1, 0.0, Adjacency.ADD_REMOVE, "pure", False, "people.csv")


def fit(epsilon: float, delta: float = 0.0, **more: Any) -> Entry:
    return attrs.evolve(FIT, epsilon=epsilon, delta=delta, **more)


def spent(ledger: SqliteLedger) -> list[int]:
    return [row.epsilon for row in ledger.rows() if row.kind == "spend"]


# -- spending -------------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.1, 0.09999999999999859])
def test_ten_fits_of_a_tenth_are_the_whole(epsilon: float, ledger: SqliteLedger) -> None:
    for number in range(1, 11):
        assert ledger.spend(fit(epsilon)).entry == number
    assert ledger.remaining() == (0.0, 1e-5)
    with pytest.raises(
        BudgetError, match=r"costs epsilon = 1e-9, delta = 0, and epsilon = 0, delta = 0\.00001 are left"
    ):
        ledger.spend(fit(1e-20))
    assert spent(ledger) == [10**8] * 10


@given(st.lists(st.one_of(st.floats(0, 1), st.floats(0, 1e-8)), max_size=12), st.floats(1e-9, 2))
@settings(max_examples=60, deadline=None)
def test_what_is_accepted_never_sums_above_the_budget(
    tmp_path_factory: pytest.TempPathFactory, costs: list[float], budget: float
) -> None:
    ledger = SqliteLedger.create(tmp_path_factory.mktemp("any") / "x.ledger", "people", budget)
    total = Fraction(0)
    for cost in costs:
        left = ledger.remaining()[0]
        try:
            ledger.spend(fit(cost))
        except BudgetError:
            assert exact(cost) * NANO > exact(left) * NANO - 1  # refused for less than a unit too much
        else:
            total += exact(cost)
            assert total <= exact(budget)
    assert exact(ledger.remaining()[0]) <= exact(budget) - total


def test_delta_is_kept_like_epsilon(ledger: SqliteLedger) -> None:
    ledger.spend(fit(0.1, 6e-6))
    with pytest.raises(BudgetError, match=r"delta = 0\.000006, and epsilon = 0\.9, delta = 0\.000004 are left"):
        ledger.spend(fit(0.1, 6e-6))
    assert ledger.remaining() == (0.9, 4e-6)


def test_a_fit_for_other_neighbours_is_refused_or_counts_twice(ledger: SqliteLedger, tmp_path: Path) -> None:
    with pytest.raises(BudgetError, match="add-remove adjacency, and a fit under replace-one"):
        ledger.spend(fit(0.1, adjacency=Adjacency.REPLACE_ONE))
    other = SqliteLedger.create(tmp_path / "other", "people", 1.0, adjacency="replace-one")
    other.spend(fit(0.4, adjacency=Adjacency.REPLACE_ONE))
    other.spend(fit(0.2))
    assert spent(other) == [4 * 10**8, 4 * 10**8]
    with pytest.raises(BudgetError, match=r"costs epsilon = 0\.3, delta = 0 \(its add-remove guarantee counts twice"):
        other.spend(fit(0.15))


def test_checking_records_nothing_and_sums_what_belongs_together(ledger: SqliteLedger) -> None:
    ledger.check(fit(0.5), fit(0.5))
    with pytest.raises(BudgetError, match=r"epsilon = 1\.1"):
        ledger.check(fit(0.5), fit(0.6))
    with pytest.raises(BudgetError, match="finite"):
        ledger.check(fit(math.inf))
    assert [row.kind for row in ledger.rows()] == ["open"]


def test_an_entry_holds_who_when_and_what(ledger: SqliteLedger) -> None:
    receipt = ledger.spend(FIT)
    row = ledger.rows()[-1]
    assert receipt == Receipt("people", 1, row.hash)
    assert row.body == journal.canonical(FIT.to_json())
    assert row.who
    assert row.at.endswith("+00:00")


def test_an_account_without_a_name_is_recorded_by_its_number(
    ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: (_ for _ in ()).throw(KeyError("no such account")))
    ledger.spend(FIT)
    assert ledger.rows()[-1].who == str(os.getuid())


# -- seals ----------------------------------------------------------------------------------------


def test_an_entry_is_sealed_once(ledger: SqliteLedger) -> None:
    receipts = [ledger.spend(FIT), ledger.spend(FIT)]
    ledger.seal(receipts[1], "aa" * 32)
    ledger.seal(receipts[1], "aa" * 32)
    with pytest.raises(InputError, match=r"entry 2 .* was sealed with another model file"):
        ledger.seal(receipts[1], "bb" * 32)
    ledger.seal(receipts[0], "bb" * 32)
    seals = [(row.entry, journal.sealed(row)) for row in ledger.rows() if row.kind == "seal"]
    assert seals == [(2, "aa" * 32), (1, "bb" * 32)]


def test_an_entry_of_another_ledger_cannot_be_sealed(ledger: SqliteLedger, tmp_path: Path) -> None:
    other = SqliteLedger.create(tmp_path / "other", "people", 1.0, 1e-5)
    ledger.spend(FIT)
    receipt = other.spend(FIT)
    for wrong in (receipt, attrs.evolve(receipt, entry=7)):
        with pytest.raises(InputError, match="does not hold entry"):
            ledger.seal(wrong, "aa" * 32)


# -- the file -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE journal SET epsilon = 0 WHERE seq = 2",
        "UPDATE journal SET body = '{}'",
        "DELETE FROM journal WHERE seq = 2",
        "DELETE FROM journal",
        "INSERT OR REPLACE INTO journal SELECT * FROM journal WHERE seq = 2",
        "INSERT INTO journal SELECT 9, kind, entry, at, who, 0, 0, body, hash, 'x' FROM journal WHERE seq = 2",
        "INSERT INTO journal SELECT NULL, kind, entry, at, who, 0, 0, body, hash, 'x' FROM journal WHERE seq = 2",
        "INSERT INTO journal SELECT 3, kind, entry, at, who, 0, 0, body, 'x', 'x' FROM journal WHERE seq = 2",
        "INSERT INTO journal SELECT 3, kind, 2, at, who, 900000001, 0, body, hash, 'x' FROM journal WHERE seq = 2",
        "INSERT INTO journal SELECT 3, kind, 2, at, who, 0, 10000000000001, body, hash, 'x' FROM journal WHERE seq = 2",
        "INSERT INTO journal SELECT 3, kind, 2, at, who, -1, 0, body, hash, 'x' FROM journal WHERE seq = 2",
        "INSERT INTO journal SELECT 3, kind, 2, at, who, 0.5, 0, body, hash, 'x' FROM journal WHERE seq = 2",
        "INSERT INTO journal SELECT 3, 'gift', 2, at, who, 0, 0, body, hash, 'x' FROM journal WHERE seq = 2",
    ],
)
def test_the_file_itself_refuses_what_no_ledger_does(sql: str, ledger: SqliteLedger, path: Path) -> None:
    ledger.spend(FIT)
    before = ledger.rows()
    base = sqlite3.connect(path)
    with pytest.raises(sqlite3.IntegrityError):
        base.execute(sql)
    base.close()
    assert ledger.rows() == before


def test_a_ledger_is_never_overwritten(ledger: SqliteLedger, path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(InputError, match="never overwritten"):
        SqliteLedger.create(path, "people", 5.0)
    assert path.read_bytes() == before


def test_a_ledger_is_one_file_when_nobody_is_at_it(ledger: SqliteLedger, path: Path) -> None:
    ledger.seal(ledger.spend(FIT), "aa" * 32)
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"epsilon": 0}, "greater than 0"),
        ({"epsilon": math.inf}, "finite"),
        ({"epsilon": 9e-10}, "between 1e-9 and"),
        ({"epsilon": 2e9}, "between 1e-9 and"),
        ({"delta": 1}, "delta must lie in"),
        ({"adjacency": "near"}, "add-remove or replace-one"),
        ({"dataset": " "}, "printable text"),
        ({"dataset": "a\nb"}, "printable text"),
    ],
)
def test_a_wrong_argument_makes_no_file(wrong: dict[str, Any], says: str, path: Path) -> None:
    with pytest.raises(InputError, match=says):
        SqliteLedger.create(path, **{"dataset": "people", "epsilon": 1.0, **wrong})
    assert not path.exists()


def test_a_ledger_that_could_not_be_finished_leaves_no_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "append", lambda *args, **more: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        SqliteLedger.create(path, "people", 1.0)
    assert list(path.parent.iterdir()) == []


def test_what_is_no_ledger_is_one_clear_line(tmp_path: Path, path: Path, ledger: SqliteLedger) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("hello\n" * 1000)
    sqlite3.connect(tmp_path / "other").execute("CREATE TABLE t (a)").connection.close()
    places = {"none": "does not exist", ".": "is a folder", "text/x": "does not exist"}
    places |= dict.fromkeys(("empty", "text", "other"), "is not a ledger of dpcore")
    before = {name: (tmp_path / name).read_bytes() for name in ("empty", "text", "other")}
    for name, says in places.items():
        wrong = SqliteLedger(tmp_path / name)
        for use in (
            wrong.remaining,
            lambda w=wrong: w.dataset,
            lambda w=wrong: w.check(FIT),
            lambda w=wrong: w.spend(FIT),
        ):
            with pytest.raises(InputError, match=says) as caught:
                use()
            assert "\n" not in str(caught.value)
    assert before == {name: (tmp_path / name).read_bytes() for name in before}


def test_another_version_is_named(path: Path, ledger: SqliteLedger) -> None:
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 2")
    base.close()
    with pytest.raises(InputError, match="has version 2; this dpcore keeps version 1"):
        ledger.check(FIT)


def test_a_damaged_ledger_is_one_clear_line(path: Path, ledger: SqliteLedger) -> None:
    base = sqlite3.connect(path)
    base.execute("DROP TABLE journal")
    base.close()
    with pytest.raises(InputError, match="is damaged: no such table: journal"):
        ledger.spend(FIT)


def test_a_busy_ledger_is_waited_for_and_then_named(
    path: Path, ledger: SqliteLedger, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    base.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(storage, "WAIT", 0.05)
    with pytest.raises(InputError, match="other processes kept it busy for"):
        ledger.spend(FIT)
    assert ledger.remaining()[0] == 1.0  # reading needs no turn
    monkeypatch.setattr(storage, "WAIT", 30.0)
    release = threading.Timer(0.2, lambda: base.execute("COMMIT"))
    release.start()
    ledger.spend(FIT)
    release.join()
    base.close()


def test_every_copy_is_the_same_ledger(ledger: SqliteLedger, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    relative = SqliteLedger(path.name)
    monkeypatch.chdir("/")
    for other in (relative, copy.deepcopy(ledger), pickle.loads(pickle.dumps(ledger)), SqliteLedger(path)):
        assert other == ledger
        assert hash(other) == hash(ledger)
        other.spend(FIT)
    assert ledger.remaining()[0] == 0.6


def test_it_knows_its_own_files(ledger: SqliteLedger, path: Path) -> None:
    (path.parent / "link").symlink_to(path)
    for own in (path, path.with_name("people.ledger-wal"), path.with_name("people.ledger-shm"), path.parent / "link"):
        assert ledger.owns(own)
    assert not ledger.owns(path.with_name("m.json"))


def test_a_path_may_have_any_name(tmp_path: Path) -> None:
    for name in ("a b?mode=memory#x%20.ledger", "ü.ledger", ":memory:"):
        made = SqliteLedger.create(tmp_path / name, "people", 1.0)
        made.spend(FIT)
        assert (tmp_path / name).stat().st_size > 0
        assert SqliteLedger(tmp_path / name).remaining()[0] == 0.9
