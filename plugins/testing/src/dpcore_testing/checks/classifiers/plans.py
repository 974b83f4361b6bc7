"""Checks of what a learner plans: from the schema alone, within the budget, and refused before anything is spent."""

from __future__ import annotations

import json

from dpcore.errors import BudgetError, CapabilityError, PluginError
from dpcore_testing.checks.base import Failed, Subject, check, doing, plural
from dpcore_testing.checks.classifiers.cases import EPSILON, every_case, planned, rows
from dpcore_testing.checks.classifiers.fitting import fit


@check("classifier")
def plans_without_data(subject: Subject) -> str:
    """It plans from the schema alone, the same plan each time, within the epsilon asked unless its warning says so."""
    found = planned(subject, delta=True)
    for case, plan in found:
        with doing(f"planned for the {case.words}"):
            epsilon, delta = plan.total
            warned = plan.guarantee.note
            data, again = json.dumps(plan.to_json(), allow_nan=False), json.dumps(case.plan().to_json())
        if not plan.within_budget and not warned:
            raise Failed(
                f"{case.words}: the steps cost epsilon = {epsilon:.6g} where {EPSILON:g} is asked, and `warning` "
                "says nothing."
            )
        if delta > case.delta:
            raise Failed(f"{case.words}: the plan costs delta = {delta:g} where {case.delta:g} is asked.")
        if data != again:
            raise Failed(f"{case.words}: planned twice, it makes two plans.")
        _check_cells(subject, case.words, [p.step.query.cells for p in plan.steps])
    overspending = {case.words for case, plan in found if not plan.within_budget}
    more = f", {len(overspending)} of published procedures that say what they overspend" if overspending else ""
    return f"{plural(len(found), 'plan')}{more}"


def _check_cells(subject: Subject, words: str, cells: list[int]) -> None:
    most = subject.factory.capabilities.cells
    if most is not None and max(cells, default=0) > most:
        raise Failed(f"{words}: a query of {max(cells)} cells, where `capabilities` allows {most}.")


@check("classifier")
def asks_what_it_planned(subject: Subject) -> str:
    """What it asks at run time is in the plan, no more often and no larger than planned."""
    draw, asked, silent = subject.rng("asks_what_it_planned"), 0, set()
    for case, plan in planned(subject, delta=True):
        used: set[str] = set()
        for size in (0, 60):
            seen = fit(plan, rows(case.schema, size, draw), subject.seed)
            if isinstance(seen.error, (PluginError, BudgetError)):
                raise Failed(f"{case.words}: {seen.error}")
            with doing(f"fitted to {plural(size, 'row')}, {case.words}"):
                seen.learnt()
            used |= {a.step for a in seen.answered}
            asked += len(seen.answered)
            if seen.spent[0] > plan.total[0] * (1 + 1e-9):
                raise Failed(f"{case.words}: it spends epsilon = {seen.spent[0]:.6g} of a plan of {plan.total[0]:.6g}.")
        silent |= {p.step.name for p in plan.steps} - used
    unused = f"; planned and paid for, but not asked here: {', '.join(sorted(silent))}" if silent else ""
    return f"{plural(asked, 'question')}{unused}"


@check("classifier")
def refuses_before_it_spends(subject: Subject) -> str:
    """A schema that it cannot work with is refused when the plan is made, by a CapabilityError with the reason."""
    draw, refused, able = subject.rng("refuses_before_it_spends"), 0, 0
    for case in every_case(subject):
        with doing(f"planned for the {case.words}"):
            try:
                plan = case.plan()
            except CapabilityError as error:
                if len(str(error).split()) < 3:
                    raise Failed(f"{case.words}: refused without a reason.") from None
                refused += 1
                continue
        able += 1
        seen = fit(plan, rows(case.schema, 30, draw), subject.seed)
        if isinstance(seen.error, CapabilityError):
            spent = seen.events.count("charge")
            raise Failed(
                f"{case.words}: the plan is made, and the fit then refuses the schema after {plural(spent, 'charge')}: "
                f"{seen.error} Say so in `capabilities` or `check`."
            )
    _check_claims(subject)
    return f"{plural(able, 'case')} planned, {refused} refused"


def _check_claims(subject: Subject) -> None:
    """What `capabilities` denies must be refused, even where the learner has its own `check`."""
    can = subject.factory.capabilities
    for case in every_case(subject):
        schema = case.schema
        denied = {
            "numeric attributes": not can.numeric and bool(schema.numeric()),
            "nominal attributes": not can.nominal and bool(schema.nominal()),
            "more than two classes": not can.multiclass and len(schema.classes) > 2,
            "missing values": not can.missing and any(a.missing for a in schema.attributes),
        }
        for what, lacking in denied.items():
            if not lacking:
                continue
            try:
                case.plan()
            except CapabilityError:
                continue
            raise Failed(f"{case.words}: `capabilities` denies {what}, and a plan is made all the same.")
