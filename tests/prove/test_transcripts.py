"""No false flag in ten thousand audited transcripts of correct components, and what they came to."""

from __future__ import annotations

import pytest

from dpcore import load_plugins
from dpcore_testing.audit import NothingToAudit, Report, audit
from dpcore_testing.pairs import schemas
from dpcore_testing.subject import subjects

pytestmark = pytest.mark.prove
ASKED = 10_000
BUDGETS = ((1.0, 0.0), (0.1, 1e-6))


def test_ten_thousand_transcripts_of_correct_components_raise_no_flag(capsys: pytest.CaptureFixture[str]) -> None:
    registry, found, silent = load_plugins(), list[Report](), set[str]()
    rounds = 0
    while sum(report.transcripts for report in found) < ASKED or rounds == 0:
        rounds += 1
        for kind, name, parameters in subjects(registry):
            # the further settings of a learner once, on the schema that has attributes of every kind
            schema = schemas()["mixed"] if parameters else None
            for epsilon, delta in BUDGETS[:1] if parameters else BUDGETS:
                budget = {"epsilon": epsilon, "delta": delta}
                options = {"kind": kind, "parameters": parameters, "seconds": 1.0, "seed": rounds, "registry": registry}
                try:
                    found += audit(name, schema=schema, **options, **budget)
                except NothingToAudit:  # it answers only what learners ask: the learners that use it are audited
                    silent.add(f"{kind} {name}")
    with capsys.disabled():
        print(f"\n{sum(r.transcripts for r in found)} transcripts of {sum(r.pairs for r in found)} pairs of tables")
        print(f"{'':28}{'':13}{'epsilon':>8}{'delta':>8}{'charged':>10}{'witnessed':>10}{'transcripts':>12}")
        for r in found:
            figures = f"{r.epsilon:8g}{r.delta:8g}{r.charged:10.5f}{r.loss:10.5f}{r.transcripts:12}"
            print(f"{r.title:28}{r.adjacency:13}{figures}")
        for name in sorted(silent):
            print(f"{name}: only through learners")
    assert [report for report in found if report.verdict != "ok"] == []
