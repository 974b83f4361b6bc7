"""Noise that is projected onto what sums to zero has the density that its text says."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.integrate import quad

from dpcore_mechanisms.cover import projected_laplace


@given(arrays(np.float64, st.tuples(st.integers(2, 5), st.just(1)), elements=st.floats(-20, 20)))
def test_the_density_is_the_integral_over_what_was_taken_away(vector: np.ndarray) -> None:
    z = vector - vector.mean()
    breaks = sorted(-z[:, 0])
    ends = [breaks[0] - 60, *breaks, breaks[-1] + 60]
    area = sum(
        quad(lambda t: np.exp(-np.abs(z + t).sum()), a, b, epsabs=0, epsrel=1e-10)[0]
        for a, b in pairwise(ends)
        if b > a
    )
    assert projected_laplace(z) == pytest.approx(np.log(area), abs=1e-5)


@given(arrays(np.float64, (4, 3), elements=st.floats(-50, 50)), arrays(np.float64, (4, 3), elements=st.floats(-2, 2)))
def test_moving_it_costs_no_more_than_the_l1_norm_before_projection(noise: np.ndarray, moved: np.ndarray) -> None:
    z, v = noise - noise.mean(axis=0), moved - moved.mean(axis=0)
    assert abs(projected_laplace(z + v) - projected_laplace(z)) <= np.abs(moved).sum() + 1e-9
