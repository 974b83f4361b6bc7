"""Tampering shows: each way to touch a ledger without its program, and what it takes to see it."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from dpcore.errors import InputError
from dpcore.ledger import Entry
from dpcore.privacy import Adjacency
from dpcore_budget import journal
from dpcore_budget.journal import PARTS, Row
from dpcore_budget.ledger import SqliteLedger
from dpcore_budget.verify import verify

FIT = Entry("naive_bayes", {"bins": 7}, "ab" * 32, 0.25, 1e-6, Adjacency.ADD_REMOVE, "gdp", False, "people.csv")
TRIGGERS = [name for name in PARTS if name != "journal"]
COLUMNS = [field.name for field in attrs.fields(Row)]


@pytest.fixture
def model(ledger: SqliteLedger, tmp_path: Path) -> Path:
    """A model file of entry 2 of three; entry 3 led to none. Rows: open, spend, seal, spend, seal, spend."""
    for entry in (1, 2):
        receipt = ledger.spend(FIT)
        text = json.dumps({"model": entry, "privacy": {"ledger": receipt.to_json()}})
        (tmp_path / f"m{entry}.json").write_text(text)
        ledger.seal(receipt, hashlib.sha256(text.encode()).hexdigest())
    ledger.spend(FIT)
    return tmp_path / "m2.json"


def tamper(path: Path, *statements: str | tuple[str, Any], restore: bool = True) -> None:
    """Change a ledger through another program that takes the triggers off, and puts them back if it is careful."""
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("PRAGMA synchronous = OFF")
    base.execute("PRAGMA ignore_check_constraints = ON")
    base.execute("BEGIN")
    for name in TRIGGERS:
        base.execute(f"DROP TRIGGER {name}")
    for statement in statements:
        base.execute(*((statement,) if isinstance(statement, str) else statement))
    if restore:
        for name in TRIGGERS:
            base.execute(PARTS[name])
    base.execute("COMMIT")
    base.close()


def faults(path: Path, **more: Any) -> tuple[str, ...]:
    found = verify(path, **more).faults
    assert all("\n" not in fault for fault in found)
    return found


def test_a_sound_ledger_has_no_fault(ledger: SqliteLedger, model: Path, path: Path) -> None:
    rows = ledger.rows()
    for head in (None, rows[-1].hash, rows[2].hash):
        found = verify(path, head=head, models=[model, model.with_name("m1.json")])
        assert (found.faults, found.entries, found.head) == ((), 3, rows[-1].hash)


def test_a_new_ledger_has_no_fault(ledger: SqliteLedger, path: Path) -> None:
    assert faults(path) == ()


NEW = {
    "seq": 77,
    "kind": "open",
    "entry": 9,
    "at": "2001-01-01T00:00:00+00:00",
    "who": "nobody",
    "epsilon": 1,
    "delta": 1,
    "body": '{"dataset":"people","adjacency":"replace-one","mark":"","model":"x"}',
    "previous": "ab" * 32,
    "hash": "ab" * 32,
}


@pytest.mark.parametrize("column", COLUMNS)
def test_every_column_of_every_row_is_covered(column: str, model: Path, path: Path) -> None:
    sound, rows = path.read_bytes(), SqliteLedger(path).rows()
    numbers = (NEW[column], 0, -1)
    # SQLite lets a row's number be nothing but a number
    values = numbers if column == "seq" else (*numbers, 0.5, "text", b"\xff", "1e3")
    for row in rows:
        for value in values:
            if value == getattr(row, column):
                continue
            path.write_bytes(sound)
            tamper(path, (f"UPDATE journal SET {column} = ? WHERE seq = ?", (value, row.seq)))
            assert faults(path), (row.seq, value)


@pytest.mark.parametrize("row", range(1, 7))
def test_a_row_that_was_taken_out_shows(row: int, model: Path, path: Path) -> None:
    tamper(path, f"DELETE FROM journal WHERE seq = {row}")
    assert faults(path)
    tamper(path, f"UPDATE journal SET seq = seq - 1 WHERE seq > {row}")  # and the gap closed
    assert faults(path)


def test_a_row_that_was_put_in_shows(model: Path, path: Path) -> None:
    copied = ", ".join(column for column in COLUMNS if column != "seq")
    tamper(path, f"INSERT INTO journal ({copied}) SELECT {copied} FROM journal WHERE seq = 2")
    assert "row 7 does not follow the row before it" in faults(path)


def test_rows_in_another_order_show(model: Path, path: Path) -> None:
    swap = [f"UPDATE journal SET seq = {new} WHERE seq = {old}" for old, new in ((2, 99), (4, 2), (99, 4))]
    tamper(path, *swap)
    assert any("does not follow" in fault for fault in faults(path))


def test_a_tail_that_was_cut_off_shows_by_sqlites_own_counter(model: Path, path: Path) -> None:
    tamper(path, "DELETE FROM journal WHERE seq > 3")
    assert faults(path) == ("rows are missing after row 3",)


def test_a_tail_cut_off_with_the_counter_shows_against_a_head_or_a_model(
    model: Path, path: Path, ledger: SqliteLedger
) -> None:
    head = ledger.rows()[-1].hash
    tamper(path, "DELETE FROM journal WHERE seq > 3", "UPDATE sqlite_sequence SET seq = 3")
    assert faults(path) == ()  # what the documents admit: the chain has no key
    assert faults(path, head=head) == (f"no row has the hash {head[:16]}: the ledger that had it was cut or rewritten",)
    assert faults(path, models=[model]) == (f"{model}: its entry 2 is not in the ledger",)
    assert faults(path, models=[model.with_name("m1.json")]) == ()


def test_a_chain_rewritten_whole_shows_against_a_head_or_a_model(model: Path, path: Path, ledger: SqliteLedger) -> None:
    rows = ledger.rows()
    forged: list[Row] = []
    for row in rows:
        cheaper = row.epsilon // 2 if row.kind == "spend" else row.epsilon
        body = row.body.replace('"epsilon":0.25', '"epsilon":0.125')
        new = attrs.evolve(row, epsilon=cheaper, body=body, previous=forged[-1].hash if forged else "")
        forged.append(attrs.evolve(new, hash=new.computed()))
    changes = [
        ("UPDATE journal SET epsilon = ?, body = ?, previous = ?, hash = ? WHERE seq = ?", values)
        for values in [(r.epsilon, r.body, r.previous, r.hash, r.seq) for r in forged]
    ]
    tamper(path, *changes)
    assert faults(path) == ()  # what the documents admit
    assert faults(path, head=rows[-1].hash)
    assert faults(path, models=[model]) == (f"{model}: its entry 2 is not in the ledger",)


def rechain(path: Path, change: Callable[[Row], Row]) -> None:
    """Change rows and compute the whole chain anew."""
    rows, previous = SqliteLedger(path).rows(), ""
    statements: list[tuple[str, Any]] = []
    for row in rows:
        new = attrs.evolve(change(row), previous=previous)
        previous = new.computed()
        new = attrs.evolve(new, hash=previous)
        sets = ", ".join(f"{column} = ?" for column in COLUMNS)
        statements.append((f"UPDATE journal SET {sets} WHERE seq = ?", (*attrs.astuple(new), row.seq)))
    tamper(path, *statements)


@pytest.mark.parametrize(
    ("row", "change", "says"),
    [
        (2, {"epsilon": 1}, "entry 1 was not charged what it costs: epsilon = 0.25, delta = 0.000001"),
        (2, {"body": "{}"}, "row 2 does not hold an entry that this ledger can take"),
        (2, {"body": "["}, "row 2 does not hold an entry that this ledger can take"),
        (4, {"entry": 5}, "row 4 is entry 5, where entry 2 is due"),
        (5, {"entry": 1}, "row 5 seals entry 1, which is not there or was sealed before"),
        (5, {"entry": 3}, "row 5 seals entry 3, which is not there or was sealed before"),
        (5, {"body": "{}"}, "row 5 seals entry 2, which is not there or was sealed before"),
        (5, {"kind": "open"}, "row 5 is out of place: a ledger is opened once, in row 1"),
        (1, {"body": "{}"}, "row 1 does not hold the ledger's terms"),
        (1, {"epsilon": 7 * 10**8}, "epsilon = 0.75, delta = 0.000003 were spent of epsilon = 0.7, delta = 0.00001"),
    ],
)
def test_a_contradiction_shows_although_the_chain_holds(
    row: int, change: dict[str, Any], says: str, model: Path, path: Path
) -> None:
    rechain(path, lambda r: attrs.evolve(r, **change) if r.seq == row else r)
    assert says in faults(path)


@pytest.mark.parametrize("name", TRIGGERS)
def test_a_missing_or_changed_trigger_shows(name: str, ledger: SqliteLedger, path: Path) -> None:
    base = sqlite3.connect(path, isolation_level=None)
    base.execute(f"DROP TRIGGER {name}")
    assert faults(path) == (f"{name} is missing: the file is not protected as it was made",)
    base.execute(f"CREATE TRIGGER {name} BEFORE DELETE ON journal BEGIN SELECT 1; END")
    base.close()
    assert faults(path) == (f"{name} is not as it was made",)


def test_what_does_not_belong_there_shows(ledger: SqliteLedger, path: Path) -> None:
    base = sqlite3.connect(path, isolation_level=None)
    base.execute("CREATE TRIGGER quiet AFTER INSERT ON journal BEGIN SELECT 1; END")
    base.close()
    assert faults(path) == ("quiet does not belong to a ledger",)


def test_a_ledger_without_rows_or_table_shows(ledger: SqliteLedger, path: Path) -> None:
    tamper(path, "DELETE FROM journal")
    assert faults(path) == ("the rows are missing",)
    tamper(path, "DROP TABLE journal", restore=False)
    assert any("no such table" in fault for fault in faults(path))


def test_a_damaged_file_shows(model: Path, path: Path) -> None:
    content = bytearray(path.read_bytes())
    middle = content.rfind(b'"learner":"naive_bayes"')
    content[middle : middle + 10] = bytes(10)
    path.write_bytes(content)
    assert faults(path)
    path.write_bytes(content[:4096] + bytes(len(content) - 4096))
    assert faults(path)


def test_a_model_that_was_changed_or_never_recorded_shows(model: Path, path: Path) -> None:
    text = model.read_text()
    model.write_text(text.replace('"model": 2', '"model": 3'))
    assert faults(path, models=[model]) == (f"{model}: it is not the file that entry 2 was sealed with",)
    model.write_text(text.replace('"entry": 2', '"entry": 3'))
    assert faults(path, models=[model]) == (f"{model}: its entry 3 is not in the ledger",)
    for other in ("{}", "[]", "3", '{"privacy": {}}', '{"privacy": {"ledger": 3}}', "{", "\ufffd"):
        model.write_text(other)
        assert faults(path, models=[model]) == (f"{model}: it is not a model file that names an entry of a ledger",)
    with pytest.raises(InputError, match="cannot read the model"):
        verify(path, models=[model.with_name("none.json")])


def test_an_entry_of_the_schema_counts_too(ledger: SqliteLedger, path: Path, tmp_path: Path) -> None:
    receipts = [ledger.spend(FIT), ledger.spend(FIT)]
    privacy = {"schema": {"ledger": receipts[0].to_json()}, "ledger": receipts[1].to_json()}
    text = json.dumps({"privacy": privacy})
    (tmp_path / "m.json").write_text(text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    ledger.seal(receipts[1], digest)
    assert faults(path, models=[tmp_path / "m.json"]) == (
        f"{tmp_path / 'm.json'}: it is not the file that entry 1 was sealed with",
    )
    ledger.seal(receipts[0], digest)
    assert faults(path, models=[tmp_path / "m.json"]) == ()


def test_the_hash_covers_every_column_and_the_row_before(ledger: SqliteLedger) -> None:
    ledger.spend(FIT)
    first, row = ledger.rows()
    assert row.previous == first.hash
    content = json.dumps(list(attrs.astuple(row))[:-1], separators=(",", ":"))
    assert row.hash == hashlib.sha256(content.encode()).hexdigest()
    assert journal.canonical(FIT.to_json()) == row.body
