"""Losses have the slopes and curvatures that they state, and those stay within the bounds that privacy rests on."""

from __future__ import annotations

import mpmath  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from dpcore.losses import HuberHinge, Logistic, Loss

LOSSES = [Logistic(), HuberHinge(), HuberHinge(h=0.5), HuberHinge(h=1e-3)]
MARGINS = hnp.arrays(np.float64, st.integers(1, 20), elements=st.floats(-1e6, 1e6) | st.floats(-3, 3))
COUNTS = st.integers(0, 10**6).map(float)


@pytest.mark.parametrize("loss", LOSSES)
@given(MARGINS)
def test_the_slope_lies_between_minus_one_and_zero_and_the_curvature_within_its_bound(
    loss: Loss, margin: np.ndarray
) -> None:
    slope, curve = loss.slope(margin), loss.curve(margin)
    assert ((slope >= -1) & (slope <= 0)).all()
    assert ((curve >= 0) & (curve <= loss.curvature)).all()
    assert (loss.value(margin) >= 0).all()


@pytest.mark.parametrize("loss", LOSSES)
@given(st.floats(-20, 20) | st.floats(0.9, 1.1), st.floats(1e-6, 30))
def test_the_slope_rises_no_faster_than_the_curvature_allows(loss: Loss, at: float, step: float) -> None:
    low, high = loss.slope(np.array([at, at + step]))
    assert -1e-12 <= high - low <= loss.curvature * step * (1 + 1e-6) + 1e-12


@pytest.mark.parametrize("loss", LOSSES)
@given(st.floats(-30, 30) | st.floats(0.4, 1.6))
def test_slope_and_curvature_are_the_derivatives(loss: Loss, at: float) -> None:
    step = 1e-6
    margin = np.array([at - step, at, at + step])
    value, slope = loss.value(margin), loss.slope(margin)
    assert slope[1] == pytest.approx((value[2] - value[0]) / (2 * step), abs=1e-6 + loss.curvature * step)
    h = getattr(loss, "h", None)
    if h is None or abs(abs(1 - at) - h) > 2 * step:  # at a corner of the slope there is no curvature
        assert loss.curve(margin)[1] == pytest.approx((slope[2] - slope[0]) / (2 * step), abs=1e-6 * loss.curvature)


@pytest.mark.parametrize("margin", [-800.0, -40.0, -1.0, -1e-9, 0.0, 0.3, 5.0, 37.0, 800.0])
def test_the_logistic_loss_keeps_its_digits(margin: float) -> None:
    with mpmath.workdps(400):
        e = mpmath.exp(-mpmath.mpf(margin))
        exact = float(mpmath.log(1 + e)), float(-e / (1 + e))
    at = np.array([margin])
    assert Logistic().value(at)[0] == pytest.approx(exact[0], rel=1e-14)
    assert Logistic().slope(at)[0] == pytest.approx(exact[1], abs=2.0**-53)


@pytest.mark.parametrize("h", [1e-3, 0.05, 0.5])
def test_the_huber_hinge_is_the_hinge_outside_its_corner(h: float) -> None:
    margin = np.array([-5.0, 0.0, 1 - h, 1 + h, 2 + h, 9.0])
    assert HuberHinge(h).value(margin) == pytest.approx(np.maximum(0.0, 1 - margin), abs=1e-15)
    middle = HuberHinge(h).value(np.array([1.0]))[0]
    assert middle == pytest.approx(h / 4)  # half of the corner's rise, h, on half of its width
    assert HuberHinge(h).curvature == pytest.approx(1 / (2 * h))


@pytest.mark.parametrize("loss", LOSSES)
@given(MARGINS, COUNTS, COUNTS)
def test_the_pull_of_many_rows_is_the_sum_of_their_slopes(
    loss: Loss, margin: np.ndarray, ours: float, others: float
) -> None:
    a, b = np.full(margin.shape, ours), np.full(margin.shape, others)
    expected = ours * loss.slope(margin) - others * loss.slope(-margin)
    assert loss.pull(margin, a, b) == pytest.approx(expected, abs=8 * 2.0**-53 * (ours + others))


def test_a_corner_of_no_width_is_refused() -> None:
    for h in (0.0, -1.0):
        with pytest.raises(ValueError, match="> 0"):
            HuberHinge(h=h)
