"""What `dpcore ledger show` prints: a ledger's terms, what is left, and its entries, as plain data."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from dpcore.errors import InputError
from dpcore_budget.charge import ATTO, NANO, number
from dpcore_budget.journal import Row, sealed
from dpcore_budget.ledger import SqliteLedger


def statement(path: str | Path) -> dict[str, Any]:
    """A ledger as plain data: the shape of `dpcore ledger show --json`.

    `epsilon` and `delta` of an entry are what was charged; `guarantee` is what the fit promises, which is less where
    the ledger's adjacency makes it count more.

    Raises:
        InputError: if it is missing, not a ledger, or damaged.
    """
    ledger = SqliteLedger(path)
    terms, rows = ledger.terms(), ledger.rows()
    try:
        models = {row.entry: sealed(row) for row in rows if row.kind == "seal"}
        entries = [_entry(row, models.get(row.entry)) for row in rows if row.kind == "spend"]
        spent = sum(r.epsilon for r in rows if r.kind == "spend"), sum(r.delta for r in rows if r.kind == "spend")
    except (LookupError, TypeError, ValueError):
        raise InputError(f"the ledger {str(path)!r} is damaged; `dpcore ledger verify` says where.") from None
    return {
        "dataset": terms.dataset,
        "adjacency": str(terms.adjacency),
        "budget": _amount(terms.epsilon, terms.delta),
        "spent": _amount(*spent),
        "left": _amount(terms.epsilon - spent[0], terms.delta - spent[1]),
        "entries": entries,
        "head": rows[-1].hash,
    }


def _entry(row: Row, model: str | None) -> dict[str, Any]:
    body = json.loads(row.body)
    return {
        "entry": row.entry,
        "when": row.at,
        "who": row.who,
        **_amount(row.epsilon, row.delta),
        "data": body["data"],
        "learner": body["learner"],
        "parameters": dict(body["parameters"]),
        "schema": body["schema"],
        "guarantee": {name: body[name] for name in ("epsilon", "delta", "adjacency", "accounting", "reproducible")},
        "model": model,
        "hash": row.hash,
    }


def _amount(epsilon: int, delta: int) -> dict[str, float]:
    return {"epsilon": number(epsilon, NANO), "delta": number(delta, ATTO)}
