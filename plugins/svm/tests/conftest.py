"""Small schemas and tables, and where the rows of the real sets are."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np
import pytest

from dpcore.registry import Registry, load_plugins
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import Rows

COLOUR = Nominal("colour", ("red", "green", "blue"), missing=True)
ONLY = Nominal("only", ("same",))
GRADE = Numeric("grade", 1, 5, integer=True)
SIZE = Numeric("size", 0.0, 10.0, missing=True)
ATTRIBUTES = (COLOUR, ONLY, GRADE, SIZE)


@pytest.fixture(scope="session")
def registry() -> Registry:
    return load_plugins()


def _schema(classes: int) -> Schema:
    return Schema(ATTRIBUTES, Nominal("class", tuple("abcdefgh"[:classes])))


def _sample(classes: int, n: int, seed: int = 0) -> Rows:
    """Rows of which colour, grade and size tell the class, in part; some cells are missing."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, classes, n)
    size = np.where(rng.random(n) < 0.1, np.nan, np.clip(rng.normal(2 + 6 * y / classes, 1), 0, 10))
    columns = {
        "colour": ((y + (rng.random(n) < 0.3)) % 4).astype(np.uint8),
        "only": np.zeros(n, np.uint8),
        "grade": np.clip(rng.poisson(1 + y), 1, 5).astype(float),
        "size": size,
        "class": y.astype(np.uint8),
    }
    return Rows(_schema(classes), columns, n)


@pytest.fixture(scope="session")
def schema() -> Callable[[int], Schema]:
    """A schema of all kinds of attributes, by the number of classes."""
    return _schema


@pytest.fixture(scope="session")
def sample() -> Callable[..., Rows]:
    """Makes rows of `schema`: number of classes, number of rows, seed."""
    return _sample


@pytest.fixture
def data_folder() -> str:
    folder = os.environ.get("DPCORE_DATA")
    if not folder:
        pytest.skip("needs the rows: set DPCORE_DATA to a folder of NAME.csv.gz")
    return folder
