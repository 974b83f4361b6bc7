"""The plugin lists its sets without importing anything heavy, and each one is what it says."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import dpcore_datasets
from dpcore.dataset import Dataset
from dpcore_datasets.catalogue import CATALOGUE, EMBEDDED

COMPONENTS = {c.name: c for c in dpcore_datasets.dpcore_datasets()}


def load(name: str) -> Dataset:
    module, _, attribute = COMPONENTS[name].factory.partition(":")
    return getattr(importlib.import_module(module), attribute)()


def test_sixteen_sets_are_listed():
    assert len(COMPONENTS) == 16
    assert EMBEDDED == ("iris", "wine", "digits", "breast_cancer")


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_component_makes_the_set_of_its_name(name):
    dataset = load(name)
    assert isinstance(dataset, Dataset)
    assert dataset.name == name
    assert dataset.summary == COMPONENTS[name].summary
    assert dataset.citation is not None
    assert dataset.citation.doi == dataset.facts["doi"]
    assert dataset.citation.bibtex().startswith("@misc{")


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_summary_states_the_numbers_of_the_schema(name):
    dataset = load(name)
    schema, summary = dataset.schema(), dataset.summary
    assert f"{dataset.facts['rows']:,} rows" in summary
    assert f"{len(schema.classes)} classes" in summary
    for attributes in (schema.numeric(), schema.nominal()):
        assert not attributes or f"{len(attributes)} " in summary


def test_listing_imports_no_heavy_library():
    heavy = "{'numpy', 'pandas', 'scipy', 'sklearn', 'pooch', 'requests'}"
    code = f"import sys, dpcore_datasets as d; d.dpcore_datasets(); print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
