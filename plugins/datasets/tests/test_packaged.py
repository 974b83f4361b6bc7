"""The schemas that ship with the package are public knowledge, complete, and true of the rows."""

from __future__ import annotations

import importlib
from importlib.resources import files

import numpy as np
import pytest

from dpcore.schema import Numeric, Schema
from dpcore_datasets.catalogue import CATALOGUE, EMBEDDED

COUNTS = {  # where the documentation has percentages only
    "adult": {"<=50K": 37_155, ">50K": 11_687},
    "bank": {"no": 36_548, "yes": 4_640},
    "census_income": {"- 50000": 280_717, "50000+": 18_568},
}


def load(name):
    module, _, attribute = CATALOGUE[name][0].partition(":")
    return getattr(importlib.import_module(f"dpcore_datasets.{module}"), attribute)()


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_schema_loads_and_survives_json(name):
    schema = load(name).schema()
    assert Schema.from_json(schema.to_json()) == schema


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_bound_and_list_says_where_it_is_from(name):
    facts = load(name).facts
    assert facts["name"] == name
    assert {"title", "rows", "citation", "doi", "licence", "documentation", "missing"} <= set(facts)
    for entry in facts["attributes"]:
        if entry.get("role") == "ignore":
            assert entry["note"]
        elif entry["type"] == "numeric":
            assert entry["bounds_source"] in ("documented", "domain", "documented+domain")
            assert entry["bounds_note"]
        else:
            assert entry["values_source"] == "documented"


def test_schema_files_and_sets_match_one_to_one():
    found = {p.name for p in files("dpcore_datasets").joinpath("schemas").iterdir()}
    assert found == {f"{name}.json" for name in CATALOGUE}


@pytest.mark.parametrize("name", [n for n in CATALOGUE if n not in EMBEDDED])
def test_a_schema_equals_the_one_beside_the_rows(name, data_folder):
    path = data_folder / f"{name}.schema.json"
    if not path.exists():
        pytest.skip("DPCORE_DATA has rows but no schemas")
    assert Schema.load(path) == load(name).schema()


@pytest.mark.parametrize("name", CATALOGUE)
def test_every_row_lies_inside_the_schema(name, request):
    if name not in EMBEDDED:
        folder = request.getfixturevalue("data_folder")
        if not (folder / f"{name}.csv.gz").exists():
            pytest.skip(f"DPCORE_DATA has no {name}.csv.gz")
    dataset = load(name)
    schema, frame = dataset.schema(), dataset.frame()
    assert list(frame.columns) == [*schema.names, schema.target.name]
    assert len(frame) == dataset.facts["rows"]
    for attribute in schema.attributes:
        cells = frame[attribute.name]
        if isinstance(attribute, Numeric):
            assert cells.dtype == np.float64
            assert cells.between(attribute.lower, attribute.upper).all()
            assert not attribute.integer or (cells % 1 == 0).all()
        else:
            allowed = {*attribute.values, *(["?"] if attribute.missing else [])}
            assert set(cells.unique()) <= allowed
    counts = frame[schema.target.name].value_counts().to_dict()
    assert set(counts) == set(schema.classes)
    assert counts == COUNTS.get(name, dataset.facts["class"].get("documented_counts", counts))
