"""The default choices depend on public facts and noisy sizes, and go the right way."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore_svm import rules

details = st.floats(0, 1e12)


@given(details, st.floats(1, 10))
def test_more_detail_never_means_fewer_bins_or_stronger_regularisation(nu: float, times: float) -> None:
    assert rules.FEWEST <= rules.bins(nu) <= rules.bins(nu * times) <= rules.MOST
    assert rules.strength(14, nu) >= rules.strength(14, nu * times)


@given(st.integers(1, 500), details)
def test_the_strength_stays_within_ten_times_its_smallest_value(parts: int, nu: float) -> None:
    least = rules.strength(parts, math.inf)
    assert least <= rules.strength(parts, nu) <= 10 * least * (1 + 1e-12)
    assert rules.strength_centred(parts) > least


@given(st.lists(st.floats(-1e15, 1e15), min_size=2, max_size=10), st.floats(0, 1e12))
def test_noisy_sizes_never_make_a_negative_number_of_rows(sizes: list[float], scale: float) -> None:
    assert rules.rows(np.array(sizes), scale) >= 0


def test_detail_is_rows_for_each_unit_of_noise() -> None:
    assert rules.detail(0.5, 3000, 14) == pytest.approx(100)
