"""The checks of `dpcore check-plugin`: what a component of each kind must keep, tried on it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from types import ModuleType

from dpcore.registry import Registry, Row
from dpcore_testing.checks import audits, common, ranges
from dpcore_testing.checks.classifiers import estimator, models, plans, releases
from dpcore_testing.checks.mechanisms import calibration, draws, hygiene, loss
from dpcore_testing.checks.base import Check, Failed, Result, Skipped, Subject
from dpcore_testing.target import Located, short_name

__all__ = ["CHECKS", "Check", "Failed", "Result", "Skipped", "Subject", "checks_of", "run", "run_all", "subject"]

_MODULES: tuple[ModuleType, ...] = (
    common,
    ranges,
    plans,
    releases,
    models,
    estimator,
    calibration,
    loss,
    draws,
    hygiene,
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


def subject(registry: Registry, kind: str, name: str, *, seed: int = 0, seconds: float = 3.0) -> Subject:
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


def run(component: Subject, only: Collection[str] = ()) -> Iterator[Result]:
    """The results on one component, one a check; where it does not load, the others are skipped.

    Args:
        only: names of checks; all of them if empty.
    """
    first, *others = checks_of(component.row.kind)
    loaded = first.run(component)
    if not only or first.name in only or loaded.status == "failed":
        yield loaded
    for found in others:
        if only and found.name not in only:
            continue
        if loaded.status == "failed":
            skipped = Skipped("it does not load.")
            yield Result(component.name, component.row.kind, component.row.dist, found.name, "skipped", str(skipped))
        else:
            yield found.run(component)


def broken(fault: Row) -> Result:
    """A plugin that discovery calls broken, as a failed check with the whole reason."""
    return Result(fault.name, fault.kind, fault.dist, DISCOVERY, "failed", fault.detail)


def run_all(found: Located, *, only: Collection[str] = (), seed: int = 0, seconds: float = 3.0) -> Iterator[Result]:
    """The results on everything that was located: first what is broken, then component by component."""
    yield from map(broken, found.faults)
    for kind, name in found.components:
        yield from run(subject(found.registry, kind, name, seed=seed, seconds=seconds), only)
