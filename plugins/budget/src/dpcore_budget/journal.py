"""The journal: the one table of a ledger file, its triggers, and the hash chain of its rows.

Row 1 opens the ledger and holds its terms; `epsilon` and `delta` are the budget. Every later row is a spending, or the
seal of one: the hash of the model file that it led to. The triggers let a row be added only at the end and within the
budget, and none be changed or taken out, whichever program writes.

Each row's hash covers its content and the hash of the row before. The chain has no key. It shows careless tampering:
who can rewrite the whole file can also compute a new chain. That shows only against a hash kept elsewhere: a
head that was noted down, or the entry's hash in a model file that was handed out.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Literal

import attrs

from dpcore.ledger import canonical

APPLICATION = 0x64704C67
"""SQLite's `application_id` of a ledger: "dpLg"."""
VERSION = 1
"""SQLite's `user_version`: the version of this layout."""

Kind = Literal["open", "spend", "seal"]

PARTS = {
    "journal": """CREATE TABLE journal (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CHECK (kind IN ('open', 'spend', 'seal')),
  entry INTEGER NOT NULL CHECK (typeof(entry) = 'integer'),
  at TEXT NOT NULL,
  who TEXT NOT NULL,
  epsilon INTEGER NOT NULL CHECK (typeof(epsilon) = 'integer' AND epsilon >= 0),
  delta INTEGER NOT NULL CHECK (typeof(delta) = 'integer' AND delta >= 0),
  body TEXT NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL
)""",
    "journal_grows_at_its_end": """CREATE TRIGGER journal_grows_at_its_end BEFORE INSERT ON journal
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM journal)
  OR NEW.previous IS NOT coalesce((SELECT hash FROM journal ORDER BY seq DESC LIMIT 1), '')
BEGIN SELECT RAISE(ABORT, 'a ledger grows at its end only'); END""",
    "journal_keeps_its_budget": """CREATE TRIGGER journal_keeps_its_budget BEFORE INSERT ON journal
WHEN NEW.kind = 'spend' AND NOT EXISTS (
  SELECT 1 FROM journal AS opened
  WHERE opened.seq = 1
    AND opened.epsilon >= NEW.epsilon + (SELECT coalesce(sum(epsilon), 0) FROM journal WHERE kind = 'spend')
    AND opened.delta >= NEW.delta + (SELECT coalesce(sum(delta), 0) FROM journal WHERE kind = 'spend'))
BEGIN SELECT RAISE(ABORT, 'a ledger never spends more than its budget'); END""",
    "journal_is_never_changed": """CREATE TRIGGER journal_is_never_changed BEFORE UPDATE ON journal
BEGIN SELECT RAISE(ABORT, 'a ledger is never changed'); END""",
    "journal_is_never_cut": """CREATE TRIGGER journal_is_never_cut BEFORE DELETE ON journal
BEGIN SELECT RAISE(ABORT, 'a ledger is never cut'); END""",
}
"""All that the file holds besides rows, by name, as SQLite keeps it."""


@attrs.frozen
class Row:
    """One line of the journal.

    Args:
        seq: its place, from 1.
        kind: open, spend or seal.
        entry: the number of the spending, from 1, that this is or seals; 0 for the opening.
        at, who: when (UTC) and by which account.
        epsilon, delta: in units; the budget, what is spent, or 0.
        body: the rest as canonical JSON.
        previous, hash: the chain.
    """

    seq: int
    kind: str
    entry: int
    at: str
    who: str
    epsilon: int
    delta: int
    body: str
    previous: str
    hash: str

    def computed(self) -> str:
        """The hash that the row must have.

        Raises:
            InputError: if a damaged file gave it something that is neither text nor number.
        """
        content = attrs.astuple(self)[:-1]
        return hashlib.sha256(canonical(content).encode()).hexdigest()


_COLUMNS = ", ".join(field.name for field in attrs.fields(Row))


def sealed(row: Row) -> str | None:
    """The hash of the model file that a seal holds; None if it is damaged."""
    try:
        return str(json.loads(row.body)["model"])
    except (LookupError, TypeError, ValueError):
        return None


def build(base: sqlite3.Connection) -> None:
    """Make the table and the triggers, inside a transaction."""
    for sql in PARTS.values():
        base.execute(sql)
    base.execute(f"PRAGMA application_id = {APPLICATION}")
    base.execute(f"PRAGMA user_version = {VERSION}")


def rows(base: sqlite3.Connection, kind: Kind | None = None, entry: int | None = None) -> Iterator[Row]:
    """The rows in their order: all, or those of a kind, or of a kind and an entry."""
    found = base.execute(
        f"SELECT {_COLUMNS} FROM journal WHERE (?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR entry = ?2) ORDER BY seq",
        (kind, entry),
    )
    return (Row(*values) for values in found)


def head(base: sqlite3.Connection) -> Row | None:
    """The last row."""
    found = base.execute(f"SELECT {_COLUMNS} FROM journal ORDER BY seq DESC LIMIT 1").fetchone()
    return None if found is None else Row(*found)


def spent(base: sqlite3.Connection) -> tuple[int, int, int]:
    """How many spendings there are, and their sums of epsilon and delta in units."""
    many, epsilon, delta = base.execute(
        "SELECT count(*), coalesce(sum(epsilon), 0), coalesce(sum(delta), 0) FROM journal WHERE kind = 'spend'"
    ).fetchone()
    return many, epsilon, delta


def append(
    base: sqlite3.Connection, kind: Kind, entry: int, body: Mapping[str, Any], *, epsilon: int = 0, delta: int = 0
) -> Row:
    """Add a row at the end, inside a transaction."""
    last = head(base)
    at = datetime.now(UTC).isoformat(timespec="seconds")
    place, previous = (1, "") if last is None else (last.seq + 1, last.hash)
    row = Row(place, kind, entry, at, _who(), epsilon, delta, canonical(dict(body)), previous, "")
    row = attrs.evolve(row, hash=row.computed())
    marks = ", ".join("?" * len(attrs.fields(Row)))
    base.execute(f"INSERT INTO journal ({_COLUMNS}) VALUES ({marks})", attrs.astuple(row))
    return row


def _who() -> str:
    """The account that runs this, by name or number."""
    import getpass
    import os

    try:
        name = getpass.getuser()
    except (KeyError, OSError, ImportError):  # no such account, or no accounts
        name = str(os.getuid()) if hasattr(os, "getuid") else "unknown"
    return name.encode("utf-8", "replace").decode()
