"""Rows come from a file, a named data set, or the plugin that opens a URI's scheme."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.errors import InputError
from dpcore.registry import load_plugins
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.source import check_classes, dataset, find_schema, open_table, read_new_rows
from dpcore.table import MemoryTable, Table, TableOpener

SCHEMA = Schema([Numeric("x", 0, 1)], Nominal("class", ["a", "b"]))
FRAME = pd.DataFrame({"x": [0.1, 0.9, 0.5], "class": ["a", "b", "a"]})


class Opener(TableOpener):
    schemes = ("toy", "toy+local")

    def open(self, uri: str, schema: Schema) -> Table:
        return MemoryTable.from_frame(FRAME, schema)


class OneTable:
    """A registry with one table plugin."""

    def names(self, kind: str) -> list[str]:
        return ["toy"]

    def get(self, kind: str, name: str) -> Any:
        return Opener


@pytest.mark.parametrize("uri", ["toy://here", "toy+local://2/there?table=t"])
def test_a_uri_goes_to_the_plugin_that_opens_its_scheme(uri: str) -> None:
    table = open_table(uri, SCHEMA, OneTable())  # type: ignore[arg-type]
    check_classes(table)


def test_a_scheme_that_nobody_opens_is_refused_with_those_that_are() -> None:
    with pytest.raises(InputError, match=r"opens other:// tables; known are: toy, toy\+local"):
        open_table("other://x", SCHEMA, OneTable())  # type: ignore[arg-type]


def test_a_file_and_a_data_set_are_opened_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "rows.csv"
    FRAME.to_csv(path, index=False)
    registry = load_plugins()
    assert isinstance(open_table(str(path), SCHEMA, registry), MemoryTable)
    assert isinstance(open_table("iris", find_schema("iris", None, registry), registry), MemoryTable)
    assert dataset(str(path), registry) is None


def test_a_name_that_is_neither_says_so() -> None:
    with pytest.raises(InputError, match=r"neither a file nor a data set.*iris"):
        find_schema("irsi", None, load_plugins())
    with pytest.raises(InputError, match="a schema is needed"):
        find_schema("rows.csv", None, load_plugins())


def test_rows_to_predict_need_no_class(tmp_path: Path) -> None:
    path = tmp_path / "new.csv"
    FRAME.drop(columns="class").to_csv(path, index=False)
    rows = read_new_rows(str(path), SCHEMA, load_plugins())
    assert rows.size == 3
    assert np.allclose(rows.columns["x"], FRAME["x"])


def test_rows_of_one_class_are_refused() -> None:
    with pytest.raises(InputError, match="'class' must take at least two values"):
        check_classes(MemoryTable.from_frame(FRAME.assign(**{"class": "a"}), SCHEMA))
