"""Small schemas and tables, and where the rows of the real sets are."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpcore.registry import Registry, load_plugins
from dpcore.schema import Schema
from dpcore.table import Rows

MakeRows = Callable[..., Rows]


@pytest.fixture(scope="session")
def registry() -> Registry:
    return load_plugins()


@pytest.fixture(scope="session")
def rows() -> MakeRows:
    """Makes encoded rows from columns in the schema's order, the class last (or not at all)."""

    def make(schema: Schema, *columns: Any) -> Rows:
        names = [*schema.names, schema.target.name]
        arrays = {n: np.asarray(c) for n, c in zip(names, columns, strict=False)}
        return Rows(schema, arrays, len(arrays[names[0]]))

    return make


@pytest.fixture
def data_folder() -> str:
    folder = os.environ.get("DPCORE_DATA")
    if not folder:
        pytest.skip("needs the rows: set DPCORE_DATA to a folder of NAME.csv.gz")
    return folder
