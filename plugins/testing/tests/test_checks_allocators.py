"""The check of allocators fails fractions that nobody could spend, and passes ours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import pytest

from dpcore import BudgetAllocator, Nominal, load_plugins, param
from dpcore.allocator import Step
from dpcore.partition import Values
from dpcore.query import Counts
from dpcore_testing import checks
from dpcore_testing.checks.allocators import in_words

REGISTRY = load_plugins()
QUERY = Counts(Values(Nominal("colour", ["red", "green"])))


@pytest.mark.parametrize("name", ["weights", "uniform", "two_to_one", "one_to_two"])
def test_our_allocators_pass_every_check(name: str) -> None:
    results = list(checks.run(checks.subject(REGISTRY, "allocator", name)))
    assert [r for r in results if r.status == "failed"] == []
    assert {r.message for r in results if r.status == "skipped"} <= {"it has no parameters."}
    assert results[-1].check == "gives-fractions"
    assert results[-1].message.endswith(" lists of steps")


class Made(BudgetAllocator):
    notes: ClassVar[str] = "Made for tests."


def equal(steps: Sequence[Step]) -> list[float]:
    return [1 / len(steps) for _ in steps]


class Equal(Made):
    def allocate(self, steps: Sequence[Step]) -> Any:
        return equal(steps)


class Forgets(Made):
    """The last step is left out."""

    def allocate(self, steps: Sequence[Step]) -> Any:
        return equal(steps)[:-1]


class Overspends(Made):
    """The author shares among the steps of a group, and forgets that there are several groups."""

    def allocate(self, steps: Sequence[Step]) -> Any:
        return [1 / sum(s.group == step.group for s in steps) for step in steps]


class OverspendsByAHair(Made):
    def allocate(self, steps: Sequence[Step]) -> Any:
        return [(1 + 1e-8) / len(steps) for _ in steps]


class Overflows(Made):
    """Right, but where a wish is no finite floating-point number."""

    def allocate(self, steps: Sequence[Step]) -> Any:
        total = sum(step.weight * step.times for step in steps)
        return [step.weight * step.times / total for step in steps]


class TakesBack(Made):
    def allocate(self, steps: Sequence[Step]) -> Any:
        found = equal(steps)
        return found if len(found) < 2 else [-found[0], found[0] * 2, *found[2:]]


class NeverTheSame(Made):
    calls: ClassVar[list[int]] = []

    def allocate(self, steps: Sequence[Step]) -> Any:
        self.calls.append(1)
        return [1 / len(steps) / (1 + len(self.calls) % 2) for _ in steps]


class Sorts(Made):
    def allocate(self, steps: Any) -> Any:
        if isinstance(steps, list):
            steps.reverse()
        return equal(steps)


class Starves(Made):
    """Whole hundredths, rounded down: nothing is left for a step among many."""

    def allocate(self, steps: Sequence[Step]) -> Any:
        return [math.floor(100 * f) / 100 for f in equal(steps)]


class CannotDoNothing(Made):
    def allocate(self, steps: Sequence[Step]) -> Any:
        longest = max(s.times for s in steps)
        return [1 / longest / len(steps) for _ in steps]


class Words(Made):
    def allocate(self, steps: Sequence[Step]) -> Any:
        return ["half" for _ in steps]


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (Forgets, "1 step (weight 1 × 1): it gives 0 fractions"),
        (Overspends, "the fractions sum to 2."),
        (OverspendsByAHair, "a fraction is 1.00000001"),
        (Overflows, "a fraction is nan"),
        (TakesBack, "a fraction is -0.5"),
        (NeverTheSame, "asked twice, it gives other fractions"),
        (Sorts, "it changes the list of steps"),
        (Starves, "a step gets nothing, so that no plan can be made"),
        (CannotDoNothing, "0 steps: ValueError"),
        (Words, "ValueError: could not convert string to float"),
    ],
)
def test_fractions_that_cannot_be_spent_fail(fails, cls: type, words: str) -> None:
    assert words in fails("gives-fractions", cls)


def test_a_sound_allocator_passes(judge) -> None:
    assert judge("gives-fractions", Equal).status == "ok"


@attrs.frozen
class OnlyByDefault(Equal):
    """Right at its default, and wrong with its other choice."""

    way: str = param("equal", choices=("equal", "double"), help="how much each gets")

    def allocate(self, steps: Sequence[Step]) -> Any:
        return [f * (2 if self.way == "double" else 1) for f in equal(steps)]


def test_every_choice_of_a_parameter_is_tried(fails) -> None:
    assert "a fraction is 2" in fails("gives-fractions", OnlyByDefault)


def test_a_list_of_steps_in_words_is_short() -> None:
    steps = [Step(f"step {i}", QUERY, weight=i + 0.5, times=i + 1, group="numeric" * (i % 2)) for i in range(5)]
    assert in_words(steps[:1]) == "1 step (weight 0.5 × 1)"
    shown = "weight 0.5 × 1, weight 1.5 × 2 in numeric, weight 2.5 × 3"
    assert in_words(steps) == f"5 steps ({shown} and 2 more)"
    assert in_words([]) == "0 steps"
