"""The checks of learners fail plans and fits that break a promise, and pass ours; each fault is one override.

Those of models are in test_checks_models.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import attrs
import numpy as np
import pytest

from dpcore import Capabilities, Schema, load_plugins
from dpcore.allocator import Step
from dpcore.errors import BudgetError, CapabilityError
from dpcore.partition import Values
from dpcore.privacy import Pure
from dpcore.query import Counts
from dpcore_testing import checks
from dpcore_testing.kit import check
from dpcore_testing.new_plugin import new_plugin
from sound_learner import Pool, Sound, cells

REGISTRY = load_plugins()


def test_our_learner_passes_every_check_but_the_audit() -> None:
    """The audit of it is in test_audit.py."""
    subject = checks.subject(REGISTRY, "classifier", "naive_bayes")
    results = [checks.run_one(subject, c.name) for c in checks.checks_of("classifier") if c.name != "audited"]
    assert [r for r in results if r.status != "ok"] == []


INSTALLED_ONLY = ("audited", "light-discovery", "passes-scikit-learns-checks")
"""Checks that look for a component among what is installed, or take long."""


def test_a_sound_learner_passes(listed) -> None:
    names = [c.name for c in checks.checks_of("classifier") if c.name not in INSTALLED_ONLY]
    results = list(checks.run(listed(Sound), names))
    assert len(results) == len(names)
    assert {r.check for r in results if r.status != "ok"} == {"parameters-documented", "parameters-in-range"}
    assert {r.message for r in results if r.status != "ok"} == {"it has no parameters."}


# -- plans-without-data ------------------------------------------------------------------------------------------------


class PublishedCost(Sound):
    """It claims an epsilon of 1 a step, charges it, and warns of nothing."""

    def steps(self, task: Any) -> Sequence[Step]:
        return [attrs.evolve(step, cost=Pure(1.0), claimed=Pure(1.0)) for step in super().steps(task)]


class ByTheClock(Sound):
    """What it plans depends on how often it was asked."""

    calls: ClassVar[list[int]] = []

    def steps(self, task: Any) -> Sequence[Step]:
        self.calls.append(1)
        first, *others = super().steps(task)
        return [attrs.evolve(first, weight=len(self.calls)), *others]


class TooLarge(Sound):
    capabilities = Capabilities(cells=8)


class ReusesAName(Sound):
    def steps(self, task: Any) -> Sequence[Step]:
        return [attrs.evolve(step, name="counts") for step in super().steps(task)]


class FitsNothing(Sound):
    capabilities = Capabilities(numeric=False, nominal=False)


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (PublishedCost, "the steps cost epsilon = 4 where 1 is asked, and `warning` says nothing"),
        (ByTheClock, "planned twice, it makes two plans"),
        (TooLarge, "a query of 18 cells, where `capabilities` allows 8"),
        (ReusesAName, "plans two steps called 'counts'"),
        (FitsNothing, "it can work with none of the schemas at hand (mixed, nominal, numeric, three classes)"),
    ],
)
def test_a_plan_must_be_made_of_public_facts_and_cost_what_is_asked(fails, cls: type, words: str) -> None:
    assert words in fails("plans-without-data", cls)


class Warned(PublishedCost):
    def warning(self, task: Any) -> str:
        return "As published, each step costs 1."


def test_a_published_procedure_may_overspend_if_it_says_so(judge) -> None:
    result = judge("plans-without-data", Warned)
    assert result.status == "ok"
    assert "of published procedures that say what they overspend" in result.message


# -- asks-what-it-planned ----------------------------------------------------------------------------------------------


class AsksMore(Sound):
    def learn(self, curator: Any) -> Any:
        curator.ask("the number of rows")
        return super().learn(curator)


class AsksTwice(Sound):
    def learn(self, curator: Any) -> Any:
        super().learn(curator)
        return super().learn(curator)


class AsksLarger(Sound):
    def learn(self, curator: Any) -> Any:
        first, schema = curator.task.schema.attributes[0], curator.task.schema
        curator.ask(first.name, Counts(cells(first)))
        return self.model(schema, [])


class NeedsRows(Sound):
    def logs(self, noisy: Any) -> Any:
        if noisy.sum() < 20:
            raise ZeroDivisionError("no rows")
        return super().logs(noisy)


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (AsksMore, "the plan has no step 'the number of rows'; it has: colour, share"),
        (AsksTwice, "step 'colour' was planned 1 times and is asked once more"),
        (AsksLarger, "was planned as counts of colour × outcome and nothing else"),
        (NeedsRows, "fitted to 0 rows, mixed schema, add-remove: ZeroDivisionError: no rows"),
    ],
)
def test_a_fit_must_ask_what_was_planned(fails, cls: type, words: str) -> None:
    assert words in fails("asks-what-it-planned", cls)


class PaysForNothing(Sound):
    def steps(self, task: Any) -> Sequence[Step]:
        return [*super().steps(task), Step("spare", Counts(Values(task.schema.target)))]


def test_what_is_paid_for_and_never_asked_is_told(judge) -> None:
    assert judge("asks-what-it-planned", PaysForNothing).message.endswith("but not asked here: spare")


# -- refuses-before-it-spends ------------------------------------------------------------------------------------------


class RefusesLate(Sound):
    def learn(self, curator: Any) -> Any:
        model = super().learn(curator)
        if curator.task.schema.numeric():
            raise CapabilityError("RefusesLate cannot work with numbers.")
        return model


class DeniesAndPlans(Sound):
    capabilities = Capabilities(missing=False)

    def check(self, schema: Schema) -> None:
        pass


class Curt(Sound):
    def check(self, schema: Schema) -> None:
        if schema.numeric():
            raise CapabilityError("no")


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (RefusesLate, "the plan is made, and the fit then refuses the schema after 4 charges: RefusesLate cannot"),
        (DeniesAndPlans, "`capabilities` denies missing values, and a plan is made all the same"),
        (Curt, "mixed schema, add-remove: refused without a reason"),
    ],
)
def test_a_schema_must_be_refused_before_anything_is_spent(fails, cls: type, words: str) -> None:
    assert words in fails("refuses-before-it-spends", cls)


# -- charges-before-it-draws, refuses-to-overspend ---------------------------------------------------------------------


class GoesAround(Sound):
    """Exact answers with noise of their own, past the accountant."""

    def learn(self, curator: Any) -> Any:
        logs = []
        for a in curator.task.schema.attributes:
            planned = curator._planned(a.name)
            curator._watched.open += 1
            exact, bound = curator._exact(planned, planned.step.query)
            curator._watched.open -= 1
            logs.append(self.logs(curator._release(planned, planned.step.query, exact, bound)))
        return self.model(curator.task.schema, logs)


class LooksAtTheTable(Sound):
    """The number of rows, read where it stands."""

    def learn(self, curator: Any) -> Any:
        len(curator._table._rows.columns)
        return super().learn(curator)


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (GoesAround, "a noisy answer is drawn before it is charged"),
        (LooksAtTheTable, "the learner reads the table without asking the curator (_rows)"),
    ],
)
def test_noise_must_be_paid_for_first_and_rows_be_left_to_the_curator(fails, cls: type, words: str) -> None:
    assert words in fails("charges-before-it-draws", cls)


class TriesTheNext(Sound):
    """Where one step is refused, it asks the others."""

    def learn(self, curator: Any) -> Any:
        schema, refused = curator.task.schema, []
        for a in schema.attributes:
            try:
                curator.ask(a.name)
            except BudgetError as error:
                refused.append(error)
        if refused:
            raise refused[0]
        return self.model(schema, [np.zeros((1, len(schema.classes))) for _ in schema.attributes])


class Rewords(Sound):
    def learn(self, curator: Any) -> Any:
        try:
            return super().learn(curator)
        except BudgetError:
            raise RuntimeError("out of budget") from None


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (TriesTheNext, "charge 1 of 4 is refused, and it asks again: "),
        (Rewords, "charge 1 of 4 is refused, and RuntimeError comes out in place of the BudgetError"),
    ],
)
def test_a_refusal_must_end_the_fit(fails, cls: type, words: str) -> None:
    assert words in fails("refuses-to-overspend", cls)


# -- repeats-itself, knows-only-what-was-released ----------------------------------------------------------------------


class BreaksTies(Sound):
    """Randomness of the system decides what the model says where it knows nothing."""

    def logs(self, noisy: Any) -> Any:
        return super().logs(noisy + np.random.default_rng().random(noisy.shape))


class BreaksTiesGlobally(Sound):
    def logs(self, noisy: Any) -> Any:
        return super().logs(noisy + np.random.random(noisy.shape))  # noqa: NPY002


class Numbered(Sound):
    """Every model has a number."""

    made: ClassVar[list[int]] = []

    def model(self, schema: Schema, logs: list[Any]) -> Any:
        self.made.append(1)
        return super().model(schema, [log + 0.0 if i else log + 1e-9 * len(self.made) for i, log in enumerate(logs)])


@pytest.mark.parametrize("cls", [BreaksTies, Numbered])
def test_the_same_random_state_must_make_the_same_model(fails, cls: type) -> None:
    assert "two fits with one random_state differ: it draws from elsewhere" in fails("repeats-itself", cls)


def test_the_state_of_global_generators_must_be_of_no_account(judge, fails) -> None:
    state = np.random.get_state()[1].tolist()  # type: ignore[index]  # noqa: NPY002
    assert "it draws from elsewhere" in fails("repeats-itself", BreaksTiesGlobally)
    assert np.random.get_state()[1].tolist() == state  # type: ignore[index]  # noqa: NPY002


@attrs.frozen(eq=False)
class Secret(Pool):
    """What is not in its file."""

    rows: float = 0.0

    def scores(self, rows: Any) -> Any:
        found = super().scores(rows)
        found[:, 0] += self.rows
        return found


class PredictsByTheRows(Sound):
    model_class = Secret

    def learn(self, curator: Any) -> Any:
        model = super().learn(curator)
        return attrs.evolve(model, rows=curator._table._rows.size / 1000)


def test_equal_answers_must_make_a_model_that_predicts_alike(fails) -> None:
    assert "equal answers make a model that predicts otherwise" in fails(
        "knows-only-what-was-released", PredictsByTheRows
    )


# -- passes-scikit-learns-checks ---------------------------------------------------------------------------------------


class NominalOnly(Sound):
    capabilities = Capabilities(numeric=False)


def test_scikit_learns_checks_tell_a_learner_that_learns_nothing(tmp_path, judge) -> None:
    folder = new_plugin("guesses", "classifier", tmp_path / "guesses")
    source = folder / "src" / "dpcore_guesses" / "learner.py"
    right = "np.log(counts / counts.sum(axis=1, keepdims=True))"
    wrong = "np.full(counts.shape, -np.log(counts.shape[1]))"
    assert right in source.read_text()
    source.write_text(source.read_text().replace(right, wrong))
    (result,) = check(str(folder), only=["passes-scikit-learns-checks"])
    assert result.status == "failed"
    assert "check_classifiers_train: AssertionError" in result.message
    assert "more fail)" in result.message
    skipped = judge("passes-scikit-learns-checks", NominalOnly)
    assert (skipped.status, skipped.message.split(":")[0]) == ("skipped", "they need numbers and three classes")
