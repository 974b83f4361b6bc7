"""The checks as a plugin author's own tests, and as a function: `dpcore.testing`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import attrs

from dpcore_testing.checks import DISCOVERY, Result, Subject, broken, checks_of, known, run_all, run_one, subject
from dpcore_testing.target import is_installed, located

if TYPE_CHECKING:
    from dpcore.registry import Row

_SECONDS = 2.0


@attrs.frozen
class Component:
    """One component under test, as the test function gets it; `str` of it is short enough for a test's name."""

    what: str
    kind: str
    name: str

    def __str__(self) -> str:
        return self.name


@attrs.frozen
class BoundCheck:
    """One check, to be called with the component that it is parametrised with."""

    name: str
    seed: int = 0
    seconds: float = _SECONDS

    def __str__(self) -> str:
        return self.name

    def __call__(self, component: Component) -> None:
        """Run the check.

        Raises:
            AssertionError: if it fails, with its one line.
        """
        import pytest

        result = self.result(component)
        if result.status == "skipped":
            pytest.skip(result.message)
        assert result.status == "ok", result.message

    def result(self, component: Component) -> Result:
        """The check's result; a project that is not installed is put on the path while it runs."""
        if self.name != DISCOVERY and is_installed(component.what):
            return run_one(_subject(component, self.seed, self.seconds, tuple(sys.path)), self.name)
        with located(component.what) as found:
            if self.name == DISCOVERY:
                return broken(next(fault for fault in found.faults if fault.name == component.name))
            at = subject(found.registry, component.kind, component.name, seed=self.seed, seconds=self.seconds)
            return run_one(at, self.name)


@lru_cache(maxsize=4)
def _subject(component: Component, seed: int, seconds: float, path: tuple[str, ...]) -> Subject:
    """A component that stays installed, so that the checks of it share what they find out."""
    with located(component.what) as found:
        return subject(found.registry, component.kind, component.name, seed=seed, seconds=seconds)


def parametrize_with_checks(
    *what: str,
    only: Collection[str] = (),
    skip: Collection[str] = (),
    seed: int = 0,
    seconds: float = _SECONDS,
) -> Callable[[Any], Any]:
    """A pytest decorator that makes a test of every check, in scikit-learn's manner.

    ::

        @dpcore.testing.parametrize_with_checks("my_mechanism")
        def test_it_keeps_every_promise(component, check):
            check(component)

    Args:
        what: names, distributions or folders of projects, as for `dpcore check-plugin`.
        only, skip: names of checks to run, or to leave out.
        seed: decides every draw.
        seconds: how long an audit may search.

    Raises:
        InputError, PluginError: if there is no such thing, or no such check.
    """
    import pytest

    known((*only, *skip))
    cases = [
        (component, BoundCheck(name, seed, seconds))
        for one in what
        for component, name in _cases(one)
        if name not in skip and (not only or name in only or name == DISCOVERY)
    ]
    ids = [f"{component}-{check}" for component, check in cases]
    decorate: Callable[[Any], Any] = pytest.mark.parametrize(("component", "check"), cases, ids=ids)
    return decorate


def _cases(what: str) -> Iterator[tuple[Component, str]]:
    with located(what) as found:
        faults: list[Row] = found.faults
        for fault in faults:
            yield Component(what, fault.kind, fault.name), DISCOVERY
        for kind, name in found.components:
            for each in checks_of(kind):
                yield Component(what, kind, name), each.name


def check(what: str, *, only: Collection[str] = (), seed: int = 0, seconds: float = _SECONDS) -> list[Result]:
    """The results of all checks on a component, a distribution or a project's folder.

    Args:
        what, only, seed, seconds: as for `parametrize_with_checks`.

    Raises:
        InputError, PluginError: if there is no such thing, or no such check.
    """
    known(only)
    with located(what) as found:
        return list(run_all(found, only=only, seed=seed, seconds=seconds))
