"""A parameter is written once on the class; its checks, its description and its parsing agree."""

from __future__ import annotations

import json
import math

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.errors import ParameterError
from dpcore.parameters import Param, build, param, parameters, parse


@attrs.frozen
class Learner:
    C: float = param(1.0, help="Strength.", low=0, closed="neither")
    depth: int = param(3, help="Depth.", low=1, high=9)
    rule: str = param("max", help="Rule.", choices=("max", "gini"))
    seed: int | None = param(None, type=int, help="Seed.")
    prune: bool = param(True, help="Whether to prune.")
    weights: dict[str, float] | None = param(None, type=dict, help="By step.")
    title: str = param("", help="A title.")
    hidden: int = 0


def test_parameters_are_listed_in_order_and_without_other_fields():
    assert [p.name for p in parameters(Learner)] == [
        "C",
        "depth",
        "rule",
        "seed",
        "prune",
        "weights",
        "title",
    ]
    assert [p.type for p in parameters(Learner)] == ["float", "int", "str", "int", "bool", "dict", "str"]
    assert parameters(int) == ()


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"C": -1}, "The 'C' parameter of Learner must be a float in the range (0, inf). Got -1 instead."),
        (
            {"depth": 10},
            "The 'depth' parameter of Learner must be an int in the range [1, 9]. Got 10 instead.",
        ),
        (
            {"rule": "x"},
            "The 'rule' parameter of Learner must be a str among {'max', 'gini'}. Got 'x' instead.",
        ),
        ({"seed": "x"}, "The 'seed' parameter of Learner must be an int or None. Got 'x' instead."),
        ({"prune": 1}, "The 'prune' parameter of Learner must be a bool. Got 1 instead."),
        ({"weights": [1]}, "The 'weights' parameter of Learner must be a dict or None. Got [1] instead."),
        ({"title": 1}, "The 'title' parameter of Learner must be a str. Got 1 instead."),
        (
            {"dept": 1},
            "Learner has no parameter 'dept'; it has: C, depth, rule, seed, prune, weights, title.",
        ),
        (
            {"hidden": 1},
            "Learner has no parameter 'hidden'; it has: C, depth, rule, seed, prune, weights, title.",
        ),
    ],
)
def test_a_wrong_value_is_refused_in_scikit_learns_words(values, message):
    with pytest.raises(ParameterError) as caught:
        build(Learner, values)
    assert str(caught.value) == message


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan, True, "1", None, 1j])
def test_an_open_range_takes_only_finite_numbers(value):
    with pytest.raises(ParameterError):
        Learner(C=value)


@pytest.mark.parametrize("value", [3.0, math.inf, math.nan, 10**400, False, "3"])
def test_an_int_parameter_takes_only_whole_numbers_in_its_range(value):
    with pytest.raises(ParameterError):
        Learner(depth=value)


def test_numpys_scalars_become_pythons():
    learner = Learner(depth=np.int64(4), C=np.float32(0.5), prune=np.bool_(False), rule=np.str_("gini"))
    assert [type(v) for v in (learner.depth, learner.C, learner.prune)] == [int, float, bool]
    assert json.dumps(attrs.asdict(learner))


@st.composite
def ranges(draw: st.DrawFn) -> Param:
    low = draw(st.none() | st.floats(-100, 100))
    high = draw(st.none() | st.floats(-100 if low is None else low, 101))
    closed = draw(st.sampled_from(["both", "left", "right", "neither"]))
    return Param("x", "float", 0.0, low, high, None, "", closed)


@given(ranges(), st.floats(-200, 200) | st.just(math.inf))
def test_a_value_is_accepted_exactly_when_it_lies_in_the_range_that_is_printed(described, value):
    text = described.allowed().removeprefix("a float")
    if not text:
        assert described.accepts(value) == math.isfinite(value)
        return
    text = text.removeprefix(" in the range ")
    low, high = (float(end) for end in text[1:-1].split(", "))
    above = value >= low if text[0] == "[" else value > low
    below = value <= high if text[-1] == "]" else value < high
    assert described.accepts(value) == (above and below)


@given(
    st.fixed_dictionaries(
        {
            "C": st.floats(1e-300, 1e300),
            "depth": st.integers(1, 9),
            "rule": st.sampled_from(["max", "gini"]),
            "seed": st.none() | st.integers(),
            "prune": st.booleans(),
            "weights": st.none() | st.dictionaries(st.text(), st.floats(allow_nan=False, allow_infinity=False)),
            "title": st.text(),
        }
    )
)
def test_what_is_written_on_the_command_line_is_read_back(values):
    texts = {k: v if isinstance(v, str) else json.dumps(v) for k, v in values.items()}
    assert parse(Learner, texts) == values
    assert build(Learner, parse(Learner, texts)) == Learner(**values)


def test_the_command_line_takes_words_as_people_write_them():
    read = parse(Learner, {"prune": "True", "seed": "None", "C": "2", "depth": "2"})
    assert read == {"prune": True, "seed": None, "C": 2.0, "depth": 2}
    assert isinstance(read["C"], float)


@pytest.mark.parametrize(
    ("key", "text", "part"),
    [
        ("depth", "two", "must be an int in the range [1, 9]. Got 'two' instead."),
        ("depth", "2.5", "Got '2.5' instead."),
        ("C", "Infinity", "Got 'Infinity' instead."),
        ("prune", "yes", "must be a bool. Got 'yes' instead."),
        ("weights", "[1", "must be a dict or None. Got '[1' instead."),
        ("weigths", "1", "Learner has no parameter 'weigths'; it has: C, depth"),
    ],
)
def test_a_wrong_word_on_the_command_line_is_refused(key, text, part):
    with pytest.raises(ParameterError, match="parameter") as caught:
        parse(Learner, {key: text})
    assert part in str(caught.value)


def test_a_class_without_parameters_says_so():
    with pytest.raises(ParameterError, match=r"int has no parameter 'x'; it has: none\."):
        build(int, {"x": 1})
    with pytest.raises(ParameterError, match=r"int has no parameter 'x'; it has: none\."):
        parse(int, {"x": "1"})
    assert build(int, {}) == 0


def test_choices_may_be_numbers():
    @attrs.frozen
    class Sized:
        size: int = param(2, help="Size.", choices=(2, 4))

    assert Sized(size=4).size == 4
    with pytest.raises(ParameterError, match=r"must be an int among \{2, 4\}\. Got 3 instead\."):
        Sized(size=3)
