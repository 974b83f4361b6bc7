"""The exact audit, under every adjacency that a component claims."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from dpcore_testing.audit import NothingToAudit, Report, audit
from dpcore_testing.checks.base import Failed, Skipped, Subject, check, doing, plural
from dpcore_testing.checks.classifiers.cases import Case, planned

_ROOM = 1 + 1e-6


@check("classifier", "mechanism", "sensitivity")
def audited(subject: Subject) -> str:
    """No pair of neighbouring tables shows more privacy loss than is charged, and nothing else tells them apart."""
    found = subject.factory
    if found.guarantee == "none":
        raise Skipped("it promises nothing: `guarantee` is none.")
    variants = list(_variants(subject)) if subject.row.kind == "classifier" else []
    seconds = subject.seconds / (1 + len(variants))
    reports = _audit(subject, seconds)
    for case in variants:
        more = {"adjacency": case.adjacency, "parameters": case.parameters, "schema": case.schema}
        reports += _audit(subject, seconds, case, **more)
    share = max(report.loss / report.charged for report in reports)
    many = plural(sum(report.transcripts for report in reports), "transcript")
    return f"{many}, the largest loss is {share:.4g} of what is charged"


def _variants(subject: Subject) -> Iterator[Case]:
    """Every other choice of one parameter, on the first schema where it promises something."""
    seen: list[tuple[dict[str, object], str]] = []
    for case, plan in planned(subject):
        key = (dict(case.parameters), case.adjacency)
        if len(case.parameters) == 1 and key not in seen and math.isfinite(plan.total[0]):
            seen.append(key)
            yield case


def _audit(subject: Subject, seconds: float, case: Case | None = None, **more: Any) -> list[Report]:
    """What an audit reports, where none of it is wrong."""
    special = f"{case.words}: " if case else ""
    with doing(f"audited, {case.words}" if case else "audited"):
        try:
            reports = audit(
                subject.name,
                kind=subject.row.kind,
                seconds=seconds,
                seed=subject.seed,
                registry=subject.registry,
                **more,
            )
        except NothingToAudit as reason:
            raise Skipped(str(reason)) from None
    for report in reports:
        if report.verdict != "ok" and not _as_published(subject, report, case):
            raise Failed(special + in_words(report))
    return reports


def _as_published(subject: Subject, report: Report, case: Case | None) -> bool:
    """Whether the loss is only more than was asked for, of a procedure whose plan charges it and warns of it."""
    warned = any(plan.guarantee.note for other, plan in planned(subject) if other is case) if case else False
    return warned and report.verdict == "LEAKS" and report.loss <= report.charged * _ROOM


def in_words(report: Report) -> str:
    """A finding in one line."""
    where = f"{report.adjacency}, {report.words}" + (f"; {report.case}" if report.case else "")
    if report.verdict == "diverged":
        return f"{report.what} differs between neighbours: {report.detail} ({where})"
    return f"a loss of {report.loss:.4g} where epsilon = {report.charged:.4g} is charged ({where})"
