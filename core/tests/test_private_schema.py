"""Bounds found privately hold most of each column, and cost what they say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.accounting import PureAccountant
from dpcore.noise import SeededNoise
from dpcore.privacy import Adjacency
from dpcore.private_schema import SHARE, find_schema
from dpcore.registry import load_plugins
from dpcore.schema import Nominal, Numeric, Schema


def find(columns: Any, labels: Any, epsilon: float = 5.0) -> tuple[Schema, PureAccountant]:
    bank = PureAccountant(SHARE * epsilon)
    schema = find_schema(
        columns,
        np.asarray(labels),
        bank=bank,
        epsilon=epsilon,
        adjacency=Adjacency.ADD_REMOVE,
        noise=SeededNoise(0),
        registry=load_plugins(),
    )
    return schema, bank


@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (100.0, 101.0), (-3e6, -1e6), (-2.0, 50.0), (1e-3, 2e-3)])
def test_bounds_hold_nearly_all_of_a_column_and_little_more(low: float, high: float) -> None:
    values = np.random.default_rng(0).uniform(low, high, size=(20_000, 2))
    schema, bank = find(values, np.arange(20_000) % 2)
    for attribute in schema.numeric():
        inside = np.mean((values[:, 0] >= attribute.lower) & (values[:, 0] <= attribute.upper))
        assert inside > 0.95
        assert attribute.width < 1.2 * (high - low) + 1e-9
    assert 0.999 * SHARE * 5 < bank.spent()[0] <= SHARE * 5


def test_one_extreme_row_does_not_show_in_the_bounds() -> None:
    values = np.random.default_rng(0).uniform(0, 1, size=(20_000, 1))
    values[7] = 1e15
    schema, _ = find(values, np.arange(20_000) % 2)
    assert schema.numeric()[0].upper < 2


def test_categories_come_from_the_declared_type_and_not_from_the_rows() -> None:
    frame = pd.DataFrame(
        {"c": pd.Categorical(["a"] * 4000, ["a", "never"]), "flag": [True, False] * 2000, "n": np.arange(4000.0)}
    )
    schema, _ = find(frame, np.arange(4000) % 2)
    assert schema["c"] == Nominal("c", ["a", "never"], missing=True)
    assert schema["flag"] == Nominal("flag", ["False", "True"], missing=True)
    assert isinstance(schema["n"], Numeric)


def test_a_column_without_any_row_in_sight_still_gets_bounds() -> None:
    schema, _ = find(np.full((4000, 1), np.nan), np.arange(4000) % 2)
    assert (schema.numeric()[0].lower, schema.numeric()[0].upper) == (-1, 1)
