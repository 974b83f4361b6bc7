"""Rows are checked against the schema before anything is spent, and messages hold no value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.encode import encode, encode_arrays
from dpcore.errors import InputError
from dpcore.schema import Nominal, Numeric, Schema

SCHEMA = Schema(
    [Numeric("x", 0, 10), Numeric("m", 0, 1, missing=True), Nominal("c", ["a", "b"]), Nominal("d", ["1", "2"], True)],
    Nominal("class", ["no", "yes"]),
)
GOOD = pd.DataFrame(
    {"x": [1.0, 2.0, 3.0], "m": [0.5, np.nan, 1.0], "c": list("abb"), "d": [1, 2, 7], "class": ["no", "yes", "no"]}
)


def test_good_rows_become_codes_and_numbers() -> None:
    rows = encode(GOOD, SCHEMA)
    assert rows.size == 3
    assert rows.columns["c"].tolist() == [0, 1, 1]
    assert rows.columns["d"].tolist() == [0, 1, 2]
    assert rows.columns["class"].tolist() == [0, 1, 0]
    assert rows.columns["c"].dtype == np.uint8


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("x", [1.0, np.nan, 2.0], "'x': 1 value is NaN"),
        ("x", [1.0, np.inf, -np.inf], "'x': 2 values are infinite"),
        ("x", [1e308, 1.0, 1.0], "'x': 1 value is infinite or beyond"),
        ("x", ["1", "canary", "2"], "'x' must be numeric"),
        ("m", [0.5, np.nan, np.inf], "'m': 1 value is infinite"),
        ("c", ["a", "canary", "b"], r"'c': 1 cell \(row 2\) holds a value"),
        ("class", ["no", "canary", "no"], "'class': 1 cell "),
    ],
)
def test_what_the_schema_does_not_allow_is_refused(column: str, values: list[object], words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        encode(GOOD.assign(**{column: values}), SCHEMA)
    assert "canary" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="lack the column 'c'"):
        encode(GOOD.drop(columns="c"), SCHEMA)


def test_rows_to_predict_may_hold_what_is_not_known() -> None:
    new = GOOD.assign(x=[np.nan, 1.0, 99.0], c=["z", "a", "b"]).drop(columns="class")
    rows = encode(new, SCHEMA, strict=False, target=False)
    assert rows.columns["c"].tolist() == [2, 0, 1]
    assert np.isnan(rows.columns["x"][0])
    with pytest.raises(InputError, match="infinite"):
        encode(new.assign(x=[np.inf, 1, 1]), SCHEMA, strict=False, target=False)


def test_large_values_that_sum_to_nothing_much_are_still_seen() -> None:
    with pytest.raises(InputError, match="2 values are infinite or beyond"):
        encode(GOOD.assign(x=[1e300, -1e300, 1.0]), SCHEMA)


def test_a_matrix_is_not_copied() -> None:
    schema = Schema([Numeric("a", 0, 1), Numeric("b", 0, 1)], Nominal("class", ["0", "1"]))
    matrix = np.random.default_rng(0).uniform(size=(10, 2))
    rows = encode_arrays(matrix, np.arange(10) % 2, schema)
    assert all(np.shares_memory(matrix, rows.columns[name]) for name in "ab")
    assert rows.columns["class"].tolist() == [0, 1] * 5
