"""Whether a ledger is what it was: every fault that can be seen from the file, a noted head, or released models."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import attrs

from dpcore.errors import BudgetError, InputError
from dpcore.ledger import Entry
from dpcore.privacy import Adjacency
from dpcore_budget import journal
from dpcore_budget.charge import charge, words
from dpcore_budget.journal import Row, sealed
from dpcore_budget.storage import Damaged, reading


@attrs.frozen
class Verified:
    """What was found.

    Args:
        faults: one line each; none if the ledger is sound.
        entries: how many spendings it holds.
        head: the hash of its last row: whoever notes it down can later tell a rewritten ledger.
    """

    faults: tuple[str, ...]
    entries: int
    head: str


def verify(path: str | Path, *, head: str | None = None, models: Sequence[str | Path] = ()) -> Verified:
    """Check a ledger file.

    The chain has no key. Without `head` or `models`, a ledger that was rewritten from some row to its end, with new
    hashes and SQLite's own counter set to match, looks sound.

    Args:
        path: the file.
        head: a hash that this ledger had at its end at some time.
        models: model files that were recorded in it.

    Raises:
        InputError: if the file is missing, not a ledger, or of another version, or a model cannot be read.
    """
    files = [(Path(model), _read(Path(model))) for model in models]
    try:
        with reading(Path(path).absolute(), str(path)) as base:
            faults = [*_file_faults(base)]
            rows = list(journal.rows(base))
    except Damaged as error:
        return Verified((str(error),), 0, "")
    faults += _chain_faults(rows)
    faults += _content_faults(rows)
    if head is not None and head not in [row.hash for row in rows]:
        faults.append(f"no row has the hash {head[:16]}: the ledger that had it was cut or rewritten")
    for name, text in files:
        faults += [f"{name}: {fault}" for fault in _model_faults(text, rows)]
    return Verified(tuple(faults), sum(row.kind == "spend" for row in rows), rows[-1].hash if rows else "")


def _read(model: Path) -> bytes:
    try:
        return model.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read the model {str(model)!r}: {error.strerror}.") from None


def _file_faults(base: sqlite3.Connection) -> Iterable[str]:
    """The table and its triggers as they were made, pages in order, nothing taken off the end."""
    found = dict(base.execute("SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))
    for name, sql in journal.PARTS.items():
        if name not in found:
            yield f"{name} is missing: the file is not protected as it was made"
        elif found[name] != sql:
            yield f"{name} is not as it was made"
    for name in sorted(found.keys() - journal.PARTS.keys()):
        yield f"{name} does not belong to a ledger"
    for (line,) in base.execute("PRAGMA quick_check(3)"):
        if line != "ok":
            yield f"the file is damaged: {line}"
    if "journal" in found:
        (last,) = base.execute("SELECT max(seq) FROM journal").fetchone()
        counted = base.execute("SELECT seq FROM sqlite_sequence WHERE name = 'journal'").fetchone()
        if counted is None or counted[0] != last:
            yield f"rows are missing after row {last}" if last else "the rows are missing"


def _chain_faults(rows: Sequence[Row]) -> Iterable[str]:
    """Rows numbered 1, 2, 3, …, each with the hash of its content and of the row before."""
    previous = ""
    for place, row in enumerate(rows, 1):
        if row.seq != place:
            yield f"row {place} is missing: row {row.seq} stands in its place"
            return
        if row.previous != previous:
            yield f"row {place} does not follow the row before it"
        try:
            sound = row.computed() == row.hash
        except InputError:
            sound = False
        if not sound:
            yield f"row {place} was changed: its content does not have its hash"
        previous = row.hash


def _content_faults(rows: Sequence[Row]) -> Iterable[str]:
    """One opening; spendings numbered 1, 2, 3, … at the price of what they say, within the budget; seals of those."""
    if not rows:
        return
    try:
        adjacency = Adjacency(json.loads(rows[0].body)["adjacency"])
        budget = int(rows[0].epsilon), int(rows[0].delta)
    except (LookupError, TypeError, ValueError):
        yield "row 1 does not hold the ledger's terms"
        return
    totals, entries, done = [0, 0], 0, set()
    for row in rows:
        if (row.kind == "open") != (row.seq == 1):
            yield f"row {row.seq} is out of place: a ledger is opened once, in row 1"
        elif row.kind == "spend":
            entries += 1
            if row.entry != entries:
                yield f"row {row.seq} is entry {row.entry}, where entry {entries} is due"
            yield from _price_faults(row, adjacency)
            totals = [totals[0] + _whole(row.epsilon), totals[1] + _whole(row.delta)]
        elif row.kind == "seal":
            if sealed(row) is None or _whole(row.entry) not in range(1, entries + 1) or row.entry in done:
                yield f"row {row.seq} seals entry {row.entry}, which is not there or was sealed before"
            done.add(row.entry)
    if totals[0] > budget[0] or totals[1] > budget[1]:
        yield f"{words(*totals)} were spent of {words(*budget)}"


def _price_faults(row: Row, adjacency: Adjacency) -> Iterable[str]:
    try:
        price = charge(Entry.from_json(json.loads(row.body)), adjacency)
    except (LookupError, TypeError, ValueError, ArithmeticError, BudgetError):
        yield f"row {row.seq} does not hold an entry that this ledger can take"
        return
    if price != (row.epsilon, row.delta):
        yield f"entry {row.entry} was not charged what it costs: {words(*price)}"


def _whole(value: Any) -> int:
    return value if isinstance(value, int) else 0


def _model_faults(text: bytes, rows: Sequence[Row]) -> Iterable[str]:
    """The entries that a model names stand here under their hashes, sealed with this very file."""
    try:
        privacy = json.loads(text)["privacy"]
        receipts = [privacy["ledger"], *([privacy["schema"]["ledger"]] if "schema" in privacy else [])]
        named = [(int(receipt["entry"]), str(receipt["hash"])) for receipt in receipts]
    except (LookupError, TypeError, ValueError, RecursionError):
        yield "it is not a model file that names an entry of a ledger"
        return
    digest = hashlib.sha256(text).hexdigest()
    for entry, known in named:
        if known not in [row.hash for row in rows if row.kind == "spend" and row.entry == entry]:
            yield f"its entry {entry} is not in the ledger"
        elif digest not in [sealed(row) for row in rows if row.kind == "seal" and row.entry == entry]:
            yield f"it is not the file that entry {entry} was sealed with"
