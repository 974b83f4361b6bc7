"""Allocators give every step a fraction ≥ 0, all of them at most the whole, in the stated proportions."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.allocator import Step
from dpcore.errors import ParameterError
from dpcore.partition import Values
from dpcore.query import Counts
from dpcore.schema import Nominal
from dpcore_budget.allocators import OneToTwo, TwoToOne, Uniform, Weights

QUERY = Counts(Values(Nominal("class", ("a", "b"))))
ALL = [Weights(), Uniform(), TwoToOne(), OneToTwo()]
GROUPS = ["numeric", "nominal", "class", ""]


def step(name: str, group: str = "", weight: float = 1.0, times: int = 1) -> Step:
    return Step(name, QUERY, group=group, weight=weight, times=times)


weights = st.one_of(
    st.floats(min_value=5e-324, max_value=1.7976931348623157e308),
    st.sampled_from([5e-324, 1e-300, 1.0, 1e300, 1.7976931348623157e308]),
)
plans = st.lists(st.tuples(st.sampled_from(GROUPS), weights, st.integers(1, 10**9)), min_size=1, max_size=60).map(
    lambda rows: [step(f"s{i}", *row) for i, row in enumerate(rows)]
)


@pytest.mark.parametrize("allocator", ALL)
@given(steps=plans)
def test_fractions_are_not_negative_and_sum_to_at_most_the_whole(allocator: Any, steps: list[Step]) -> None:
    shares = allocator.allocate(steps)
    assert len(shares) == len(steps)
    assert all(math.isfinite(f) and f >= 0 for f in shares)
    assert math.fsum(shares) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("allocator", ALL)
def test_thousands_of_steps_share_the_whole(allocator: Any) -> None:
    steps = [step(f"s{i}", GROUPS[i % 4], weight=1 + i % 7, times=1 + i % 3) for i in range(20_000)]
    shares = allocator.allocate(steps)
    assert min(shares) > 0
    assert math.fsum(shares) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("allocator", ALL)
def test_a_plan_without_steps_gets_nothing(allocator: Any) -> None:
    assert list(allocator.allocate([])) == []


@given(plans)
def test_the_default_follows_the_weights_of_the_steps(steps: list[Step]) -> None:
    shares = Weights().allocate(steps)
    largest = max(s.weight for s in steps)
    for one, share in zip(steps, shares, strict=True):
        assert share / max(shares) == pytest.approx(one.weight / largest, rel=1e-9, abs=1e-300)


@given(plans)
def test_uniform_gives_every_ask_the_same(steps: list[Step]) -> None:
    each = [share / s.times for s, share in zip(steps, Uniform().allocate(steps), strict=True)]
    assert each == pytest.approx([1 / sum(s.times for s in steps)] * len(steps))


@pytest.mark.parametrize(("allocator", "ratio"), [(TwoToOne(), 2.0), (OneToTwo(), 0.5)])
@given(steps=plans)
def test_an_ask_about_numbers_gets_the_stated_ratio_to_one_about_values(
    allocator: Any, ratio: float, steps: list[Step]
) -> None:
    steps = [*steps, step("n", "numeric"), step("v", "nominal")]
    shares = allocator.allocate(steps)
    assert shares[-2] == pytest.approx(ratio * shares[-1])
    for one, share in zip(steps, shares, strict=True):
        base = {"numeric": shares[-2], "nominal": shares[-1]}.get(one.group, min(shares[-2:]))
        assert share == pytest.approx(base * one.times)


def test_weights_name_a_step_or_a_group_and_the_step_wins() -> None:
    steps = [step("a", "numeric"), step("b", "numeric"), step("c", "nominal", weight=5.0)]
    shares = Weights(weights={"numeric": 3.0, "b": 2}).allocate(steps)
    assert shares == pytest.approx([0.3, 0.2, 0.5])


def test_a_name_that_the_plan_lacks_is_an_error_that_says_it() -> None:
    with pytest.raises(ParameterError, match=r"the plan has no step or group 'agee'"):
        Weights(weights={"agee": 1.0}).allocate([step("age")])


@pytest.mark.parametrize("value", [0, -1.0, math.inf, math.nan, True, "2", None, 10**400])
def test_a_weight_that_is_no_positive_number_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match=r"The 'weights' parameter of Weights must hold .* > 0\. Got .* instead"):
        Weights(weights={"a": value})


@pytest.mark.parametrize("value", [3.0, "a=1", [("a", 1.0)]])
def test_weights_that_are_no_mapping_are_refused_in_the_form_of_scikit_learn(value: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        Weights(weights=value)
    assert str(caught.value) == (f"The 'weights' parameter of Weights must be a dict or None. Got {value!r} instead.")


def test_an_allocator_sees_steps_and_nothing_else() -> None:
    """Steps that are equal in public facts get equal fractions, whatever object they are."""
    for allocator in ALL:
        one, two = ([step("a", "numeric", 2.0, 3), step("b")] for _ in range(2))
        assert list(allocator.allocate(one)) == list(allocator.allocate(two))
