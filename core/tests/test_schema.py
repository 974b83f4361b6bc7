"""A schema is what is public: it contradicts itself nowhere, and any other input is one clear `SchemaError`."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.errors import SchemaError
from dpcore.schema import Nominal, Numeric, Schema, Taxonomy

NAMES = st.text(min_size=1, max_size=6).filter(lambda name: not name.startswith("_"))
TARGET = Nominal("class", ("no", "yes"))
COLOUR = Nominal("colour", ("red", "green", "blue"))
AGE = Numeric("age", 0, 100, integer=True)
VALID = Schema(
    (COLOUR, AGE),
    TARGET,
    ignored=("id",),
    taxonomies={
        "colour": Taxonomy("colour", ((("red", "green"), ("blue",)),)),
        "age": Taxonomy("age", (((0, 50), (50, 101)),)),
    },
).to_json()


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    """Schemas of every shape."""
    names = draw(st.lists(NAMES, min_size=3, max_size=6, unique=True))
    attributes: list[Numeric | Nominal] = []
    for name in names[2:]:
        values = draw(st.lists(st.text(max_size=4), min_size=1, max_size=4, unique=True))
        lower = draw(st.floats(-1e6, 1e6))
        width = draw(st.floats(1, 1e6))
        cuts = sorted({lower + width * f for f in draw(st.lists(st.floats(0.1, 0.9), max_size=3))})
        numeric = Numeric(name, lower, lower + width, draw(st.booleans()), draw(st.booleans()), cuts)
        attributes.append(draw(st.sampled_from([numeric, Nominal(name, values, draw(st.booleans()))])))
    taxonomies = {}
    for a in attributes:
        if isinstance(a, Nominal):
            taxonomies[a.name] = Taxonomy(a.name, ((a.values,), tuple((v,) for v in a.values)))
        else:
            taxonomies[a.name] = Taxonomy(a.name, (((a.lower, a.middle), (a.middle, a.upper)),))
    kept = draw(st.sets(st.sampled_from(sorted(taxonomies))))
    return Schema(
        attributes,
        Nominal(names[0], ("a", "b", *draw(st.sets(st.sampled_from("cde"))))),
        ignored=(names[1],),
        taxonomies={name: taxonomies[name] for name in kept},
        title=draw(st.text(max_size=8)),
        missing_tokens=draw(st.sampled_from([("?", ""), ("NA", ""), ("", "")[:1]])),
    )


@settings(deadline=None)
@given(schemas())
def test_a_schema_survives_json(schema: Schema) -> None:
    again = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert again == schema
    assert hash(again) == hash(schema)


JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


def _places(data: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [at, *(place for key, value in inner for place in _places(value, (*at, key)))]


@settings(deadline=None, max_examples=400)
@given(st.sampled_from(_places(VALID)), JSON)
def test_a_damaged_schema_is_a_schema_or_one_line_of_error(place: tuple[Any, ...], junk: Any) -> None:
    data = {"top": json.loads(json.dumps(VALID))}
    spot: Any = data
    *way, last = ("top", *place)
    for key in way:
        spot = spot[key]
    spot[last] = junk
    reason = ""
    try:
        Schema.from_json(data["top"])
    except SchemaError as error:
        reason = str(error)
    assert "\n" not in reason.replace(repr(junk), "")


@pytest.mark.parametrize(
    ("lower", "upper"),
    [(1, 1), (2, 1), (math.nan, 1), (0, math.inf), (-math.inf, 0), (0, 1e101), (1e9, 1e9 + 1e-7), (0, 1e-200)],
)
def test_bounds_that_contradict_themselves_are_refused(lower: float, upper: float) -> None:
    with pytest.raises(SchemaError, match="'x'"):
        Numeric("x", lower, upper)


@pytest.mark.parametrize("cuts", [(0,), (10,), (5, 5), (6, 5), (-1,), (math.nan,)])
def test_cut_points_increase_strictly_inside_the_bounds(cuts: tuple[float, ...]) -> None:
    with pytest.raises(SchemaError, match="cut points"):
        Numeric("x", 0, 10, cuts=cuts)


@given(st.floats(-1e99, 1e99), st.floats(1e-90, 1e99))
def test_the_middle_lies_between_the_bounds(lower: float, width: float) -> None:
    upper = lower + width
    if lower + (upper - lower) / 1e9 == lower:
        with pytest.raises(SchemaError):
            Numeric("x", lower, upper)
    else:
        assert lower < Numeric("x", lower, upper).middle < upper


def test_nominal_values_are_different_texts() -> None:
    with pytest.raises(SchemaError, match="empty"):
        Nominal("n", ())
    with pytest.raises(SchemaError, match="twice: 1"):
        Nominal("n", (1, "1", 2))
    assert Nominal("n", (1, "b"), missing=True).cells == 3


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"attributes": ()}, "at least one attribute"),
        ({"attributes": (COLOUR, COLOUR)}, "twice"),
        ({"attributes": (Nominal("class", ("a",)),)}, "twice"),
        ({"ignored": ("colour",)}, "twice"),
        ({"target": Nominal("class", ("only",))}, "two values"),
        ({"taxonomies": {"size": Taxonomy("size", ())}}, "not an attribute"),
    ],
)
def test_a_schema_that_contradicts_itself_is_refused(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(SchemaError, match=reason):
        Schema(**({"attributes": (COLOUR, AGE), "target": TARGET} | changes))


@pytest.mark.parametrize(
    "level",
    [
        (("red", "green"),),
        (("red", "green"), ("blue", "red")),
        (("red", "green"), ("blue", "pink")),
        (("red", 1), ("green", "blue")),
        (("red", ("green",)), ("blue",)),
    ],
)
def test_a_nominal_level_holds_every_value_once(level: tuple[tuple[Any, ...], ...]) -> None:
    with pytest.raises(SchemaError, match="level 1: every value"):
        Taxonomy("colour", (level,)).check(COLOUR)


@pytest.mark.parametrize(
    "level",
    [
        (),
        ((0,),),
        ((0, 1, 2),),
        ((1, 0),),
        ((0, 5), (6, 9)),
        ((0, "b"),),
        ((None, 1),),
        ((0, math.nan),),
        ((0, 10**400),),
    ],
)
def test_a_numeric_level_is_a_chain_of_intervals(level: tuple[tuple[Any, ...], ...]) -> None:
    with pytest.raises(SchemaError, match="level 1"):
        Taxonomy("age", (level,)).check(AGE)


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b"{}", b"null", b'{"class": 3}'])
def test_a_file_that_is_no_schema_is_one_line_that_names_it(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "bad.schema.json"
    path.write_bytes(text)
    with pytest.raises(SchemaError, match=r"bad\.schema\.json") as caught:
        Schema.load(path)
    assert "\n" not in str(caught.value)


def test_a_missing_file_or_a_folder_is_one_line_that_names_it(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(SchemaError, match=path.name):
            Schema.load(path)


def test_a_schema_finds_its_attributes_by_name_and_type() -> None:
    schema = Schema.from_json(VALID)
    assert (schema["age"], schema.numeric(), schema.nominal()) == (AGE, (AGE,), (COLOUR,))
    assert schema.names == ("colour", "age")
    assert schema.classes == ("no", "yes")
    with pytest.raises(KeyError):
        schema["class"]
