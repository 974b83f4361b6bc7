"""Tiny tables: one numeric attribute by two classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable, Rows

Row = tuple[float, int]
Maker = Callable[[Numeric, Sequence[Row]], MemoryTable]


@pytest.fixture(scope="session")
def table() -> Maker:
    """Makes a table of (value, class) rows."""

    def make(attribute: Numeric, rows: Sequence[Row]) -> MemoryTable:
        schema = Schema((attribute,), Nominal("class", ("a", "b")))
        values = np.array([x for x, _ in rows], dtype=np.float64)
        classes = np.array([c for _, c in rows], dtype=np.uint8)
        return MemoryTable(Rows(schema, {attribute.name: values, "class": classes}, len(rows)))

    return make
