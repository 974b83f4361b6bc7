"""Options that several verbs share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click

from dpcore.cli.output import warn
from dpcore.errors import InputError, ParameterError

if TYPE_CHECKING:
    from dpcore.allocator import BudgetAllocator
    from dpcore.planned import Plan
    from dpcore.registry import Registry
    from dpcore.schema import Schema

F = TypeVar("F", bound=Callable[..., Any])
_HOPELESS = 1e6
"""Noise of more rows than this: few tables have a signal that it does not drown."""

_PLANNING = (
    click.option("--delta", default="0", show_default=True, help="delta of (epsilon, delta); 0 for pure epsilon."),
    click.option("--adjacency", default="add-remove", show_default=True, help="Neighbours: add-remove or replace-one."),
    click.option("--allocator", default="weights", show_default=True, help="How the budget is split."),
    click.option(
        "--weight", "weights", multiple=True, metavar="STEP=W", help="Weight of a step or group, for `weights`."
    ),
    click.option("--mechanism", help="Use this mechanism in every step it fits."),
    click.option("--sensitivity", help="Use this sensitivity rule in every step it fits."),
    click.option("--accounting", default="auto", show_default=True, help="auto, pure, zcdp, gdp or pld."),
    click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter of the classifier."),
)


def planning(command: F) -> F:
    """Add the options that decide a plan."""
    for option in reversed(_PLANNING):
        command = option(command)
    return command


def number(name: str, text: str) -> float:
    """A number from an option.

    Raises:
        InputError: if it is not one.
    """
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{name} must be a number. Got {text!r}.") from None


def pairs(option: str, texts: Iterable[str]) -> dict[str, str]:
    """KEY=VALUE texts as a mapping.

    Raises:
        InputError: for a text without '=', or a key that stands twice.
    """
    found: dict[str, str] = {}
    for text in texts:
        key, sign, value = text.partition("=")
        if not sign or not key:
            raise InputError(f"{option} takes KEY=VALUE. Got {text!r}.")
        if key in found:
            raise InputError(f"{option} {key} is given twice.")
        found[key] = value
    return found


def plan_from(registry: Registry, name: str, schema: Schema, epsilon: float, options: Mapping[str, Any]) -> Plan:
    """The plan that the options of `planning` describe."""
    from dpcore.parameters import parse
    from dpcore.planning import make_plan

    learner = registry.get("classifier", name)
    return make_plan(
        name,
        schema,
        epsilon=epsilon,
        delta=number("--delta", options["delta"]),
        adjacency=options["adjacency"],
        allocator=_allocator(registry, options["allocator"], options["weights"]),
        mechanism=options["mechanism"],
        sensitivity=options["sensitivity"],
        accounting=options["accounting"],
        parameters=parse(learner, pairs("--set", options["settings"])),
        registry=registry,
    )


def _allocator(registry: Registry, name: str, weights: Iterable[str]) -> str | BudgetAllocator:
    given = pairs("--weight", weights)
    if not given:
        return name
    from dpcore.parameters import build, parameters

    kind = registry.get("allocator", name)
    if "weights" not in [p.name for p in parameters(kind)]:
        raise ParameterError(f"--weight is for an allocator with weights; {name!r} has none.")
    made: BudgetAllocator = build(kind, {"weights": {key: number("--weight", w) for key, w in given.items()}})
    return made


def warn_if_weak(plan: Plan) -> None:
    """Warn if even the least noisy answer of a plan is noisier than a million rows: from public facts alone."""
    found = []
    for planned in plan.steps:
        error, moves = planned.calibration.expected_error, planned.bound.value
        if error is None or not isinstance(moves, (int, float)) or moves <= 0:
            return
        if planned.step.query.kind == "counts":
            found.append((error, "count", "rows"))
        else:
            found.append((error / moves, "answer", "times what one row can move it"))
    size, one, unit = min(found, default=(0.0, "", ""))
    if size > _HOPELESS:
        warn(
            f"epsilon = {plan.task.epsilon:g} is too small: the noise of one {one} is about {size:.2g} {unit}; "
            "no signal is likely to survive."
        )
