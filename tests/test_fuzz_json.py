"""Whatever a schema file or a model file holds, reading it gives a usable object or one clear line."""

from __future__ import annotations

import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcore
from dpcore import MemoryTable, Release, Schema
from dpcore.encode import encode
from dpcore.errors import InputError, SchemaError
from fuzzed import JUNK, bent_json, bent_text, settled

SCHEMA: dict[str, Any] = {
    "title": "visits",
    "attributes": [
        {"name": "age", "type": "numeric", "lower": 0, "upper": 100, "integer": True, "has_missing": True},
        {"name": "fee", "type": "numeric", "lower": 0.5, "upper": 500, "cuts": [10, 20.5]},
        {"name": "ward", "type": "nominal", "values": ["east", "west", "é"], "has_missing": True},
        {"name": "id", "role": "ignore"},
    ],
    "class": {"name": "outcome", "values": ["home", "stay"]},
    "missing": {"token": "NA"},
    "taxonomies": {
        "_note": "coarsest first",
        "age": {"levels": [[[0, 50], [50, 101]]]},
        "ward": {"levels": [[["east", "west", "é"]], [["east"], ["west", "é"]]]},
    },
}
FRAME = pd.DataFrame(
    {"age": [31.0, np.nan, 7.0] * 9, "fee": [20.5, 300, 99] * 9, "ward": ["east", None, "é"] * 9, "outcome": "home"}
)
FRAME.loc[::2, "outcome"] = "stay"
PLAIN = st.recursive(st.sampled_from(JUNK) | st.text(max_size=5), lambda x: st.lists(x) | st.dictionaries(st.text(), x))


def made(**parameters: str) -> dict[str, Any]:
    """The content of a model file."""
    schema = Schema.from_json(SCHEMA)
    plan = dpcore.plan("naive_bayes", schema, epsilon=1.0, parameters=parameters)
    return dpcore.fit(plan, MemoryTable.from_frame(FRAME, schema), random_state=0).to_json()


MODELS = [made(), made(model="moments")]
ROWS = encode(FRAME, Schema.from_json(SCHEMA), strict=False, target=False)
many = settings(deadline=None, max_examples=150)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz") / "file.json"


def comes_back(schema: Schema) -> None:
    """A schema that was read can be written, and reads the same again."""
    assert Schema.from_json(json.loads(json.dumps(schema.to_json(), allow_nan=False))) == schema


def predicts(release: Release) -> None:
    """A model that was read gives probabilities for rows, and can be written."""
    json.dumps(release.model.to_json(), allow_nan=False)
    if release.schema == Schema.from_json(SCHEMA):
        log = release.log_proba(ROWS)
        assert np.exp(log).sum(axis=1) == pytest.approx(1.0)


@many
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_read_or_refused_in_one_line(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    assert settled(Schema.load, file) is None
    assert settled(Release.load, file) is None


@many
@given(bent_text([json.dumps(SCHEMA, ensure_ascii=False)]))
def test_a_schema_file_with_damaged_text_is_read_or_refused_in_one_line(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    schema = settled(Schema.load, file)
    if schema is not None:
        comes_back(schema)


@many
@given(bent_json([SCHEMA]) | PLAIN)
def test_a_schema_of_any_shape_is_a_schema_that_can_be_planned_with_or_one_line(data: Any) -> None:
    schema = settled(Schema.from_json, data)
    if schema is not None:
        comes_back(schema)
        settled(dpcore.plan, "naive_bayes", schema, epsilon=1.0)


@many
@given(bent_text([json.dumps(model) for model in MODELS]))
def test_a_model_file_with_damaged_text_is_read_or_refused_in_one_line(file: Path, data: bytes) -> None:
    file.write_bytes(data)
    release = settled(Release.load, file)
    if release is not None:
        predicts(release)


@settings(many, max_examples=300)
@given(bent_json(MODELS) | bent_json([model["model"] for model in MODELS]) | PLAIN)
def test_a_model_of_any_shape_predicts_or_is_refused_in_one_line(file: Path, data: Any) -> None:
    whole = {**MODELS[0], "model": data} if isinstance(data, dict) and "parts" in data else data
    file.write_text(json.dumps(whole))
    release = settled(Release.load, file)
    if release is not None:
        predicts(release)


def changed(**changes: Any) -> str:
    return json.dumps({**SCHEMA, **changes})


def aged(**changes: Any) -> str:
    return changed(attributes=[{**SCHEMA["attributes"][0], **changes}])


LEVELS = {"age": {"levels": [[[-math.inf, 50], [50, math.inf]]]}}
FAULTS = {
    "a number of 5000 digits": (aged(lower=0).replace("100", "1" * 5000), "too many digits"),
    "a number of 400 digits": (aged(upper=10**400), "upper is not a usable number"),
    "lists 100000 deep": ("[" * 100_000, "nested too deeply"),
    "objects 100000 deep": ('{"a":' * 100_000, "nested too deeply"),
    "a bound that is a list 900 deep": (aged(lower=0).replace("100", "[" * 900 + "]" * 900), "must be a number"),
    "a bound that is a text of 100000 letters": (aged(upper="x" * 100_000), "must be a number"),
    "a key that stands twice": (changed().replace('"lower": 0,', '"lower": 0, "lower": 50,'), "'lower' stands twice"),
    "half a surrogate pair in a name": (aged(name="a\ud800"), "not valid Unicode"),
    "half a surrogate pair in a title": (changed(title="a\ud800"), "not valid Unicode"),
    "a line break in a value that stands twice": (
        changed(**{"class": {"name": "y", "values": ["a\nb"] * 2}}),
        r"twice: 'a\nb'",
    ),
    "an endless interval in a taxonomy": (changed(taxonomies=LEVELS), "a numeric group must be"),
    "a truth value as text": (aged(integer="false"), "integer must be true or false"),
    "a missing that is a list": (aged(has_missing=[]), "has_missing must be true or false"),
    "a title that is a list": (changed(title=[]), "'title' must be a text"),
    "a name that is empty": (aged(name=""), "need a 'name'"),
}


@pytest.mark.parametrize("claim", FAULTS)
def test_a_schema_file_is_refused_for(claim: str, file: Path) -> None:
    text, words = FAULTS[claim]
    file.write_text(text)
    with pytest.raises(SchemaError) as caught:
        Schema.load(file)
    message = str(caught.value)
    assert words in message
    assert (len(message.splitlines()), len(message) < 500) == (1, True)


def test_a_byte_order_mark_does_not_matter(file: Path) -> None:
    file.write_bytes(b"\xef\xbb\xbf" + json.dumps(SCHEMA).encode())
    assert Schema.load(file) == Schema.from_json(SCHEMA)


def test_a_name_that_no_file_can_have_is_one_line() -> None:
    assert settled(Schema.load, "a\0b") is None
    assert settled(Release.load, "a\0b") is None
    assert settled(Schema.load, "x" * 500) is None
    assert settled(Release.load, "x" * 500) is None


def test_long_lists_take_no_time_that_grows_with_their_square() -> None:
    """100,000 values and 20,000 attributes, one of them twice: a minute and more where each is sought in all."""
    values = [str(i) for i in range(100_000)] + ["7"]
    attributes = [{"name": f"a{i}", "type": "numeric", "lower": 0, "upper": 1} for i in range(20_000)]
    start = time.process_time()
    with pytest.raises(SchemaError, match="twice: 7"):
        Schema.from_json({**SCHEMA, "class": {"name": "y", "values": values}})
    with pytest.raises(SchemaError, match="twice in the schema: a7"):
        Schema.from_json({**SCHEMA, "attributes": [*attributes, attributes[7]], "taxonomies": {}})
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "change",
    [
        {"prior": [0.0, -1e308]},
        {"prior": [[0.0, 0.0]]},
        {"prior": [0.0, "a"]},
        {"prior": [0.0, 10**400]},
        {"parts": [{"attribute": "age", "kind": "table", "bins": 10**12, "log": [[0.0, 0.0]]}]},
        {"parts": [{"attribute": "age", "kind": "table", "bins": 1e400, "log": [[0.0, 0.0]]}]},
        {"parts": [{"attribute": "nobody", "kind": "table", "log": []}]},
        {"parts": [{**MODELS[1]["model"]["parts"][1], "mean": [1e308, 0.0], "truncated": True}]},
        {"parts": [{**MODELS[1]["model"]["parts"][1], "deviation": [1e-320, 1.0], "truncated": True}]},
        {"parts": [{**MODELS[1]["model"]["parts"][1], "deviation": [0.0, 1.0]}]},
    ],
    ids=lambda change: str(change)[:60],
)
def test_numbers_that_no_fit_releases_are_refused(change: dict[str, Any], file: Path) -> None:
    file.write_text(json.dumps({**MODELS[0], "model": {**MODELS[0]["model"], **change}}))
    with pytest.raises(InputError, match="is damaged"):
        Release.load(file)
