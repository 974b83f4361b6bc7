"""The pilot finds the telling pair, and its draws are never counted.

False alarms: at most 1e-3 a bound; seeds are fixed.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from dpcore.errors import InputError
from dpcore_testing.blackbox import Witness
from dpcore_testing.features import Outcome, attempt
from dpcore_testing.trials import SECOND, Case, Divergence, Draw, audit_cases, audit_pair, finding


def laplace(shift: float, seed: int, asked: Counter[int] | None = None) -> Draw:
    rng = np.random.default_rng(seed)

    def draw(trials: int) -> Any:
        if asked is not None:
            asked[trials] += 1
        return shift + rng.laplace(size=trials)

    return draw


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def runs(fails: float, seed: int = 0) -> Draw:
    draw = np.random.default_rng(seed)

    def once() -> dict[str, float]:
        if draw.random() < fails:
            raise ValueError("an empty class")
        return {"mean": draw.normal()}

    def many(trials: int) -> list[Outcome]:
        return [attempt(once) for _ in range(trials)]

    return many


def test_the_pair_that_tells_most_is_chosen_and_bounded_with_fresh_draws() -> None:
    asked = Counter[int]()
    shifts = [0.0, 0.5, 1.0, 4.0, 0.2, 0.1, 0.0, 0.0]
    cases = [
        Case(f"moved by {shift}", laplace(0, i, asked), laplace(shift, 100 + i, asked))
        for i, shift in enumerate(shifts)
    ]
    worst, found = audit_cases(cases, 4000, rng=rng())
    assert worst.words == "moved by 4.0"
    assert isinstance(found, Witness)
    assert 3 < found.epsilon < 4
    assert found.trials == (2000, 2000)
    # the last draws are asked for once a side, apart from the pilot's
    assert asked[4000] == 2
    assert asked[SECOND] < 2 * len(cases)


def test_the_pilot_sees_what_numbers_tell_only_together() -> None:
    def bits(agree: float, seed: int) -> Draw:
        draw = np.random.default_rng(seed)

        def many(trials: int) -> Any:
            first = draw.random(trials) < 0.5
            return np.column_stack([first, first == (draw.random(trials) < agree)]).astype(float)

        return many

    cases = [Case(f"{agree}", bits(0.5, i), bits(agree, 100 + i)) for i, agree in enumerate([0.5, 0.6, 0.99, 0.4, 0.7])]
    worst, found = audit_cases(cases, 8000, rng=rng())
    assert worst.words == "0.99"
    assert isinstance(found, Witness)
    assert 2.5 < found.epsilon < np.log(0.5 / 0.01)


def test_the_only_case_needs_no_pilot() -> None:
    asked = Counter[int]()
    audit_cases([Case("one", laplace(0, 1, asked), laplace(1, 2, asked))], 1000, rng=rng())
    assert asked == {1000: 2}


def test_failing_on_one_side_only_diverges() -> None:
    found = audit_pair(runs(0), runs(1), 40, rng=rng())
    assert isinstance(found, Divergence)
    assert "fails on the second of the two, none on the other: ValueError: an empty class" in found.detail
    turned, found = audit_cases([Case("a pair", runs(1), runs(0))], 40, rng=rng())
    report = finding(
        turned, found, paid=1.0, start=0.0, name="n", kind="k", adjacency="a", epsilon=1, delta=0, charged=1
    )
    assert (report.verdict, report.what, report.words) == ("diverged", "error", "a pair")


def test_failing_on_both_sides_is_an_error_with_the_reason() -> None:
    with pytest.raises(InputError, match="on both of two neighbours: ValueError: an empty class"):
        audit_pair(runs(1), runs(1), 40, rng=rng())


def test_failing_now_and_then_is_an_outcome_like_others() -> None:
    found = audit_pair(runs(0.01, 1), runs(0.5, 2), 4000, rng=rng())
    assert isinstance(found, Witness)
    assert found.epsilon > 2


def test_a_loss_above_what_was_paid_leaks() -> None:
    case = Case("a pair", laplace(0, 1), laplace(2, 2), "numbers")
    found = audit_pair(case.left, case.right, 10_000, rng=rng())
    about = {"name": "n", "kind": "k", "adjacency": "a", "epsilon": 1.0, "delta": 0.0, "charged": 1.0}
    leaks, fine = (finding(case, found, paid=paid, start=0.0, **about) for paid in (1.0, 2.0))
    assert (leaks.verdict, fine.verdict) == ("LEAKS", "ok")
    assert leaks.loss == fine.loss > 1.5
    data = leaks.to_json()
    assert data["case"] == "numbers"
    assert data["event"].startswith("output ")


def test_too_few_trials_or_no_cases_are_refused_before_anything_is_drawn() -> None:
    asked = Counter[int]()
    with pytest.raises(InputError, match="at least 20 trials"):
        audit_pair(laplace(0, 1, asked), laplace(0, 1, asked), 10, rng=rng())
    with pytest.raises(InputError, match="at least 20 trials"):
        audit_cases([Case("a", laplace(0, 1, asked), laplace(0, 1, asked))] * 9, 10, rng=rng())
    with pytest.raises(InputError, match="no pair"):
        audit_cases([], 1000, rng=rng())
    assert not asked
