"""The registry: every component by kind and name, with the state of every plugin.

A short name works while it is unique in its kind. Where two packages give the same name, both stay
reachable as `dist:name`, and the short name is an error that lists both; only the packages of this
repository keep theirs, so that installing something can never change what `laplace` means.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from dpcore.component import Component
from dpcore.discovery import Provided, discover
from dpcore.distributions import Fault, normalise
from dpcore.errors import PluginError
from dpcore.hookspecs import KINDS
from dpcore.isolation import foreign_code, one_line

FIRST_PARTY = frozenset(
    {
        "dpcore",
        "dpcore-budget",
        "dpcore-cart",
        "dpcore-datasets",
        "dpcore-experiments",
        "dpcore-mechanisms",
        "dpcore-naive-bayes",
        "dpcore-privpfc",
        "dpcore-sensitivity",
        "dpcore-svm",
        "dpcore-synthesis",
        "dpcore-tables",
        "dpcore-testing",
    }
)
CORE_VERBS = frozenset({"list-plugins", "describe", "schema", "plan", "fit", "predict", "evaluate"})
"""Verbs of the command line itself, which no plugin's command can take."""


@attrs.frozen
class Row:
    """One line of `dpcore list-plugins`: a component, or a plugin that is broken or disabled.

    Args:
        name: the component's name; the entry point's for a plugin without components.
        kind: a key of `hookspecs.KINDS`, or "" if no hook was reached.
        dist, version: the distribution, by its normalised name.
        status: ok, broken, conflict or disabled.
        summary: the component's sentence.
        detail: the whole reason when `status` is not ok.
    """

    name: str
    kind: str
    dist: str
    version: str
    status: str
    summary: str = ""
    detail: str = ""


def load_plugins(*, disable: str | None = None, path: Sequence[str] | None = None) -> Registry:
    """Discover all plugins; one that is broken becomes a row and stops nothing.

    Args:
        disable: distributions or entry points to leave out; from `DPCORE_DISABLE` if None.
        path: folders to search for distributions instead of `sys.path`.

    Raises:
        PluginError: if `disable` names something that does not exist.
    """
    return Registry(*discover(os.environ.get("DPCORE_DISABLE", "") if disable is None else disable, path))


class Registry:
    """What `load_plugins` found. Factories are imported on first use and kept."""

    def __init__(self, provided: Iterable[Provided], faults: Iterable[Fault]) -> None:
        self._faults = tuple(faults)
        self._by_name: dict[tuple[str, str], list[Provided]] = {}
        for item in provided:
            self._by_name.setdefault((item.kind, item.component.name), []).append(item)
        self._objects: dict[tuple[str, str, str], Any] = {}

    def rows(self) -> list[Row]:
        """One row for each component and each broken or disabled plugin, by kind and name."""
        rows = [
            Row(f.plugin.entry, f.kind, f.plugin.dist, f.plugin.version, f.status, detail=f.reason)
            for f in self._faults
        ]
        for group in self._by_name.values():
            for item in group:
                detail = self._conflict(item, group)
                status = "conflict" if detail else "ok"
                at = item.plugin
                summary = one_line(item.component.summary)
                rows.append(Row(item.component.name, item.kind, at.dist, at.version, status, summary, detail))
        order = [*KINDS, ""]
        return sorted(rows, key=lambda row: (order.index(row.kind), row.name, row.dist))

    def names(self, kind: str) -> list[str]:
        """The names of one kind as users type them: short ones, and `dist:name` where that is needed.

        Raises:
            PluginError: if there is no such kind.
        """
        self._check_kind(kind)
        names: list[str] = []
        for (other, name), group in self._by_name.items():
            if other == kind:
                owner = _owner(group)
                names += [name if item is owner else _full(item) for item in group]
        return sorted(names)

    def component(self, kind: str, name: str) -> Component:
        """The component called `name` or `dist:name`.

        Raises:
            PluginError: if the name is unknown, ambiguous, or its plugin is broken or disabled.
        """
        return self._lookup(kind, name).component

    def get(self, kind: str, name: str) -> Any:
        """The object that the component's factory names, imported on first use.

        Raises:
            PluginError: as `component`, or if the import fails, with its cause.
        """
        item = self._lookup(kind, name)
        key = (kind, item.plugin.dist, item.component.name)
        if key not in self._objects:
            module, _, attribute = item.component.factory.partition(":")
            with foreign_code(f"{kind} {item.component.name!r} of {item.plugin.dist} cannot be loaded"):
                value: Any = importlib.import_module(module)
                for part in attribute.split("."):
                    value = getattr(value, part)
            self._objects[key] = value
        return self._objects[key]

    def find(self, name: str) -> list[tuple[str, Component]]:
        """Every component called `name` or `dist:name`, with its kind.

        Raises:
            PluginError: if there is none, or the short name is ambiguous within a kind.
        """
        dist, short = _split(name)
        found = [
            (kind, self._lookup(kind, name).component)
            for kind in KINDS
            if any(dist in ("", item.plugin.dist) for item in self._by_name.get((kind, short), ()))
        ]
        if not found:
            raise self._unknown("", name)
        return found

    def _check_kind(self, kind: str) -> None:
        if kind not in KINDS:
            raise PluginError(f"there is no kind {kind!r}; the kinds are: {', '.join(KINDS)}.")

    def _lookup(self, kind: str, name: str) -> Provided:
        self._check_kind(kind)
        dist, short = _split(name)
        group = self._by_name.get((kind, short), [])
        if dist:
            group = [item for item in group if item.plugin.dist == dist]
        if not group:
            raise self._unknown(kind, name)
        owner = group[0] if dist else _owner(group)
        if owner is None:
            raise PluginError(
                f"the {kind} {short!r} has no short name; say which: {', '.join(sorted(map(_full, group)))}."
            )
        return owner

    def _conflict(self, item: Provided, group: list[Provided]) -> str:
        owner = _owner(group)
        if item is owner:
            return ""
        if owner is not None or _reserved(item):
            holder = "dpcore" if owner is None else owner.plugin.dist
            return f"the short name belongs to {holder}; reachable as {_full(item)}"
        others = ", ".join(sorted(_full(other) for other in group if other is not item))
        return f"the short name is taken twice; reachable as {_full(item)} beside {others}"

    def _unknown(self, kind: str, name: str) -> PluginError:
        import difflib

        dist, short = _split(name)
        for fault in self._faults:
            same_plugin = dist in ("", fault.plugin.dist) and normalise(fault.plugin.entry) == normalise(short)
            if fault.kind in ("", kind) and (same_plugin or dist == fault.plugin.dist):
                return PluginError(
                    f"the plugin {fault.plugin.entry!r} of {fault.plugin.dist} is {fault.status}"
                    + ("." if fault.status == "disabled" else f": {fault.reason}.")
                )
        names = self.names(kind) if kind else sorted({n for k in KINDS for n in self.names(k)})
        if kind == "command":
            names = sorted({*names, *CORE_VERBS})
        near = difflib.get_close_matches(name, names, n=3)
        if dist:
            near = near or [n for n in names if _split(n)[1] == short]
        if near:
            parts = [f"nearest: {', '.join(near)}"]
        else:
            parts = [f"there are: {', '.join(names)}" if names else "none is installed"]
        for status in ("disabled", "broken"):
            dists = sorted({f.plugin.dist for f in self._faults if f.status == status and f.kind in ("", kind)})
            if dists:
                parts.append(f"{status}: {', '.join(dists)}")
        return PluginError(f"no {kind or 'component'} is called {name!r}; {'; '.join(parts)}.")


def _split(name: str) -> tuple[str, str]:
    dist, _, short = name.rpartition(":")
    return normalise(dist), short


def _full(item: Provided) -> str:
    return f"{item.plugin.dist}:{item.component.name}"


def _reserved(item: Provided) -> bool:
    return item.kind == "command" and item.component.name in CORE_VERBS


def _owner(group: list[Provided]) -> Provided | None:
    """Who may be called by the short name: the only one, or the only one of this repository."""
    if _reserved(group[0]):
        return None
    ours = [item for item in group if item.plugin.dist in FIRST_PARTY]
    candidates = ours or group
    return candidates[0] if len(candidates) == 1 else None
