"""Checks of budget allocators: on hostile lists of steps, fractions that can be spent."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import attrs
from hypothesis import HealthCheck, Phase, given
from hypothesis import seed as seeded
from hypothesis import settings as how
from hypothesis import strategies as st

from dpcore.allocator import BudgetAllocator, Step
from dpcore.partition import Values
from dpcore.privacy import Pure
from dpcore.query import Counts
from dpcore.schema import Nominal
from dpcore_testing.checks.base import Failed, Subject, check, doing, plural
from dpcore_testing.checks.common import settings

_QUERY = Counts(Values(Nominal("colour", ["red", "green"])))
_EXAMPLES = 150
_GROUPS = ("", "nominal", "numeric", "class", "level 3", "épais")
_MANY = [Step(f"step {i}", _QUERY, weight=1 + i % 7, group=_GROUPS[i % 3]) for i in range(3000)]
_PUBLISHED = [Step("a", _QUERY, cost=Pure(math.inf), claimed=Pure(0.1)), Step("b", _QUERY, cost=Pure(0.0))]


def _step(weights: st.SearchStrategy[float], times: st.SearchStrategy[int]) -> st.SearchStrategy[Step]:
    costs = st.none() | st.sampled_from([Pure(0.0), Pure(1.0), Pure(math.inf)])
    groups = st.sampled_from(_GROUPS)
    return st.builds(Step, st.just("step"), st.just(_QUERY), weight=weights, times=times, group=groups, cost=costs)


def _steps(step: st.SearchStrategy[Step]) -> st.SearchStrategy[list[Step]]:
    named = st.lists(step, min_size=1, max_size=40)
    return named.map(lambda found: [attrs.evolve(s, name=f"step {i}") for i, s in enumerate(found)])


HOSTILE = _steps(
    _step(
        st.sampled_from([1.0, 1.0, 1e-300, 1e300]) | st.floats(5e-324, 1.7e308),
        st.sampled_from([1, 2, 10**9]) | st.integers(1, 100),
    )
)
"""Equal weights, weights at both ends of floating point, steps that are asked a billion times, any groups or none."""
USUAL = _steps(_step(st.floats(0.01, 100), st.integers(1, 100)))


@check("allocator")
def gives_fractions(subject: Subject) -> str:
    """One fraction a step, finite, not negative, summing to at most 1, whatever the steps are; the same each time."""
    tried = 0
    for chosen in settings(subject.factory):
        with doing(f"made with {chosen or 'no parameters'}"):
            made = subject.factory(**chosen)
        for words, some, usual in (("hostile", HOSTILE, False), ("usual", USUAL, True)):
            with doing(f"given {words} steps"):
                tried += _try(made, some, subject.seed, usual=usual)
        with doing("given no steps"):
            _allocated(made, [])
    return f"{plural(tried, 'list')} of steps"


def _try(made: BudgetAllocator, some: st.SearchStrategy[list[Step]], first: int, *, usual: bool) -> int:
    """Many lists, the simplest that fails reported."""
    count = 0

    @seeded(first)
    @how(
        max_examples=_EXAMPLES,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(some)
    def attempt(steps: list[Step]) -> None:
        nonlocal count
        count += 1
        _check_fractions(made, steps, usual=usual)

    attempt()
    for steps in (_PUBLISHED, _MANY):  # last: a fault that a few steps show is shown by a few
        count += 1
        _check_fractions(made, list(steps), usual=usual)
    return count


def _allocated(made: BudgetAllocator, steps: Sequence[Step]) -> list[float]:
    with doing(in_words(steps)):
        given_out: Any = made.allocate(steps)
        fractions = [float(f) for f in given_out]
    if len(fractions) != len(steps):
        raise Failed(f"{in_words(steps)}: it gives {plural(len(fractions), 'fraction')}.")
    return fractions


def _check_fractions(made: BudgetAllocator, steps: list[Step], *, usual: bool) -> None:
    before, words = list(steps), in_words(steps)
    fractions = _allocated(made, steps)
    if len(steps) != len(before) or any(one is not other for one, other in zip(steps, before, strict=True)):
        raise Failed(f"{words}: it changes the list of steps.")
    if not all(math.isfinite(f) and 0 <= f <= 1 + 1e-9 for f in fractions):
        raise Failed(f"{words}: a fraction is {next(f for f in fractions if not 0 <= f <= 1 + 1e-9)}.")
    if math.fsum(fractions) > 1 + 1e-9:
        raise Failed(f"{words}: the fractions sum to {math.fsum(fractions):.12g}.")
    if _allocated(made, tuple(steps)) != fractions:
        raise Failed(f"{words}: asked twice, it gives other fractions.")
    if usual and any(f == 0 and s.cost is None for f, s in zip(fractions, steps, strict=True)):
        raise Failed(f"{words}: a step gets nothing, so that no plan can be made.")


def in_words(steps: Sequence[Step]) -> str:
    """A list of steps for people."""
    shown = ", ".join(f"weight {s.weight:g} × {s.times}{' in ' + s.group if s.group else ''}" for s in steps[:3])
    more = f" and {len(steps) - 3} more" if len(steps) > 3 else ""
    return f"{plural(len(steps), 'step')}" + (f" ({shown}{more})" if steps else "")
