"""A component names its factory without importing it, and a citation becomes BibTeX."""

from __future__ import annotations

import re

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore
from dpcore import Capabilities, Citation, Component


@given(st.from_regex(r"[a-z][a-z0-9_-]{0,20}", fullmatch=True))
def test_a_name_of_lower_case_words_is_kept(name):
    assert Component(name, "", "module:object").name == name


@given(st.text())
def test_any_other_name_is_refused(name):
    if re.fullmatch(r"[a-z][a-z0-9_-]*", name):
        return
    with pytest.raises(ValueError, match=r"Component\.name must be lower-case letters"):
        Component(name, "", "module:object")


@pytest.mark.parametrize("name", ["", "Laplace", "1d", "a b", "a:b", "a\n", None, 3])
def test_names_that_would_confuse_a_command_line_are_refused(name):
    with pytest.raises(ValueError, match=re.escape(f"Got {name!r} instead.")):
        Component(name, "", "module:object")


@pytest.mark.parametrize("factory", ["m:x", "a.b:c", "a.b:c.d", "_a:_b"])
def test_a_factory_names_a_module_and_an_object(factory):
    assert Component("a", "", factory).factory == factory


@pytest.mark.parametrize("factory", ["m", "m:", ":x", "m:x:y", "m:x()", "m:x\n", "", None, object()])
def test_other_factories_are_refused(factory):
    with pytest.raises(ValueError, match=r"Component\.factory must be of the form 'module:object'"):
        Component("a", "", factory)


def test_a_summary_is_text():
    with pytest.raises(TypeError):
        Component("a", None, "m:x")


def test_components_are_frozen_values():
    component = Component("a", "b", "m:x")
    assert component == Component("a", "b", "m:x")
    assert len({component, Component("a", "b", "m:x")}) == 1
    with pytest.raises(attrs.exceptions.FrozenInstanceError):
        component.name = "c"


def test_a_citation_is_one_line_for_people():
    assert str(Citation("k", "A, B.", "Title", 2006)) == "A, B. (2006). Title."
    assert str(Citation("k", "A, B.", "Title", 2006, "Venue", "10.1/2")) == ("A, B. (2006). Title. Venue. doi:10.1/2")


@pytest.mark.parametrize(("kind", "field"), [("article", "journal"), ("inproceedings", "booktitle")])
def test_a_citation_is_an_entry_for_bibtex_without_empty_fields(kind, field):
    entry = Citation("dwork2006", "Dwork, C.", "Calibrating", 2006, "TCC", type=kind).bibtex()
    assert entry == (
        f"@{kind}{{dwork2006,\n  author = {{Dwork, C.}},\n  title = {{{{Calibrating}}}},\n"
        f"  year = {{2006}},\n  {field} = {{TCC}}\n}}"
    )
    assert entry.count("{") == entry.count("}")


def test_a_learner_can_do_everything_unless_it_says_otherwise():
    assert all(attrs.asdict(Capabilities())[name] for name in ("numeric", "nominal", "multiclass", "missing"))
    assert Capabilities().cells is None


def test_the_package_offers_its_names_lazily_and_no_others():
    assert all(getattr(dpcore, name) is not None for name in dpcore.__all__)
    assert dir(dpcore) == sorted([*dpcore.__all__, "__version__"])
    with pytest.raises(AttributeError, match="module 'dpcore' has no attribute 'Laplacian'"):
        _ = dpcore.Laplacian
