"""No false flag in ten thousand audited transcripts of correct components, and what they came to."""

from __future__ import annotations

import pytest

from dpcore import load_plugins
from dpcore_testing.audit import Report, audit
from dpcore_testing.subject import subjects

pytestmark = pytest.mark.prove
ASKED = 10_000


def test_ten_thousand_transcripts_of_correct_components_raise_no_flag() -> None:
    registry, found = load_plugins(), list[Report]()
    rounds = 0
    while sum(report.transcripts for report in found) < ASKED or rounds == 0:
        rounds += 1
        for kind, name, parameters in subjects(registry):
            for epsilon, delta in ((1.0, 0.0), (0.1, 1e-6)):
                found += audit(
                    name,
                    kind=kind,
                    parameters=parameters,
                    epsilon=epsilon,
                    delta=delta,
                    seconds=1.0,
                    seed=rounds,
                    registry=registry,
                )
    print(f"\n{sum(r.transcripts for r in found)} transcripts of {sum(r.pairs for r in found)} pairs")
    for report in found:
        print(f"{report.title:28}{report.adjacency:13}{report.epsilon:5g}{report.delta:8g}{report.loss:10.5f}")
    assert [report for report in found if report.verdict != "ok"] == []
