"""The checks of `dpcore check-plugin`: what a component of each kind must keep, tried on it."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterator
from types import ModuleType

from dpcore.errors import InputError
from dpcore.registry import Registry, Row
from dpcore_testing.checks import allocators, audits, common, others, ranges
from dpcore_testing.checks.base import Check, Failed, Result, Skipped, Subject
from dpcore_testing.checks.classifiers import estimator, models, plans, releases
from dpcore_testing.checks.mechanisms import bits, calibration, draws, hygiene, independence, loss
from dpcore_testing.checks.rules import bounds
from dpcore_testing.target import Located, short_name

__all__ = [
    "CHECKS",
    "DISCOVERY",
    "Check",
    "Failed",
    "Result",
    "Skipped",
    "Subject",
    "broken",
    "checks_of",
    "count",
    "known",
    "run",
    "run_all",
    "run_one",
    "subject",
]

_MODULES: tuple[ModuleType, ...] = (
    *(common, ranges),
    *(plans, releases, models, estimator),
    *(calibration, loss, draws, independence, hygiene, bits),
    *(bounds, allocators, others),
    audits,
)


def _in(module: ModuleType) -> Iterator[Check]:
    return (value for value in vars(module).values() if isinstance(value, Check))


CHECKS: tuple[Check, ...] = tuple(found for module in _MODULES for found in _in(module))
"""Every check, in the order in which they run."""
DISCOVERY = "discovery"
"""What a plugin that discovery calls broken fails."""


def checks_of(kind: str) -> list[Check]:
    """The checks that components of one kind must pass, in order; the first is whether they load."""
    return [found for found in CHECKS if kind in found.kinds]


def subject(registry: Registry, kind: str, name: str, *, seed: int = 0, seconds: float = 2.0) -> Subject:
    """A component as the checks take it.

    Args:
        registry, kind, name: from `target.located`.
        seed: decides every draw.
        seconds: how long each audit may search.
    """
    dist, _, short = name.rpartition(":")
    rows = [r for r in registry.rows() if (r.kind, r.name) == (kind, short) and r.status in ("ok", "conflict")]
    (row,) = [r for r in rows if (r.dist == dist if dist else short_name(r) == name)]
    return Subject(registry, row, seed, seconds)


def known(names: Collection[str]) -> None:
    """Raise `InputError` unless all of these are names of checks."""
    every = [found.name for found in CHECKS]
    for name in names:
        if name not in every:
            near = difflib.get_close_matches(name, every, n=3, cutoff=0.4) or every
            raise InputError(
                f"there is no check {name!r}; {'nearest' if near is not every else 'there are'}: {', '.join(near)}."
            )


def run_one(component: Subject, name: str) -> Result:
    """The result of one check by its name; `skipped` where the component does not even load."""
    first, *_ = of_kind = checks_of(component.row.kind)
    (wanted,) = [found for found in of_kind if found.name == name]
    if wanted is first or first.run(component).status == "ok":
        return wanted.run(component)
    return Result(component.name, component.row.kind, component.row.dist, name, "skipped", "it does not load.")


def run(component: Subject, only: Collection[str] = ()) -> Iterator[Result]:
    """The results on one component, one a check.

    Args:
        only: names of checks; all of them if empty.
    """
    return (run_one(component, found.name) for found in checks_of(component.row.kind) if not only or found.name in only)


def broken(fault: Row) -> Result:
    """A plugin that discovery calls broken, as a failed check with the whole reason."""
    return Result(fault.name, fault.kind, fault.dist, DISCOVERY, "failed", fault.detail)


def count(found: Located, only: Collection[str] = ()) -> int:
    """How many results `run_all` gives."""
    wanted = [c for kind, _ in found.components for c in checks_of(kind) if not only or c.name in only]
    return len(found.faults) + len(wanted)


def run_all(found: Located, *, only: Collection[str] = (), seed: int = 0, seconds: float = 2.0) -> Iterator[Result]:
    """The results on everything that was located: first what is broken, then component by component."""
    yield from map(broken, found.faults)
    for kind, name in found.components:
        yield from run(subject(found.registry, kind, name, seed=seed, seconds=seconds), only)
