"""Parameters: accepted at the ends of their ranges, refused just outside, in words that name what would be right."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from dpcore.errors import DpcoreError, InputError, ParameterError
from dpcore.parameters import Param, parameters, parse
from dpcore.planning import make_plan
from dpcore_testing.checks.base import Failed, Skipped, Subject, check, doing, plural
from dpcore_testing.pairs import schemas

_CONFIGURED = ("mechanism", "sensitivity", "classifier", "allocator")


_MISTYPED: dict[str, tuple[Any, ...]] = {
    "int": (0.5, "1"),
    "float": ("1", math.nan),
    "bool": (1, "yes"),
    "str": (0,),
    "dict": ("a=1",),
}


def inside(described: Param) -> Iterator[Any]:
    """The default, and values at the ends of what is allowed."""
    yield described.default
    if described.choices is not None:
        yield from described.choices
    elif described.type == "bool":
        yield from (False, True)
    elif described.type in ("int", "float"):
        yield from (v for v in _ends(described) if described.accepts(v))


def outside(described: Param) -> Iterator[Any]:
    """Values of a wrong type, and values just past the ends of what is allowed."""
    wrong: list[Any] = [object(), [1], *_MISTYPED.get(described.type, ())]
    wrong += [None, *(_ends(described) if described.type in ("int", "float") else [])]
    if described.choices is not None and described.type == "str":
        wrong += [f"{described.choices[0]}_", ""]
    yield from (v for v in wrong if not described.accepts(v))


def _ends(described: Param) -> list[float]:
    """Numbers at, just under and just over each end."""
    found: list[float] = []
    for end in (described.low, described.high):
        if end is None:
            continue
        if described.type == "int":
            found += [math.floor(end) - 1, math.floor(end), math.ceil(end), math.ceil(end) + 1]
        else:
            found += [math.nextafter(end, -math.inf), float(end), math.nextafter(end, math.inf)]
    return found


@check(*_CONFIGURED)
def parameters_in_range(subject: Subject) -> str:
    """Every parameter is accepted at the ends of its range, also as text, and refused just outside."""
    cls = subject.factory
    known = parameters(cls)
    if not known:
        raise Skipped("it has no parameters.")
    accepted, refused = 0, 0
    for p in known:
        for value in inside(p):
            with doing(f"{p.name} = {value!r:.60}, which its range allows"):
                made = cls(**{p.name: value})
                _round_trip(cls, p, value)
            if getattr(made, p.name) != value:
                raise Failed(f"{p.name} = {value!r} becomes {getattr(made, p.name)!r}.")
            _plans(subject, {p.name: value})
            accepted += 1
        for value in outside(p):
            _refused(cls, p, value)
            refused += 1
    return f"{plural(accepted, 'value')} accepted, {refused} refused"


def _round_trip(cls: type, described: Param, value: Any) -> None:
    """`--set key=value` must give the value that Python's name for it does."""
    text = value if isinstance(value, str) else json.dumps(value)
    if parse(cls, {described.name: text})[described.name] != value:
        raise Failed(f"--set {described.name}={text} does not give {value!r}.")


def _refused(cls: type, described: Param, value: Any) -> None:
    shown = f"{described.name} = {value!r:.60}"
    try:
        with doing(shown):
            try:
                cls(**{described.name: value})
            except ParameterError as error:
                message = str(error)
            else:
                raise Failed(f"{shown} is accepted, though it must be {described.allowed()}.")
    except Failed as error:
        raise Failed(f"{error} A ParameterError must refuse it.") from None
    if described.name not in message or "must be" not in message:
        raise Failed(f"{shown} is refused without saying what {described.name} must be: {message}")


def _plans(subject: Subject, values: dict[str, Any]) -> None:
    """A learner with an allowed value plans, or says in dpcore's words why not."""
    if subject.row.kind != "classifier":
        return
    (name, value), schema = next(iter(values.items())), schemas()["mixed"]
    with doing(f"planned with {name} = {value!r:.60}"):
        try:
            make_plan(subject.name, schema, epsilon=1.0, parameters=values, registry=subject.registry)
        except InputError:  # a schema or a combination that it says it cannot work with
            pass
        except DpcoreError as error:
            raise Failed(str(error)) from None
