"""The checks of learners fail plans, fits and models that break a promise, and pass ours; each fault is one override."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import attrs
import numpy as np
import pytest

from dpcore import Capabilities, Classifier, Model, Nominal, Numeric, Schema, load_plugins
from dpcore.allocator import Step
from dpcore.errors import BudgetError, CapabilityError
from dpcore.partition import EqualBins, Values
from dpcore.privacy import Pure
from dpcore.query import Counts
from dpcore_testing import checks
from dpcore_testing.checks.classifiers.models import numbers_in, strange_rows
from dpcore_testing.kit import check
from dpcore_testing.new_plugin import new_plugin

REGISTRY = load_plugins()


def test_our_learner_passes_every_check_but_the_audit() -> None:
    """The audit of it is in test_audit.py."""
    subject = checks.subject(REGISTRY, "classifier", "naive_bayes")
    results = [checks.run_one(subject, c.name) for c in checks.checks_of("classifier") if c.name != "audited"]
    assert [r for r in results if r.status != "ok"] == []


# -- a sound learner ---------------------------------------------------------------------------------------------------


def cells(a: Any) -> Any:
    return Values(a) if isinstance(a, Nominal) else EqualBins(a, 8)


@attrs.frozen(eq=False)
class Pool(Model):
    """For each attribute the log-probabilities of the classes in each cell; their sum says the class."""

    schema: Schema
    logs: list[Any]

    def scores(self, rows: Any) -> Any:
        total = np.zeros((rows.size, len(self.schema.classes)))
        for where, view in rows.blocks():
            for a, log in zip(self.schema.attributes, self.logs, strict=True):
                # the last line is for a value that the schema does not know
                total[where] += log[np.minimum(cells(a).codes(view), len(log) - 1)]
        return total

    def log_proba(self, rows: Any) -> Any:
        scores = self.scores(rows)
        return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)

    def to_json(self) -> dict[str, Any]:
        return {"logs": [log.tolist() for log in self.logs]}

    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        return cls(schema, [np.array(log) for log in data["logs"]])


class Sound(Classifier):
    """One noisy table an attribute."""

    model_class: ClassVar[type[Model]] = Pool
    notes: ClassVar[str] = "Made for tests."

    def steps(self, task: Any) -> Sequence[Step]:
        return [Step(a.name, Counts(cells(a) * Values(task.schema.target))) for a in task.schema.attributes]

    def learn(self, curator: Any) -> Any:
        schema = curator.task.schema
        return self.model(schema, [self.logs(curator.ask(a.name)) for a in schema.attributes])

    def logs(self, noisy: Any) -> Any:
        table = np.maximum(noisy, 0)
        counts = np.vstack([table, table.sum(axis=0)]) + 1
        return np.log(counts / counts.sum(axis=1, keepdims=True))

    def model(self, schema: Schema, logs: list[Any]) -> Any:
        return self.model_class(schema, logs)  # type: ignore[call-arg]


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


# -- survives-its-file -------------------------------------------------------------------------------------------------


class NotPlain(Pool):
    def to_json(self) -> dict[str, Any]:
        return {"logs": self.logs}


class NotFinite(Pool):
    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "unknown": math.nan}


class Rounded(Pool):
    def to_json(self) -> dict[str, Any]:
        return {"logs": [np.round(log, 2).tolist() for log in self.logs]}


class Restamped(Pool):
    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "object": id(self)}


class Unreadable(Pool):
    @classmethod
    def from_json(cls, schema: Schema, data: Mapping[str, Any]) -> Self:
        return cls(schema, data["tables"])


def learner(model: type[Model], name: str) -> type:
    """The sound learner with another model; the name is where discovery finds it, in this module."""
    return type(name, (Sound,), {"model_class": model, "__module__": __name__})


LearnsNotPlain = learner(NotPlain, "LearnsNotPlain")
LearnsNotFinite = learner(NotFinite, "LearnsNotFinite")
LearnsRounded = learner(Rounded, "LearnsRounded")
LearnsRestamped = learner(Restamped, "LearnsRestamped")
LearnsUnreadable = learner(Unreadable, "LearnsUnreadable")


class AnotherModel(Sound):
    model_class = NotPlain

    def model(self, schema: Schema, logs: list[Any]) -> Any:
        return Pool(schema, logs)


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (LearnsNotPlain, "NotPlain.to_json() is not plain, finite JSON: Object of type ndarray"),
        (LearnsNotFinite, "NotFinite.to_json() is not plain, finite JSON: Out of range float"),
        (LearnsRounded, "read back from JSON, it predicts otherwise"),
        (LearnsRestamped, "read back from JSON, it writes another file"),
        (LearnsUnreadable, "read back from JSON, mixed schema, add-remove: KeyError"),
        (AnotherModel, "`learn` gives a Pool, `model_class` is NotPlain"),
    ],
)
def test_a_model_must_survive_its_file(fails, cls: type, words: str) -> None:
    assert words in fails("survives-its-file", cls)


# -- predicts-whatever-it-is-shown, ignores-the-class-column -------------------------------------------------------------


class KnowsTheListed(Pool):
    """An index past the table for a value that the schema does not list."""

    def scores(self, rows: Any) -> Any:
        pairs = zip(self.schema.attributes, self.logs, strict=True)
        return sum(log[:-1][cells(a).codes(rows.columns)] for a, log in pairs)


class NotNormalised(Pool):
    def log_proba(self, rows: Any) -> Any:
        return np.minimum(self.scores(rows), 0.0)


class Probabilities(Pool):
    def log_proba(self, rows: Any) -> Any:
        return np.exp(super().log_proba(rows))


class OneClassOnly(Pool):
    def log_proba(self, rows: Any) -> Any:
        return super().log_proba(rows).max(axis=1)


class Clips(Pool):
    """Values beyond the bounds are put at the bounds: in the rows of whoever asks."""

    def log_proba(self, rows: Any) -> Any:
        for a in self.schema.numeric():
            np.clip(rows.columns[a.name], a.lower, a.upper, out=rows.columns[a.name])
        return super().log_proba(rows)


class Peeks(Pool):
    def scores(self, rows: Any) -> Any:
        found = super().scores(rows)
        label = rows.columns.get(self.schema.target.name)
        if label is not None:
            found[np.arange(rows.size), label] += 1
        return found


class Demands(Pool):
    def scores(self, rows: Any) -> Any:
        return super().scores(rows) + 0.0 * rows.columns[self.schema.target.name][:, None]


LearnsKnowsTheListed = learner(KnowsTheListed, "LearnsKnowsTheListed")
LearnsNotNormalised = learner(NotNormalised, "LearnsNotNormalised")
LearnsProbabilities = learner(Probabilities, "LearnsProbabilities")
LearnsOneClassOnly = learner(OneClassOnly, "LearnsOneClassOnly")
LearnsClips = learner(Clips, "LearnsClips")
LearnsPeeks = learner(Peeks, "LearnsPeeks")
LearnsDemands = learner(Demands, "LearnsDemands")


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (LearnsKnowsTheListed, "predicting strange rows, mixed schema, add-remove: IndexError"),
        (LearnsNotNormalised, "the probabilities of 12 rows do not sum to 1"),
        (LearnsProbabilities, "log_proba holds NaN or positive numbers"),
        (LearnsOneClassOnly, "log_proba has shape (12,); it must be (12, 2)"),
        (LearnsClips, "predicting changes the rows that it is shown"),
        (LearnsDemands, "KeyError"),
    ],
)
def test_whatever_it_is_shown_must_get_probabilities(fails, cls: type, words: str) -> None:
    assert words in fails("predicts-whatever-it-is-shown", cls)


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (LearnsPeeks, "rows without the class column are predicted otherwise"),
        (LearnsDemands, "predicting rows without the class column, mixed schema, add-remove: KeyError"),
    ],
)
def test_the_class_of_a_row_must_not_tell_its_prediction(fails, cls: type, words: str) -> None:
    assert words in fails("ignores-the-class-column", cls)


def test_strange_rows_are_strange() -> None:
    schema = Schema([Nominal("colour", ["red", "green"]), Numeric("age", 0, 10)], Nominal("class", ["a", "b"]))
    rows = strange_rows(schema)
    assert list(rows.columns) == ["colour", "age"]
    assert max(rows.columns["colour"]) == 2
    assert np.isnan(rows.columns["age"]).any()
    assert np.nanmax(np.abs(rows.columns["age"])) == 1e99


# -- keeps-no-rows -----------------------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class Keeper(Pool):
    kept: Any = None


class Keeps(Sound):
    model_class = Keeper

    def kept(self, curator: Any) -> Any:
        return None

    def learn(self, curator: Any) -> Any:
        return attrs.evolve(super().learn(curator), kept=self.kept(curator))


class KeepsTheCurator(Keeps):
    """For later questions, as its author says."""

    def kept(self, curator: Any) -> Any:
        return {"ask": curator.ask}


class KeepsAnArray(Keeps):
    def kept(self, curator: Any) -> Any:
        return {"examples": curator._table._rows.columns[curator.task.schema.target.name][:3]}


class KeepsAValue(Keeps):
    def kept(self, curator: Any) -> Any:
        numeric = curator.task.schema.numeric()
        return [float(curator._table._rows.columns[a.name][0]) for a in numeric if not a.integer]


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (KeepsTheCurator, "the model keeps a WatchedCurator"),
        (KeepsAnArray, "the model keeps an array of the rows"),
        (KeepsAValue, "the model holds 1 number of the rows, as they stand"),
    ],
)
def test_nothing_of_the_rows_may_be_reached_from_the_model(fails, cls: type, words: str) -> None:
    assert words in fails("keeps-no-rows", cls)


def test_numbers_are_found_wherever_they_stand() -> None:
    secret = 0.1234567

    def closure() -> float:
        return secret

    held = {"deep": [(np.array([1.5, 2.5]), np.array([{"x": 7.5}], dtype=object)), closure, 3]}
    assert {1.5, 2.5, 7.5, secret} <= set(numbers_in(held))


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
