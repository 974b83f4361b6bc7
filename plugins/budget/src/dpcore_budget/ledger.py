"""`SqliteLedger`: a data set's budget in one file, which nothing is ever taken out of."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import attrs

from dpcore.errors import BudgetError, InputError
from dpcore.ledger import Entry, Ledger, Receipt
from dpcore.privacy import Adjacency, check_budget
from dpcore_budget import journal
from dpcore_budget.charge import ATTO, NANO, charge, down, exact, number, words
from dpcore_budget.storage import ENDINGS, creating, reading, writing

_MOST = 10**9
"""The largest epsilon of a ledger: nano-epsilons of it fit into SQLite's whole numbers many times."""


@attrs.frozen
class Terms:
    """What a ledger was opened for: the data set, its budget in units, and the adjacency."""

    dataset: str
    adjacency: Adjacency
    epsilon: int
    delta: int


class SqliteLedger(Ledger):
    """A ledger in an SQLite file: durable, shared by any number of processes, append-only.

    It is kept for one data set and one adjacency. Costs are added up by basic composition. An add-remove ledger
    refuses a fit under replace-one adjacency; a replace-one ledger charges a fit under add-remove adjacency as
    `charge` says. The file must stand on a local disk: SQLite's locks do not work on most network file systems.

    Args:
        path: the file, made by `create`. Nothing is opened yet.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._name = os.fspath(path)
        self._file = Path(path).absolute()

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        dataset: str,
        epsilon: float,
        delta: float = 0.0,
        adjacency: str | Adjacency = Adjacency.ADD_REMOVE,
    ) -> SqliteLedger:
        """A new ledger.

        Args:
            path: where no file is.
            dataset: the name of the data set that it protects.
            epsilon, delta: the budget of all fits together; kept in whole nano-epsilons and units of 1e-18, rounded
                down.
            adjacency: for which neighbours.

        Raises:
            InputError: for a wrong argument, a file that is there already, or a place that cannot be written.
        """
        epsilon, delta = check_budget(epsilon, delta)
        adjacency = Adjacency.parse(adjacency)
        units = down(exact(epsilon), NANO), down(exact(delta), ATTO)
        if not units[0] or epsilon > _MOST:
            raise InputError(f"the epsilon of a ledger lies between 1e-9 and {_MOST:g}. Got {epsilon!r}.")
        if delta and not units[1]:
            raise InputError(f"the delta of a ledger is 0 or at least 1e-18. Got {delta!r}.")
        if not dataset.strip() or not dataset.isprintable():
            raise InputError(f"the name of a ledger's data set must be printable text. Got {dataset!r}.")
        # the mark makes any two ledgers differ from their first hash on
        body = {"dataset": dataset, "adjacency": str(adjacency), "mark": secrets.token_hex(8)}
        ledger = cls(path)
        with creating(ledger._file, ledger._name) as base:
            journal.append(base, "open", 0, body, epsilon=units[0], delta=units[1])
        return ledger

    @property
    def dataset(self) -> str:
        return self.terms().dataset

    def terms(self) -> Terms:
        """What it was opened for.

        Raises:
            InputError: if it is missing, not a ledger, or damaged.
        """
        with reading(self._file, self._name) as base:
            return self._terms(base)

    def remaining(self) -> tuple[float, float]:
        with reading(self._file, self._name) as base:
            left = self._left(base, self._terms(base))
        return number(left[0], NANO), number(left[1], ATTO)

    def rows(self) -> list[journal.Row]:
        """All rows of the journal, as they stand in the file: `dpcore ledger verify` tells whether they are sound.

        Raises:
            InputError: if it is missing, not a ledger, or damaged.
        """
        with reading(self._file, self._name) as base:
            return list(journal.rows(base))

    def check(self, *entries: Entry) -> None:
        with writing(self._file, self._name) as base:
            self._price(base, self._terms(base), entries)

    def spend(self, entry: Entry) -> Receipt:
        with writing(self._file, self._name) as base:
            terms = self._terms(base)
            ((epsilon, delta),) = self._price(base, terms, [entry])
            place = journal.spent(base)[0] + 1
            row = journal.append(base, "spend", place, entry.to_json(), epsilon=epsilon, delta=delta)
        return Receipt(terms.dataset, place, row.hash)

    def seal(self, receipt: Receipt, digest: str) -> None:
        with writing(self._file, self._name) as base:
            if receipt.hash not in [row.hash for row in journal.rows(base, "spend", receipt.entry)]:
                raise InputError(
                    f"the ledger {self._name!r} does not hold entry {receipt.entry} as it was recorded; it was "
                    "replaced or cut. No model was written."
                )
            sealed = [journal.sealed(row) for row in journal.rows(base, "seal", receipt.entry)]
            if sealed and digest not in sealed:
                raise InputError(
                    f"entry {receipt.entry} of the ledger {self._name!r} was sealed with another model file."
                )
            if not sealed:
                journal.append(base, "seal", receipt.entry, {"model": digest})

    def owns(self, path: Path) -> bool:
        file = self._file.resolve()
        return path.resolve() in [file.with_name(file.name + ending) for ending in ENDINGS]

    def _terms(self, base: sqlite3.Connection) -> Terms:
        try:
            (row,) = journal.rows(base, "open")
            body: dict[str, Any] = json.loads(row.body)
            return Terms(str(body["dataset"]), Adjacency(body["adjacency"]), int(row.epsilon), int(row.delta))
        except (LookupError, TypeError, ValueError):
            raise InputError(f"the ledger {self._name!r} is damaged: its first row does not hold its terms.") from None

    def _left(self, base: sqlite3.Connection, terms: Terms) -> tuple[int, int]:
        _, epsilon, delta = journal.spent(base)
        return terms.epsilon - epsilon, terms.delta - delta

    def _price(self, base: sqlite3.Connection, terms: Terms, entries: Sequence[Entry]) -> list[tuple[int, int]]:
        """What each entry is charged, in units.

        Raises:
            BudgetError: if that is more than is left.
        """
        charges = [charge(entry, terms.adjacency) for entry in entries]
        costs = sum(epsilon for epsilon, _ in charges), sum(delta for _, delta in charges)
        left = self._left(base, terms)
        if costs[0] > left[0] or costs[1] > left[1]:
            twice = any(entry.adjacency is not terms.adjacency for entry in entries)
            why = " (its add-remove guarantee counts twice under replace-one)" if twice else ""
            raise BudgetError(
                f"the ledger {self._name!r} refuses: this fit costs {words(*costs)}{why}, and {words(*left)} are left."
            )
        return charges

    def __repr__(self) -> str:
        return f"SqliteLedger({self._name!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SqliteLedger) and other._file == self._file

    def __hash__(self) -> int:
        return hash(self._file)
