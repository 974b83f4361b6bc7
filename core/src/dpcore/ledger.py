"""The contract of a ledger: a data set's budget, kept across processes and days.

A ledger learns public facts only: what was planned, what it costs, and afterwards the hash of the model file. It is
told before any noise exists, so that a crash can waste budget but never release what is not on record.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dpcore.errors import InputError, PluginError
from dpcore.privacy import Adjacency

if TYPE_CHECKING:
    from dpcore.registry import Registry
    from dpcore.schema import Schema

DEFAULT = "sqlite"
"""The ledger that a plain path is opened with."""


def canonical(data: Any) -> str:
    """Plain data as the one JSON text that hashes are taken of.

    Raises:
        InputError: for what JSON cannot hold.
    """
    try:
        return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        raise InputError("a ledger holds plain JSON data only: no infinite number, no object.") from None


def fingerprint(schema: Schema) -> str:
    """The SHA-256 of a schema's canonical JSON."""
    return hashlib.sha256(canonical(schema.to_json()).encode()).hexdigest()


def short_name(data: str) -> str:
    """The name of a data set or file without folders, hosts' passwords or options, for a record that many may read."""
    _, sign, rest = data.partition("://")
    if sign:
        rest = re.split(r"[?#]", rest, maxsplit=1)[0].rpartition("@")[2]
    parts = [part for part in re.split(r"[/\\]", rest if sign else data) if part]
    return parts[-1].encode("utf-8", "replace").decode() if parts else ""


def _adjacency(value: str | Adjacency) -> Adjacency:
    return Adjacency.parse(value)  # mypy takes no bound method for a converter


@attrs.frozen
class Entry:
    """What a ledger is told of one fit: public facts.

    Args:
        learner: its name.
        parameters: its parameters, plain JSON data.
        schema: the schema's `fingerprint`; "" where the schema is itself what is bought.
        epsilon, delta: what the whole fit costs; epsilon is inf where nothing is guaranteed.
        adjacency: for which neighbours.
        accounting: how its releases were added up.
        reproducible: whether the noise came from a seed.
        data: the data set or file as the user named it, of which the `short_name` is kept.

    Raises:
        ValueError: for a negative cost.
        InputError: for parameters that JSON cannot hold.
    """

    learner: str
    parameters: Mapping[str, Any] = attrs.field()
    schema: str
    epsilon: float = attrs.field(converter=float, validator=attrs.validators.ge(0))
    delta: float = attrs.field(converter=float, validator=[attrs.validators.ge(0), attrs.validators.le(1)])
    adjacency: Adjacency = attrs.field(converter=_adjacency)
    accounting: str
    reproducible: bool
    data: str = attrs.field(default="", converter=short_name)

    @parameters.validator
    def _plain(self, attribute: attrs.Attribute[Any], value: Mapping[str, Any]) -> None:
        canonical(dict(value))

    def to_json(self) -> dict[str, Any]:
        """Plain data, from which `from_json` makes the same entry."""
        return {**attrs.asdict(self, recurse=False), "parameters": dict(self.parameters), "adjacency": self.adjacency}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Entry:
        """The entry that `to_json` wrote; keys that it does not know are left out.

        Raises:
            LookupError, TypeError, ValueError: if it is damaged.
        """
        return cls(**{field.name: data[field.name] for field in attrs.fields(cls)})


@attrs.frozen
class Receipt:
    """Where a ledger recorded a fit: the data set's name there, the entry's number, and its hash."""

    dataset: str
    entry: int
    hash: str

    def to_json(self) -> dict[str, Any]:
        """What a model file keeps of it; whoever holds the file can show that the entry was there."""
        return attrs.asdict(self)


class Ledger(ABC):
    """The budget of one data set under one adjacency, shared by every process that opens it.

    A class that the hook `dpcore_ledgers` names is made with one text, what stands behind `NAME://`. Making it opens
    nothing, and it survives pickling, `copy.deepcopy` and `fork`: all copies spend from the same budget.
    """

    @property
    @abstractmethod
    def dataset(self) -> str:
        """The data set's name, as written when the ledger was made.

        Raises:
            InputError: if the ledger is missing or not a ledger.
        """

    @abstractmethod
    def remaining(self) -> tuple[float, float]:
        """(epsilon, delta) left.

        Raises:
            InputError: if the ledger is missing or not a ledger.
        """

    @abstractmethod
    def check(self, *entries: Entry) -> None:
        """Raise what spending all of these one after another would raise now; record nothing.

        Raises:
            InputError: if the ledger is missing, not a ledger, of another version, or cannot be written.
            BudgetError: if it would refuse.
        """

    @abstractmethod
    def spend(self, entry: Entry) -> Receipt:
        """Record a fit and take its whole cost, never to be given back; durable when it returns.

        Raises:
            InputError: as `check`, or if the record cannot be made durable.
            BudgetError: if not enough is left, or the ledger's adjacency cannot hold the fit's guarantee.
        """

    @abstractmethod
    def seal(self, receipt: Receipt, digest: str) -> None:
        """Record the SHA-256 of the model file that a fit is about to leave; once more with the same does nothing.

        Raises:
            InputError: if the ledger does not hold this entry, or it was sealed with another file.
        """

    def owns(self, path: Path) -> bool:
        """Whether a path is one of the ledger's own files, in whose place no model may be written."""
        return False


def open_ledger(where: str | os.PathLike[str] | Ledger, registry: Registry | None = None) -> Ledger:
    """The ledger at a place: a path for the component `sqlite`, `NAME://…` for the component NAME.

    Raises:
        InputError: if it is neither a text, a path nor a ledger.
        PluginError: if no component has this name.
    """
    if isinstance(where, Ledger):
        return where
    text = os.fspath(where) if isinstance(where, (str, os.PathLike)) else None
    if not isinstance(text, str) or not text:
        what = "an empty text" if text == "" else type(where).__name__
        raise InputError(f"a ledger is a path, NAME://… or a Ledger. Got {what} instead.")
    from dpcore.registry import load_plugins

    name, sign, place = text.partition("://")
    name, place = (name, place) if sign else (DEFAULT, text)
    made = (registry or load_plugins()).get("ledger", name)(place)
    if not isinstance(made, Ledger):
        raise PluginError(f"the ledger {name!r} is a {type(made).__name__}, not a dpcore.Ledger.")
    return made
