"""`dpcore.testing` makes a plugin author's test of every check, and runs the checks as a function."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import dpcore.testing
from dpcore.errors import InputError, PluginError
from dpcore_testing.checks import checks_of
from dpcore_testing.kit import BoundCheck, Component, check, parametrize_with_checks

STAIRCASE = str(Path(__file__).parents[3] / "examples" / "staircase")
OVERSPENDS = """
from dpcore import BudgetAllocator, Component, hookimpl

@hookimpl
def dpcore_budget_allocators():
    return [Component("greedy", "Everything to everyone", "sketch:Greedy")]

class Greedy(BudgetAllocator):
    notes = "Made for tests."

    def allocate(self, steps):
        return [1.0] * len(steps)
"""
TESTS = """
import sys

from dpcore.testing import parametrize_with_checks

@parametrize_with_checks("uniform", {path!r}, skip=["light-discovery"])
def test_it_keeps_every_promise(component, check):
    check(component)

def test_nothing_stays_on_the_path():
    assert "sketch" not in sys.modules
"""


def cases(mark: pytest.MarkDecorator) -> dict[str, tuple[Component, BoundCheck]]:
    """What a decorator would make tests of, by their ids."""
    assert mark.args[0] == ("component", "check")
    return dict(zip(mark.kwargs["ids"], mark.args[1], strict=True))


def test_the_public_names_are_those_of_the_kit() -> None:
    assert dpcore.testing.check is check
    assert dpcore.testing.parametrize_with_checks is parametrize_with_checks


def test_there_is_a_test_for_every_check_of_every_component_with_a_readable_name() -> None:
    found = cases(parametrize_with_checks("uniform", "laplace"))
    wanted = [f"uniform-{c.name}" for c in checks_of("allocator")] + [
        f"laplace-{c.name}" for c in checks_of("mechanism")
    ]
    assert list(found) == wanted
    component, one = found["laplace-draws-what-it-states"]
    assert (str(component), str(one)) == ("laplace", "draws-what-it-states")


def test_a_distribution_or_a_folder_stands_for_all_of_its_components() -> None:
    names = {str(component) for component, _ in cases(parametrize_with_checks("dpcore-budget:")).values()}
    assert names == {"weights", "uniform", "two_to_one", "one_to_two", "sqlite", "ledger"}
    assert {str(component) for component, _ in cases(parametrize_with_checks(STAIRCASE)).values()} == {"staircase"}


def test_checks_can_be_chosen_or_left_out() -> None:
    assert list(cases(parametrize_with_checks("uniform", only=["loads"]))) == ["uniform-loads"]
    without = cases(parametrize_with_checks("uniform", skip=["loads", "described"]))
    assert len(without) == len(checks_of("allocator")) - 2
    with pytest.raises(InputError, match="there is no check 'load'; nearest: loads"):
        parametrize_with_checks("uniform", skip=["load"])
    with pytest.raises(InputError, match="there is no check"):
        check("uniform", only=["nothing at all"])
    with pytest.raises(PluginError, match="no component is called 'unifrom'"):
        parametrize_with_checks("unifrom")


def test_a_bound_check_passes_skips_or_fails_as_its_test(project) -> None:
    uniform = Component("uniform", "allocator", "uniform")
    BoundCheck("described")(uniform)
    with pytest.raises(pytest.skip.Exception, match="it has no parameters"):
        BoundCheck("parameters-in-range")(uniform)
    greedy = Component(str(project(OVERSPENDS)), "allocator", "greedy")
    with pytest.raises(AssertionError, match="the fractions sum to 2"):
        BoundCheck("gives-fractions")(greedy)
    assert "sketch" not in sys.modules


def test_a_plugin_that_discovery_calls_broken_is_one_failing_test(project) -> None:
    folder = str(project("import nowhere_at_all"))
    ((name, (component, one)),) = cases(parametrize_with_checks(folder, only=["loads"])).items()
    assert name == "main-discovery"
    with pytest.raises(AssertionError, match="No module named 'nowhere_at_all'"):
        one(component)


def test_the_function_gives_one_result_a_check() -> None:
    results = check("uniform", seed=7)
    assert [r.check for r in results] == [c.name for c in checks_of("allocator")]
    assert {(r.component, r.kind, r.dist) for r in results} == {("uniform", "allocator", "dpcore-budget")}
    assert {r.status for r in results} == {"ok", "skipped"}


def test_an_authors_pytest_shows_what_is_wrong_and_nothing_else(project, tmp_path) -> None:
    path = str(project(OVERSPENDS))
    tests = tmp_path / "authors"
    tests.mkdir()
    (tests / "test_greedy.py").write_text(TESTS.format(path=path))
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA", "--tb=short", "-W", "error", "."]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    done = subprocess.run(command, cwd=tests, env=env, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert lines[-1].strip("= ").startswith("1 failed, 6 passed, 4 skipped")
    (failed,) = [line for line in lines if line.startswith("FAILED")]
    assert failed.startswith("FAILED test_greedy.py::test_it_keeps_every_promise[greedy-gives-fractions] - ")
    assert "2 steps (weight 1 × 1, weight 1 × 1): the fractions sum to 2." in done.stdout
    assert "PASSED test_greedy.py::test_it_keeps_every_promise[uniform-gives-fractions]" in lines
    assert "PASSED test_greedy.py::test_nothing_stays_on_the_path" in lines
