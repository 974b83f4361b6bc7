"""No row is longer than 1, whatever is in it; and a row's vector depends on that row and on public facts alone."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.features import FeatureMap, Fourier, Lookup, OneHot, Part, Scaled
from dpcore.partition import EqualBins, Groups, Values
from dpcore.schema import Nominal, Numeric

COLOUR = Nominal("colour", ("r", "g", "b"))
SIZE = Nominal("size", ("s", "m", "l"), missing=True)
AGE = Numeric("age", -3.0, 97.0)
PAY = Numeric("pay", 0.0, 0.3, missing=True)
CELLS = [Values(COLOUR), Values(SIZE), EqualBins(AGE, 5), EqualBins(PAY, 2), Groups(SIZE, (("s",), ("m", "l")))]
CODES = {"colour": 4, "size": 5}
"""All codes that there can be, with that of "nothing known"."""
HOSTILE = st.floats(-10, 110) | st.sampled_from([math.nan, math.inf, -math.inf, 1e300, -1e300, 5e-324, -0.0, 0.3, 97.0])

onehot = st.sampled_from(CELLS).map(OneHot)
scaled = st.sampled_from([AGE, PAY]).map(Scaled)


@st.composite
def lookup(draw: Any) -> Lookup:
    cells = draw(st.sampled_from(CELLS))
    size = st.floats(-8, 8) | st.floats(-1e-9, 1e-9) | st.just(0.0)
    return Lookup(cells, draw(st.lists(size, min_size=cells.size, max_size=cells.size)))


maps = st.builds(
    FeatureMap,
    st.lists(onehot | scaled | lookup(), max_size=6),
    st.none() | st.floats(1e-3, 30) | st.just(1.0),
)


@st.composite
def views(draw: Any) -> tuple[dict[str, np.ndarray], int]:
    n = draw(st.integers(0, 12))
    view = {name: draw(st.lists(st.integers(0, high - 1), min_size=n, max_size=n)) for name, high in CODES.items()}
    found = {name: np.array(codes, dtype=np.uint8) for name, codes in view.items()}
    for name in ("age", "pay"):
        found[name] = np.array(draw(st.lists(HOSTILE, min_size=n, max_size=n)), dtype=np.float64)
    return found, n


def dense(features: FeatureMap, view: dict[str, np.ndarray], size: int) -> np.ndarray:
    """A matrix with one row each, put together from `encode`."""
    found = np.zeros((size, features.width))
    for row, (places, numbers) in enumerate(zip(*features.encode(view, size), strict=True)):
        assert len(set(places.tolist())) == len(places)
        found[row, places] = numbers
    return found


def by_hand(features: FeatureMap, view: dict[str, np.ndarray], row: int) -> list[float]:
    """One vector from the definition: ones, scaled values and looked-up numbers; a constant; scaled; shortened."""
    whole: list[float] = []
    for part in features.parts:
        if isinstance(part, Scaled):
            a, value = part.attribute, float(view[part.attribute.name][row])
            moved = 0.0 if math.isnan(value) else (min(max(value, a.lower), a.upper) - a.middle) / (a.width / 2)
            whole.append(min(max(moved, -1.0), 1.0))
        elif isinstance(part, (OneHot, Lookup)):
            code = int(part.partition.codes({n: c[row : row + 1] for n, c in view.items()})[0])
            known = code < part.partition.size
            if isinstance(part, OneHot):
                whole += [float(known and code == i) for i in range(part.partition.size)]
            else:
                whole.append(part.values[code] if known else 0.0)
    whole.append(1.0)
    longest = math.sqrt(math.fsum(part.largest**2 for part in features.parts) + 1)
    whole = [v / (features.divisor or longest) for v in whole]
    norm = math.hypot(*whole)
    return [v / max(norm, 1.0) for v in whole]


@settings(deadline=None)
@given(maps, views())
def test_no_row_is_longer_than_one(features: FeatureMap, rows: tuple[dict[str, np.ndarray], int]) -> None:
    _, numbers = features.encode(*rows)
    for row in numbers.tolist():
        assert math.fsum(v * v for v in row) <= 1.0
        assert math.fsum(map(abs, row)) <= features.longest_l1 * (1 + 1e-15)
        assert len(row) == features.entries


@settings(deadline=None)
@given(maps, views())
def test_a_vector_is_what_its_parts_say(features: FeatureMap, rows: tuple[dict[str, np.ndarray], int]) -> None:
    view, size = rows
    matrix = dense(features, view, size)
    for row in range(size):
        assert matrix[row] == pytest.approx(by_hand(features, view, row), rel=1e-11, abs=1e-14)
    assert features.starts[-1] == features.width - 1


@settings(deadline=None)
@given(maps, views(), st.integers(1, 3))
def test_margins_are_products_with_the_vectors(
    features: FeatureMap, rows: tuple[dict[str, np.ndarray], int], many: int
) -> None:
    view, size = rows
    w = np.random.default_rng(0).normal(size=(features.width, many))
    expected = dense(features, view, size) @ w
    assert features.margins(view, size, w) == pytest.approx(expected, abs=1e-12)
    assert features.margins(view, size, w[:, 0]) == pytest.approx(expected[:, 0], abs=1e-12)


@settings(deadline=None)
@given(maps, views())
def test_a_rows_vector_does_not_depend_on_the_rows_around_it(
    features: FeatureMap, rows: tuple[dict[str, np.ndarray], int]
) -> None:
    view, size = rows
    places, numbers = features.encode(view, size)
    for row in range(size):
        alone = features.encode({n: c[row : row + 1] for n, c in view.items()}, 1)
        assert (alone[0][0].tolist(), alone[1][0].tolist()) == (places[row].tolist(), numbers[row].tolist())


@settings(deadline=None)
@given(maps, views())
def test_rows_with_equal_telling_are_one(features: FeatureMap, rows: tuple[dict[str, np.ndarray], int]) -> None:
    view, size = rows
    matrix = dense(features, view, size)
    told = [part.telling(view) for part in features.parts]
    for i in range(size):
        for j in range(i):
            if all(t[i] == t[j] for t in told):
                assert matrix[i].tolist() == matrix[j].tolist()


@given(maps)
def test_without_a_divisor_the_longest_row_just_fits(features: FeatureMap) -> None:
    whole = FeatureMap(features.parts)
    assert whole.longest * whole.scale == pytest.approx(1)
    assert whole.longest * whole.scale < 1
    assert features.dense == all(part.width == 1 for part in features.parts)
    assert features.width == sum(part.width for part in features.parts) + 1


def test_the_longest_l1_norm_is_reached() -> None:
    features = FeatureMap([OneHot(CELLS[0]), OneHot(CELLS[1])])
    _, numbers = features.encode({"colour": np.array([0]), "size": np.array([3])}, 1)
    assert np.abs(numbers).sum() == pytest.approx(features.longest_l1)
    assert features.longest_l1 == pytest.approx(math.sqrt(3))
    unequal = FeatureMap([Lookup(CELLS[0], [3.0, 0.0, 0.0])])
    assert unequal.longest_l1 == pytest.approx(4 / math.sqrt(10))
    assert FeatureMap(unequal.parts, 0.1).longest_l1 == pytest.approx(math.sqrt(2))
    assert FeatureMap(unequal.parts, 100.0).longest_l1 == pytest.approx(0.04)


def test_what_cannot_be_looked_up_is_refused() -> None:
    for values in ([1.0], [1.0, 2.0, math.nan], [1.0, 2.0, math.inf], [1.0] * 4):
        with pytest.raises(ValueError, match="finite number a cell"):
            Lookup(CELLS[0], values)
    for divisor in (0.0, -1.0):
        with pytest.raises(ValueError, match="> 0"):
            FeatureMap([OneHot(CELLS[0])], divisor)


@pytest.mark.parametrize("part", [OneHot(CELLS[0]), Scaled(AGE), Lookup(CELLS[0], [1.0, -2.0, 0.5])])
def test_a_part_states_its_largest_entry(part: Part) -> None:
    view = {"colour": np.array([0, 1, 2, 3]), "age": np.array([-3.0, 97.0, 1e9, math.nan])}
    places, numbers = part.entry(view)
    assert np.abs(numbers).max() == part.largest
    assert numbers[3] == 0
    assert ((places >= 0) & (places < part.width)).all()


@settings(deadline=None, max_examples=40)
@given(st.lists(onehot | scaled, max_size=3), views(), st.integers(1, 40), st.floats(0.01, 50))
def test_fourier_features_are_all_of_one_length(
    parts: list[Part], rows: tuple[dict[str, np.ndarray], int], number: int, gamma: float
) -> None:
    features, (view, size) = Fourier(parts, number=number, gamma=gamma), rows
    _, numbers = features.encode(view, size)
    assert numbers.shape == (size, features.width) == (size, features.entries)
    for row in numbers.tolist():
        assert 1 - 1e-9 <= math.fsum(v * v for v in row) <= 1.0
        assert math.fsum(map(abs, row)) <= features.longest_l1
    w = np.random.default_rng(0).normal(size=features.width)
    assert features.margins(view, size, w) == pytest.approx(dense(features, view, size) @ w, abs=1e-9)


def test_products_of_fourier_features_approach_the_kernel() -> None:
    values = np.array([0.0, 30.0, 97.0])
    features = Fourier([Scaled(AGE)], number=20_000, gamma=0.7)
    vectors = features.encode({"age": values}, 3)[1] / features.scale
    scaled = (values - AGE.middle) / (AGE.width / 2)
    kernel = np.exp(-0.7 * (scaled[:, None] - scaled[None, :]) ** 2)
    assert vectors @ vectors.T - 1 == pytest.approx(kernel, abs=5.5 / math.sqrt(20_000))
    with pytest.raises(ValueError, match="no divisor"):
        Fourier([Scaled(AGE)], 1.0)
