"""Every encoding puts every row into the unit ball, and survives its file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.errors import InputError
from dpcore.partition import CutBins, EqualBins
from dpcore.schema import Nominal, Numeric, Schema
from dpcore_svm.encoding import ENCODINGS, Encoding, cells, part, telling

COLOUR, ONLY = Nominal("colour", ("red", "green", "blue"), missing=True), Nominal("only", ("same",))
GRADE, SIZE = Numeric("grade", 1, 5, integer=True), Numeric("size", 0.0, 10.0, missing=True)
SCHEMA = Schema((COLOUR, ONLY, GRADE, SIZE), Nominal("class", ("a", "b")))
anything = st.one_of(st.floats(-1e90, 1e90), st.just(float("nan")))


@settings(deadline=None)
@given(
    st.sampled_from(ENCODINGS),
    st.integers(1, 20),
    st.integers(0, 5),
    st.lists(st.tuples(st.integers(0, 4), anything, anything), min_size=1, max_size=8),
)
def test_every_row_lies_in_the_unit_ball_and_within_the_stated_l1_norm(
    name: str, bins: int, waves: int, rows: list[Any]
) -> None:
    """Codes of 4 and NaN are cells of which nothing is known."""
    colour, grade, size = (np.array(c) for c in zip(*rows, strict=True))
    view = {"colour": colour.astype(np.uint8), "grade": grade.astype(float), "size": size.astype(float)}
    features = Encoding(name, bins, waves).features(SCHEMA)
    places, numbers = features.encode(view, len(rows))
    dense = np.zeros((len(rows), features.width))
    np.put_along_axis(dense, places.astype(np.intp), numbers, axis=1)
    assert (np.linalg.norm(dense, axis=1) <= 1).all()
    assert (np.abs(dense).sum(axis=1) <= features.longest_l1 * (1 + 1e-12)).all()
    assert features.margins(view, len(rows), np.arange(features.width, dtype=float)) == pytest.approx(
        dense @ np.arange(features.width), abs=1e-9
    )


@pytest.mark.parametrize("encoding", [Encoding("bins", 7), Encoding("ordinal", 8, 3, 0.25, 11)])
def test_an_encoding_survives_its_file(encoding: Encoding) -> None:
    assert Encoding.from_json(json.loads(json.dumps(encoding.to_json()))) == encoding


@pytest.mark.parametrize(
    "change", [{"encoding": "x"}, {"bins": 0}, {"bins": 2.5}, {"waves": -1}, {"gamma": 0}, {"waves": 2**40}]
)
def test_a_damaged_encoding_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        Encoding.from_json({**Encoding("bins", 8, 2).to_json(), **change})


def test_cells_follow_the_public_domain() -> None:
    assert telling(SCHEMA) == [COLOUR, GRADE, SIZE]
    assert cells(GRADE, 16) == EqualBins(GRADE, 5)
    assert cells(SIZE, 16) == EqualBins(SIZE, 16)
    cut = Numeric("x", 0, 9, cuts=(1, 4))
    assert cells(cut, 16) == CutBins(cut, (1, 4))


def test_ordinal_values_are_spread_in_their_order() -> None:
    view = {"colour": np.array([0, 1, 2, 3, 4], dtype=np.uint8)}
    assert part(COLOUR, "ordinal", 1).entry(view)[1].tolist() == [-1, 0, 1, 0, 0]
    assert part(COLOUR, "codes", 1).entry(view)[1].tolist() == [0, 1, 2, 0, 0]


def test_random_features_approach_their_kernel() -> None:
    schema = Schema((Numeric("u", -1, 1), Numeric("v", -1, 1)), SCHEMA.target)
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (40, 2))
    view = {"u": x[:, 0], "v": x[:, 1]}
    vectors = Encoding("scaled", 1, 4000, 0.7).features(schema).encode(view, 40)[1]
    distance = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    # half of the inner product is the constant's; 4000 waves err by about 1 / √4000
    assert 2 * vectors @ vectors.T - 1 == pytest.approx(np.exp(-0.7 * distance), abs=0.1)


def test_random_features_are_the_same_everywhere() -> None:
    waves = Encoding("scaled", 1, 2, 0.5, 3).features(SCHEMA).waves
    assert waves.shape == (6, 2)
    assert (waves == Encoding("scaled", 1, 2, 0.5, 3).features(SCHEMA).waves).all()
    assert not (waves == Encoding("scaled", 1, 2, 0.5, 4).features(SCHEMA).waves).any()
