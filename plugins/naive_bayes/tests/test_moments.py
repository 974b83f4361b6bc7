"""Noisy sums make normal densities: true ones as epsilon grows, harmless ones where there is only noise."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

from dpcore.planning import make_plan
from dpcore.release import fit
from dpcore.schema import Nominal, Numeric, Schema
from dpcore.table import MemoryTable
from dpcore_naive_bayes.model import NormalPart

X, Y = Numeric("x", -4.0, 9.0), Numeric("y", 100.0, 101.0, missing=True)
COLOUR = Nominal("colour", ("red", "blue"))
CLASS = Nominal("class", ("a", "b"))
SCHEMA = Schema((X, Y, COLOUR), CLASS)
MOMENTS = {"model": "moments"}


def sample(rows: Any, n: int, seed: int) -> Any:
    rng = np.random.default_rng(seed)
    c = (rng.random(n) < 0.4).astype(np.uint8)
    x = np.clip(rng.normal(1 + 2.5 * c, 1.2), -4, 9)
    y = np.clip(rng.normal(100.4 + 0.2 * c, 0.15), 100, 101)
    y[rng.random(n) < np.where(c == 1, 0.3, 0.1)] = np.nan
    return rows(SCHEMA, x, y, (rng.random(n) < 0.2 + 0.5 * c).astype(np.uint8), c)


def parts(release: Any) -> dict[str, Any]:
    return {p.attribute.name: p for p in release.model.parts if isinstance(p, NormalPart)}


def test_as_epsilon_grows_mean_deviation_prior_and_missing_rates_become_the_true_ones(registry: Any, rows: Any) -> None:
    train = sample(rows, 4000, 0)
    settings = {**MOMENTS, "smoothing": 1e-9}
    plan = make_plan("naive_bayes", SCHEMA, epsilon=1e9, parameters=settings, registry=registry)
    release = fit(plan, MemoryTable(train), random_state=0)
    found, c = parts(release), train.columns
    for name in ("x", "y"):
        for k in (0, 1):
            values = c[name][c["class"] == k]
            assert found[name].mean[k] == pytest.approx(np.nanmean(values), abs=1e-5)
            assert found[name].deviation[k] == pytest.approx(np.nanstd(values), rel=1e-5)
    lacking = [np.isnan(c["y"][c["class"] == k]).mean() for k in (0, 1)]
    assert np.exp(found["y"].missing[0]) == pytest.approx(lacking, abs=1e-6)
    assert np.exp(found["y"].missing[1]) == pytest.approx(1 - np.array(lacking), abs=1e-6)
    assert np.exp(release.model.prior) == pytest.approx(np.bincount(c["class"]) / 4000)


def test_as_epsilon_grows_predictions_are_those_of_gaussian_naive_bayes(registry: Any, rows: Any) -> None:
    schema = Schema((X, Numeric("z", -6.0, 6.0)), CLASS)
    train, test = (sample(rows, n, s).columns for n, s in ((3000, 1), (2000, 2)))
    z = [np.clip(np.random.default_rng(9).normal(t["class"], 1.0), -6, 6) for t in (train, test)]
    held = rows(schema, test["x"], z[1])
    peer = GaussianNB(var_smoothing=0).fit(np.column_stack([train["x"], z[0]]), train["class"])
    expected = peer.predict(np.column_stack([test["x"], z[1]]))
    for truncated, least in ((False, 0.9999), (True, 0.99)):
        settings = {**MOMENTS, "truncated": truncated}
        plan = make_plan("naive_bayes", schema, epsilon=1e9, parameters=settings, registry=registry)
        release = fit(plan, MemoryTable(rows(schema, train["x"], z[0], train["class"])), random_state=0)
        assert (release.predict(held) == expected).mean() >= least


@pytest.mark.parametrize("epsilon", [1e-6, 0.01, 1.0])
@pytest.mark.parametrize("n", [0, 1, 300])
def test_whatever_the_noise_means_lie_in_bounds_and_no_density_is_a_spike(
    registry: Any, rows: Any, epsilon: float, n: int
) -> None:
    plan = make_plan("naive_bayes", SCHEMA, epsilon=epsilon, parameters=MOMENTS, registry=registry)
    for seed in range(20):
        for part in parts(fit(plan, MemoryTable(sample(rows, n, 3)), random_state=seed)).values():
            a = part.attribute
            assert ((a.lower <= part.mean) & (part.mean <= a.upper)).all()
            assert (part.deviation >= 0.999e-3 * a.width).all()
            assert (part.deviation <= a.width / 2 * 1.001).all()
            assert epsilon > 0.1 or n > 1 or (part.deviation > 0.3 * a.width).all()


@pytest.mark.parametrize("adjacency", ["add-remove", "replace-one"])
def test_the_losses_of_all_steps_add_up_to_epsilon_on_no_neighbours_to_more(
    registry: Any, rows: Any, adjacency: str
) -> None:
    nan = float("nan")
    values = [(-4.0, 100.0, 0, 0), (9.0, 101.0, 1, 1), (9.0, nan, 0, 1), (2.5, 100.5, 0, 0), (99.0, 100.0, 1, 0)]
    plan = make_plan("naive_bayes", SCHEMA, epsilon=0.6, adjacency=adjacency, parameters=MOMENTS, registry=registry)

    def answers(chosen: Any) -> list[Any]:
        made = np.array([values[i] for i in chosen], dtype=np.float64).reshape(-1, 4)
        codes = [made[:, i] if i < 2 else made[:, i].astype(np.uint8) for i in range(4)]
        table = MemoryTable(rows(SCHEMA, *codes))
        return [table.answer(p.step.query) * p.step.query.grid for p in plan.steps]

    base = [c for n in range(3) for c in itertools.combinations_with_replacement(range(5), n)]
    worst = 0.0
    for chosen in base:
        for new in range(5):
            others = [(*chosen, new)]
            if adjacency == "replace-one":
                others = [(*chosen[:i], *chosen[i + 1 :], new) for i in range(len(chosen))]
            for other in others:
                losses = [
                    np.abs(a - b).sum() / p.calibration.scale
                    for a, b, p in zip(answers(chosen), answers(other), plan.steps, strict=True)
                ]
                worst = max(worst, float(sum(losses)))
    assert 0.999 * 0.6 <= worst <= 0.6


def test_each_sum_is_asked_with_the_public_sensitivity(registry: Any) -> None:
    for adjacency, factor in (("add-remove", 1), ("replace-one", 2)):
        plan = make_plan("naive_bayes", SCHEMA, epsilon=1.0, adjacency=adjacency, parameters=MOMENTS, registry=registry)
        found = {p.step.name: p.bound.scalar() for p in plan.steps}
        assert set(found) == {
            "(class)", "colour", "x: sum", "x: squares", "y: known", "y: sum", "y: squares",
        }  # fmt: skip
        assert found["(class)"] == found["colour"] == found["y: known"] == factor
        assert found["x: sum"] == pytest.approx(factor * 13 / 2)
        assert found["x: squares"] == pytest.approx(factor * 13**2 / 4)
        assert found["y: sum"] == pytest.approx(factor / 2)
        assert found["y: squares"] == pytest.approx(factor / 4)
