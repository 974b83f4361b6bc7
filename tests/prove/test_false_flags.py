"""The statistical audit finds what is wrong, and hardly ever what is right.

False alarms: the audit promises at most one in a thousand (its bounds hold with confidence 0.999). Each claim here is
made with confidence 1 − 1e−6, by Clopper-Pearson.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from dpcore_testing.blackbox import CONFIDENCE, clopper_pearson, lower_bound

pytestmark = pytest.mark.prove
AUDITS = int(os.environ.get("DPCORE_PROVE_AUDITS", "10000"))
POWER_AUDITS = 1500
"""So many that 1500 flags show a power above 0.99."""
UNSURE = 1e-6


@pytest.fixture(scope="module")
def power() -> ModuleType:
    """The benchmark, whose cases these are."""
    path = Path(__file__).parents[2] / "benchmarks" / "audit_power.py"
    spec = importlib.util.spec_from_file_location("audit_power", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_half_the_noise_is_flagged_in_99_of_100_audits(power: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    (case,) = [case for case in power.SCALARS if case.name == "half the noise"]
    rng, trials = np.random.default_rng(1), 100_000
    flags = 0
    for _ in range(POWER_AUDITS):
        flags += lower_bound(case.draw(rng, 0, trials), case.draw(rng, 1, trials), rng=rng).epsilon > case.claimed
    low, _ = clopper_pearson(flags, POWER_AUDITS, UNSURE)
    with capsys.disabled():
        print(f"\nhalf the noise, {trials} draws a side: {flags} flags in {POWER_AUDITS} audits, power above {low:.4f}")
    assert low >= 0.99


def test_correct_mechanisms_are_flagged_less_often_than_is_stated(
    power: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = power.false_alarms(AUDITS, 2000, np.random.default_rng(2))
    low, high = clopper_pearson(flags, AUDITS, UNSURE)
    with capsys.disabled():
        print(f"\n{flags} false flags in {AUDITS} audits of correct mechanisms, a rate below {high:.5f}")
    assert low <= 1 - CONFIDENCE
    assert flags <= 3
