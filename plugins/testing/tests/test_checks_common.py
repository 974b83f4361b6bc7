"""Each check of every kind of component fails the mistake that it is for."""

from __future__ import annotations

from typing import Any, ClassVar

import attrs
import click
import pytest

from dpcore import BudgetAllocator, Capabilities, Citation, Classifier, Mechanism, SensitivityRule, param
from dpcore.errors import ParameterError
from dpcore.parameters import parameters
from dpcore_testing.checks import CHECKS, checks_of, run
from dpcore_testing.checks.base import Failed, Skipped, check, doing, plural
from dpcore_testing.checks.common import settings
from dpcore_testing.kit import check as check_target

SOURCE = Citation("key2026", "Author, A.", "A title", 2026)


@attrs.frozen
class Equal(BudgetAllocator):
    notes = "Equal parts."

    depth: int = param(3, low=1, high=9, help="how deep it goes")
    rate: float = param(0.5, low=0, high=1, closed="neither", help="how fast it goes")
    form: str = param("max", choices=("max", "gini"), help="what it goes by")
    some: int | None = param(None, type=int, low=0, help="where it begins")

    def allocate(self, steps: Any) -> Any:
        return [1 / len(steps) for _ in steps]


def test_a_sound_component_passes_them(judge) -> None:
    for name in ("loads", "described", "parameters-documented", "parameters-in-range"):
        assert judge(name, Equal).status == "ok"


def test_every_check_has_a_name_a_claim_and_kinds() -> None:
    names = [found.name for found in CHECKS]
    assert len(set(names)) == len(names)
    assert all(found.summary.endswith(".") and found.kinds for found in CHECKS)
    kinds = {kind for found in CHECKS for kind in found.kinds}
    assert all(checks_of(kind)[0].name == "loads" for kind in kinds)


# -- loads -----------------------------------------------------------------------------------------------------------


class Abstract(BudgetAllocator):
    pass


@attrs.frozen
class NeedsMore(BudgetAllocator):
    needed: int

    def allocate(self, steps: Any) -> Any:
        return []


def test_a_factory_must_name_a_whole_class_of_its_kind(fails, listed) -> None:
    assert "does not define allocate" in fails("loads", Abstract)
    assert "TypeError" in fails("loads", NeedsMore)
    subject = listed(Equal)
    wrong = attrs.evolve(subject, row=attrs.evolve(subject.row, kind="mechanism"))
    wrong.registry._objects["mechanism", "test-plugin", "equal"] = Equal
    wrong.registry._by_name["mechanism", "equal"] = wrong.registry._by_name["allocator", "equal"]
    results = list(run(wrong))
    assert results[0].status == "failed"
    assert "must name a subclass of dpcore.Mechanism" in results[0].message
    assert {r.status for r in results[1:]} == {"skipped"}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import nowhere_at_all", "ModuleNotFoundError"),
        ("Missing = None", "must name a subclass of dpcore.BudgetAllocator"),
        ("", "has no attribute 'Missing'"),
        ("import sys; sys.exit('done')", "it called sys.exit(done)"),
    ],
)
def test_a_factory_that_fails_is_a_failed_check(project, code: str, reason: str) -> None:
    listing = (
        "from dpcore import Component, hookimpl\n\n@hookimpl\ndef dpcore_budget_allocators():\n"
        '    return [Component("missing", "One that is missing", "sketch_late:Missing")]\n'
    )
    folder = project(listing)
    (folder / "src" / "sketch_late.py").write_text(code)
    first, *others = check_target(str(folder))
    assert (first.check, first.status) == ("loads", "failed")
    assert reason in first.message
    assert {other.status for other in others} == {"skipped"}


# -- light-discovery, described, states-its-guarantee ----------------------------------------------------------------


@pytest.mark.parametrize(("line", "status"), [("", "ok"), ("import numpy", "failed"), ("import scipy.stats", "failed")])
def test_discovery_must_not_import_heavy_libraries(project, line: str, status: str) -> None:
    listing = (
        f"{line}\nfrom dpcore import Component, hookimpl\n\n@hookimpl\ndef dpcore_budget_allocators():\n"
        '    return [Component("one", "One that is fine", "sketch_late:One")]\n'
    )
    folder = project(listing)
    (folder / "src" / "sketch_late.py").write_text(
        "from dpcore import BudgetAllocator\n\nclass One(BudgetAllocator):\n    allocate = None\n"
    )
    (result,) = check_target(str(folder), only=["light-discovery"])
    assert result.status == status
    assert ("numpy" in result.message) or status == "ok"


@attrs.frozen
class Unsourced(Equal):
    notes = ""


@attrs.frozen
class HalfCited(Equal):
    citation: ClassVar[Citation | None] = Citation("key", "", "A title", 2026)


def test_a_component_must_say_what_it_is_and_where_it_comes_from(fails) -> None:
    assert "names no source" in fails("described", Unsourced)
    assert "needs an author" in fails("described", HalfCited)
    assert "must be a sentence" in fails("described", Equal, summary="equal parts of everything")
    assert "must be a sentence" in fails("described", Equal, summary="Equal")


@click.command()
@click.option("--bare")
def undocumented(bare: str) -> None:
    """Do something."""


@click.command()
def mute() -> None:
    pass


def test_a_command_must_explain_itself_and_its_options(listed) -> None:
    subject = listed(Equal)
    (described,) = [c for c in CHECKS if c.name == "described"]
    for command, words in ((undocumented, "--bare"), (mute, "no help")):
        at = attrs.evolve(subject, row=attrs.evolve(subject.row, kind="command"))
        at.registry._objects["command", "test-plugin", "equal"] = command
        at.registry._by_name["command", "equal"] = at.registry._by_name["allocator", "equal"]
        result = described.run(at)
        assert result.status == "failed"
        assert words in result.message


class Vague(Mechanism):
    accepts = ("l1",)
    guarantee = ""
    citation = SOURCE
    calibrate = release = log_density = None  # type: ignore[assignment]


class WrongNorm(Vague):
    guarantee = "pure epsilon"
    accepts = ("l3",)


class WrongAdjacency(Vague):
    guarantee = "pure epsilon"
    adjacency = ("both",)


class WrongKinds(SensitivityRule):
    kinds = "counts"  # type: ignore[assignment]
    bound = None  # type: ignore[assignment]


class NoModel(Classifier):
    capabilities: ClassVar[Capabilities] = Capabilities()
    steps = learn = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (Vague, "`guarantee` must say"),
        (WrongNorm, "`accepts` must be a tuple of some of l1, l2, score"),
        (WrongAdjacency, "`adjacency` must be a tuple of some of add-remove, replace-one"),
        (WrongKinds, "`kinds` must be a tuple"),
        (NoModel, "`model_class` must be"),
    ],
)
def test_what_is_promised_must_be_in_known_words(fails, cls: type, words: str) -> None:
    assert words in fails("states-its-guarantee", cls)


# -- parameters ------------------------------------------------------------------------------------------------------


@attrs.frozen
class Untold(Equal):
    other: int = param(1, help="")


@attrs.frozen
class Hidden(Equal):
    other: int = 1


def test_parameters_must_be_documented(fails) -> None:
    assert "need a sentence of help: other" in fails("parameters-documented", Untold)
    assert "other than dpcore.param, so nobody can set it: other" in fails("parameters-documented", Hidden)


@attrs.frozen
class StricterThanSaid(Equal):
    def __attrs_post_init__(self) -> None:
        if self.depth == 9:
            raise ParameterError("The 'depth' parameter must be less than 9.")


def _loose(message: str | None) -> Any:
    """A field that is described as a parameter in [0, 1], with a check of its own."""

    def validate(instance: object, attribute: Any, value: Any) -> None:
        if message is not None and not (isinstance(value, float) and 0 <= value <= 1):
            raise ParameterError(message)

    described = param(0.5, low=0.0, high=1.0, help="a number that is")
    return attrs.field(default=0.5, kw_only=True, metadata=described.metadata, validator=validate)


@attrs.frozen
class Unchecked(Equal):
    share: float = _loose(None)


@attrs.frozen
class Curt(Equal):
    share: float = _loose("no")


@attrs.frozen
class Rounds(Equal):
    share: float = attrs.field(
        default=0.5, kw_only=True, converter=round, metadata=param(0.5, low=0.0, high=1.0, help="a number").metadata
    )


@attrs.frozen
class Crashes(Equal):
    share: float = attrs.field(
        default=0.5,
        kw_only=True,
        converter=lambda value: value + 0.0,
        metadata=param(0.5, low=0.0, high=1.0, help="a number that is").metadata,
    )


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (StricterThanSaid, "depth = 9, which its range allows: ParameterError"),
        (Unchecked, "is accepted, though it must be a float in the range [0.0, 1.0]"),
        (Curt, "is refused without saying what share must be"),
        (Rounds, "share = 0.5 becomes 0"),
        (Crashes, "TypeError"),
    ],
)
def test_parameters_are_accepted_up_to_their_ends_and_no_further(fails, cls: type, words: str) -> None:
    assert words in fails("parameters-in-range", cls)


def test_settings_are_combined_while_they_are_few() -> None:
    assert [p.name for p in parameters(Equal)] == ["depth", "rate", "form", "some"]
    assert settings(Equal) == [{}, {"form": "gini"}]
    many = attrs.make_class(
        "Many", {f"switch{i}": param(False, help="a switch") for i in range(5)}, bases=(BudgetAllocator,)
    )
    alone = settings(many)
    assert len(alone) == 6
    assert alone[0] == {}
    few = attrs.make_class("Few", {f"switch{i}": param(False, help="a switch") for i in range(3)})
    assert len(settings(few)) == 8


# -- the machinery ---------------------------------------------------------------------------------------------------


def test_whatever_a_component_does_ends_in_one_line(listed) -> None:
    def result(function: Any) -> Any:
        return check("allocator")(function).run(listed(Equal))

    def fault_of_two_lines(subject: Any) -> str:
        """Claim."""
        raise RuntimeError("first\nsecond")

    def leaves(subject: Any) -> str:
        """Claim."""
        raise SystemExit(0)

    def says_no(subject: Any) -> str:
        """Claim."""
        with doing("outer"), doing("inner"):
            raise Failed("as it is")

    def does_not_apply(subject: Any) -> str:
        """Claim."""
        raise Skipped("no reason to")

    assert result(fault_of_two_lines).message == "RuntimeError: first second"
    assert result(leaves).status == "failed"
    assert result(says_no).message == "as it is"
    assert (result(does_not_apply).status, result(does_not_apply).message) == ("skipped", "no reason to")
    assert [plural(1, "query"), plural(2, "query"), plural(3, "day")] == ["1 query", "2 queries", "3 days"]
