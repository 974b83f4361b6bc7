"""Checks of a fit: charged before drawn, stopped by a refusal, and nothing known of the rows but the noisy answers."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np

from dpcore.errors import BudgetError
from dpcore.planned import Plan
from dpcore.table import Rows
from dpcore_testing.checks.base import Failed, Subject, check, doing, plural
from dpcore_testing.checks.classifiers.cases import Case, planned, rows
from dpcore_testing.checks.classifiers.fitting import REFUSAL, Fit, fit, same, text
from dpcore_testing.pairs import probe_rows

_REFUSALS = 8


def fitted(subject: Subject, purpose: str, size: int = 60) -> Iterator[tuple[Case, Plan, Rows, Fit]]:
    """Every case with a table and a fit that ended in a model."""
    draw = subject.rng(purpose)
    for case, plan in planned(subject):
        table = rows(case.schema, size, draw)
        seen = fit(plan, table, subject.seed)
        with doing(f"fitted to {plural(size, 'row')}, {case.words}"):
            seen.learnt()
        yield case, plan, table, seen


@check("classifier")
def charges_before_it_draws(subject: Subject) -> str:
    """Every noisy answer is paid for before it is drawn, and the rows are read by the curator alone."""
    releases = 0
    for case, _, _, seen in fitted(subject, "charges_before_it_draws"):
        paid = 0
        for event in seen.events:
            paid += 1 if event == "charge" else -1
            if paid < 0:
                raise Failed(f"{case.words}: a noisy answer is drawn before it is charged.")
        if seen.touched:
            names = ", ".join(sorted(set(seen.touched)))
            raise Failed(f"{case.words}: the learner reads the table without asking the curator ({names}).")
        releases += len(seen.answered)
    if not releases:
        raise Failed("it never asks anything: its models cannot depend on the rows.")
    return plural(releases, "release")


@check("classifier")
def refuses_to_overspend(subject: Subject) -> str:
    """Whichever charge is refused, the BudgetError leaves the fit and nothing more is released."""
    refusals = 0
    for case, plan, table, whole in fitted(subject, "refuses_to_overspend"):
        charges = whole.events.count("charge")
        for refuse in sorted({*range(min(charges, _REFUSALS // 2)), *range(max(0, charges - _REFUSALS // 2), charges)}):
            seen = fit(plan, table, subject.seed, refuse=refuse)
            refusals += 1
            where = f"{case.words}: charge {refuse + 1} of {charges} is refused"
            if not (isinstance(seen.error, BudgetError) and REFUSAL in str(seen.error)):
                ended = "a model comes out" if seen.error is None else f"{type(seen.error).__name__} comes out"
                raise Failed(f"{where}, and {ended} in place of the BudgetError.")
            after = seen.events[seen.events.index("refusal") + 1 :]
            if after:
                raise Failed(f"{where}, and it asks again: {', '.join(after)}.")
    return plural(refusals, "refusal")


@check("classifier")
def repeats_itself(subject: Subject) -> str:
    """The same random_state gives a byte-equal model, whatever the state of other random generators."""
    models = 0
    for case, plan, table, first in fitted(subject, "repeats_itself"):
        np.random.seed(1)  # noqa: NPY002
        random.seed(1)
        again = fit(plan, table, subject.seed)
        if text(first.learnt()) != text(again.learnt()):
            raise Failed(f"{case.words}: two fits with one random_state differ: it draws from elsewhere.")
        models += 1
    return plural(models, "model")


@check("classifier")
def knows_only_what_was_released(subject: Subject) -> str:
    """The same noisy answers make the same questions and a byte-equal model on quite different tables."""
    draw, models = subject.rng("other tables"), 0
    for case, plan, _, first in fitted(subject, "knows_only_what_was_released"):
        model, probe = first.learnt(), probe_rows(case.schema)
        one_class = rows(case.schema, 7, draw, only_class=0)
        others = {"no rows": rows(case.schema, 0, draw), "7 rows of one class": one_class}
        others["250 other rows"] = rows(case.schema, 250, draw)
        for words, table in others.items():
            seen = fit(plan, table, subject.seed, forced=first.answered)
            where = f"{case.words}, {words}"
            if seen.differs:
                raise Failed(f"{where}: {seen.differs}.")
            with doing(f"fitted to {words} with the same answers, {case.words}"):
                other = seen.learnt()
            if len(seen.answered) < len(first.answered):
                raise Failed(f"{where}: {first.answered[len(seen.answered)].step!r} is asked on one table only.")
            if text(other) != text(model):
                raise Failed(f"{where}: equal answers make another model: it holds what was not released.")
            with doing(f"predicting, {where}"):
                if not same(model.log_proba(probe), other.log_proba(probe)):
                    raise Failed(f"{where}: equal answers make a model that predicts otherwise.")
            models += 1
    return plural(models, "forced fit")
