"""A run's noise comes from what defines the run, and from nothing else."""

from __future__ import annotations

from typing import Any

import attrs
import pytest

from dpcore_experiments.keys import Key

KEY = Key("00ff", 0, "{}", 0.1, 0.0, "add-remove", 10, 3, 7, 1, 1.0, "dpcore 1")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("data_hash", "01ff"), ("rows", 5), ("settings", '{"a":1}'), ("epsilon", 0.1000000000000001), ("delta", 1e-9),
        ("adjacency", "replace-one"), ("folds", 9), ("fold", 4), ("repeat", 8), ("seed", 2),
    ],
)  # fmt: skip
def test_every_part_of_a_run_changes_its_noise(field: str, value: Any) -> None:
    assert attrs.evolve(KEY, **{field: value}).noise_seed != KEY.noise_seed


def test_a_newer_version_and_another_noiseless_plan_draw_the_same_noise() -> None:
    assert attrs.evolve(KEY, version="dpcore 2", exact_epsilon=2.0).noise_seed == KEY.noise_seed


def test_seeds_stay_what_they_were() -> None:
    assert KEY.noise_seed == 242848272102909629134160557820101420624
