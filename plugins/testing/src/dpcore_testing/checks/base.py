"""What a check is: one claim about a component, tried on it, that ends in one line."""

from __future__ import annotations

import contextlib
import random
import re
import warnings
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import attrs
import numpy as np

from dpcore.errors import PluginError
from dpcore.isolation import foreign_code, one_line
from dpcore.registry import Registry, Row
from dpcore_testing.target import short_name

if TYPE_CHECKING:
    from numpy.random import Generator

ALPHA = 1e-6
"""The probability that a statistical check fails a component that does nothing wrong; each check by itself."""
_LONGEST = 400


class Failed(Exception):
    """The claim does not hold; the message says what was seen."""


class Skipped(Exception):
    """The claim says nothing about this component; the message says why."""


@attrs.frozen
class Result:
    """The end of one check on one component.

    Args:
        component, kind, dist: what was checked.
        check: the check's name.
        status: `ok`, `failed` or `skipped`.
        message: what was tried, what is wrong, or why it does not apply; one line.
    """

    component: str
    kind: str
    dist: str
    check: str
    status: str
    message: str

    def to_json(self) -> dict[str, str]:
        """One object of `dpcore check-plugin --json`."""
        return attrs.asdict(self)


@attrs.frozen(eq=False)
class Subject:
    """A component under check.

    Args:
        registry: where it and everything that it is checked with are found.
        row: its line in `dpcore list-plugins`.
        seed: decides every draw that a check makes.
        seconds: how long each audit may search.
        memory: what one check found out and others need too.
    """

    registry: Registry
    row: Row
    seed: int = 0
    seconds: float = 2.0
    memory: dict[Any, Any] = attrs.field(factory=dict, repr=False)

    @property
    def name(self) -> str:
        """As users type it."""
        return short_name(self.row)

    @property
    def factory(self) -> Any:
        """What its factory names; imported on first use."""
        return self.registry.get(self.row.kind, f"{self.row.dist}:{self.row.name}")

    def rng(self, purpose: str) -> Generator:
        """Random numbers for one purpose: the same for the same seed."""
        return np.random.default_rng([self.seed, zlib.crc32(purpose.encode())])


Function = Callable[[Subject], str]


@attrs.frozen
class Check:
    """A claim that components of some kinds must keep.

    Args:
        name: as it is printed.
        kinds: keys of `hookspecs.KINDS`.
        summary: the claim.
        function: tries it; returns what was tried, or raises `Failed` or `Skipped`.
    """

    name: str
    kinds: tuple[str, ...]
    summary: str
    function: Function = attrs.field(repr=False)

    def run(self, subject: Subject) -> Result:
        """The result on one component, whatever the component's code does."""
        status, message = "ok", ""
        try:
            with _undisturbed(), doing(""):
                message = self.function(subject)
        except Failed as error:
            status, message = "failed", str(error) or self.summary
        except Skipped as error:
            status, message = "skipped", str(error)
        message = one_line(message)
        message = message if len(message) <= _LONGEST else message[: _LONGEST - 1] + "…"
        return Result(subject.name, subject.row.kind, subject.row.dist, self.name, status, message)


def check(*kinds: str) -> Callable[[Function], Check]:
    """Make a check of a function: its name and first docstring line say what it claims."""

    def make(function: Function) -> Check:
        summary = (function.__doc__ or "").strip().splitlines()[0]
        return Check(function.__name__.strip("_").replace("_", "-"), kinds, summary, function)

    return make


@contextlib.contextmanager
def doing(what: str) -> Iterator[None]:
    """Run a component's code: anything that it raises is a failed check, in one line that begins with `what`.

    `Failed` and `Skipped` pass as they are.
    """
    try:
        with foreign_code(what):
            yield
    except PluginError as error:
        if isinstance(error.__cause__, (Failed, Skipped)):
            raise error.__cause__ from None
        raise Failed(str(error).removeprefix(": ")) from None


def plural(number: int, noun: str) -> str:
    """`1 plan`, `2 plans`."""
    word = noun if number == 1 else re.sub("([^aeiou])y$", r"\1ie", noun) + "s"
    return f"{number} {word}"


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Warnings are not what is checked; global random states are left as they were found."""
    python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
