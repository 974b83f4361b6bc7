"""The released model gives probabilities for any row whatever, and survives its file."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.errors import InputError
from dpcore.losses import HuberHinge, Logistic
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import Rows
from dpcore_svm.encoding import Encoding
from dpcore_svm.model import SvmModel, log_odds

COLOUR, SIZE = Nominal("colour", ("red", "blue"), missing=True), Numeric("size", 0.0, 10.0)


def model(loss: str, classes: int, waves: int = 0) -> SvmModel:
    schema = Schema((COLOUR, SIZE), Nominal("class", tuple("abcd"[:classes])))
    encoding = Encoding("bins", 4, waves)
    problems = 1 if classes == 2 else classes
    weights = np.random.default_rng(0).normal(0, 3, (encoding.features(schema).width, problems))
    return SvmModel(schema, encoding, loss, 0.5, weights)


def rows(schema: Schema, n: int = 60) -> Rows:
    rng = np.random.default_rng(1)
    size = np.where(rng.random(n) < 0.2, np.nan, rng.uniform(-5, 50, n))
    return Rows(schema, {"colour": rng.integers(0, 4, n).astype(np.uint8), "size": size}, n)


@pytest.mark.parametrize("loss", ["huber", "logistic", "multinomial"])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("waves", [0, 5])
def test_every_row_gets_probabilities_and_the_file_gives_the_same_model(loss: str, classes: int, waves: int) -> None:
    made = model(loss, classes, waves)
    test = rows(made.schema)
    log = made.log_proba(test)
    assert np.isfinite(log).all()
    assert np.exp(log).sum(axis=1) == pytest.approx(1.0)
    again = SvmModel.from_json(made.schema, json.loads(json.dumps(made.to_json(), allow_nan=False)))
    assert again.to_json() == made.to_json()
    assert (again.log_proba(test) == log).all()
    margins = made.features.margins(test.columns, test.size, made.weights)
    best = (margins[:, 0] > 0).astype(int) if classes == 2 else margins.argmax(axis=1)
    assert (log.argmax(axis=1) == best).all()


@pytest.mark.parametrize(
    "change",
    [
        {"loss": "hinge"},
        {"h": 0.0},
        {"h": float("nan")},
        {"weights": [[1.0]]},
        {"weights": None},
        {"weights": [[float("inf")] * 8]},
        {"bins": 9},
    ],
)
def test_a_damaged_file_is_refused(change: dict[str, Any]) -> None:
    made = model("huber", 2)
    with pytest.raises((InputError, ValueError, TypeError)):
        SvmModel.from_json(made.schema, {**made.to_json(), **change})


losses = st.one_of(st.just(Logistic()), st.builds(HuberHinge, st.floats(0.01, 5)))


@given(losses, st.floats(-1e6, 1e6), st.floats(0, 1e6))
def test_log_odds_are_odd_finite_and_rise_with_the_margin(loss: Any, margin: float, more: float) -> None:
    low, high = log_odds(loss, np.array([margin, margin + more]))
    assert np.isfinite([low, high]).all()
    assert low <= high + 1e-9 * abs(high)
    assert log_odds(loss, np.array([-margin]))[0] == pytest.approx(-low, rel=1e-6, abs=1e-9)


def test_the_logistic_loss_has_the_logistic_link() -> None:
    margins = np.linspace(-700, 700, 9)
    assert log_odds(Logistic(), margins) == pytest.approx(margins)


@given(st.floats(0.05, 0.95))
def test_the_link_says_which_chance_has_its_best_margin_there(chance: float) -> None:
    """p l(m) + (1 − p) l(−m) is least where the link's hinge part says p; by a search over margins."""
    loss, margins = HuberHinge(1.0), np.linspace(-2, 2, 40_001)
    risk = chance * loss.value(margins) + (1 - chance) * loss.value(-margins)
    best = margins[risk.argmin()]
    link = 1 / (1 + np.exp(-log_odds(loss, np.array([best]))[0]))
    assert link == pytest.approx(0.9 * chance + 0.1 / (1 + np.exp(-best)), abs=1e-3)
