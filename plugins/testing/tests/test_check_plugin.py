"""`dpcore check-plugin` prints one line a check and the counts, and says by its exit code how they ended."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dpcore.cli import main
from dpcore_testing.checks import CHECKS, checks_of

STAIRCASE = Path(__file__).parents[3] / "examples" / "staircase"
HALVES = """
from dpcore import BudgetAllocator, Component, hookimpl

@hookimpl
def dpcore_budget_allocators():
    return [
        Component("halves", "The half of what is left for each", "sketch:Halves"),
        Component("greedy", "Everything to everyone", "sketch:Greedy"),
    ]

class Halves(BudgetAllocator):
    notes = "Made for tests."

    def allocate(self, steps):
        return [max(2.0 ** -(i + 1), 2.0**-60) for i in range(len(steps))]

class Greedy(Halves):
    def allocate(self, steps):
        return [1.0] * len(steps)
"""


def last(text: str) -> str:
    return text.splitlines()[-1]


def test_a_name_is_checked_with_one_line_a_check_and_the_counts_at_the_end(capsys) -> None:
    assert main(["check-plugin", "uniform"]) == 0
    header, *lines, counts = capsys.readouterr().out.splitlines()
    assert header.split(maxsplit=4) == ["COMPONENT", "KIND", "CHECK", "STATUS", "WHAT WAS SEEN"]
    assert [line.split()[:3] for line in lines] == [["uniform", "allocator", c.name] for c in checks_of("allocator")]
    assert counts == "4 ok, 0 failed, 2 skipped"


def test_a_distribution_is_all_of_its_components(capsys) -> None:
    assert main(["check-plugin", "dpcore-budget", "--only", "described", "--only", "explains-itself"]) == 0
    lines = capsys.readouterr().out.splitlines()[1:-1]
    assert {line.split()[0] for line in lines} == {"weights", "uniform", "two_to_one", "one_to_two", "sqlite", "ledger"}
    assert {line.split()[2] for line in lines} == {"described", "explains-itself"}


def test_the_folder_of_a_third_party_passes_every_check(capsys) -> None:
    assert main(["check-plugin", str(STAIRCASE), "--seconds", "0", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert {r["component"] for r in said["results"]} == {"staircase"}
    assert {r["dist"] for r in said["results"]} == {"dpcore-staircase"}
    assert [r["check"] for r in said["results"]] == [c.name for c in checks_of("mechanism")]
    skipped = {r["check"]: r["message"] for r in said["results"] if r["status"] == "skipped"}
    assert set(skipped) <= {"parameters-documented", "parameters-in-range", "draws-what-it-is-asked"}
    assert said["counts"] == {"ok": len(said["results"]) - len(skipped), "failed": 0, "skipped": len(skipped)}


def test_json_holds_every_result_and_the_seed(capsys) -> None:
    assert main(["check-plugin", "weights", "--only", "described", "--only", "loads", "--seed", "3", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said.pop("results") == [
        {"component": "weights", "kind": "allocator", "dist": "dpcore-budget", "check": "loads", "status": "ok"}
        | {"message": ""},
        {"component": "weights", "kind": "allocator", "dist": "dpcore-budget", "check": "described", "status": "ok"}
        | {"message": ""},
    ]
    assert said == {"seed": 3, "counts": {"ok": 2, "failed": 0, "skipped": 0}}


def test_a_check_that_fails_is_exit_code_1_and_the_others_go_on(project, capsys) -> None:
    assert main(["check-plugin", str(project(HALVES))]) == 1
    out, err = capsys.readouterr()
    lines = [line.split(maxsplit=4) for line in out.splitlines()[1:-1]]
    wrong = [(component, check, words[0]) for component, _, check, status, *words in lines if status == "failed"]
    assert [found[:2] for found in wrong] == [
        ("greedy", "light-discovery"),
        ("greedy", "gives-fractions"),
        ("halves", "light-discovery"),
    ]
    assert wrong[0][2].startswith("finding dpcore-sketch imports numpy: the module that the entry point names should")
    assert wrong[1][2] == "2 steps (weight 1 × 1, weight 1 × 1): the fractions sum to 2."
    assert (last(out), err) == ("5 ok, 3 failed, 4 skipped", "")


def test_the_same_seed_gives_the_same_lines(capsys) -> None:
    said = []
    for _ in range(2):
        assert main(["check-plugin", "one_to_two", "--only", "gives-fractions", "--seed", "9"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]


def test_a_plugin_that_is_not_even_discovered_fails_with_the_whole_reason(project, capsys) -> None:
    assert main(["check-plugin", str(project("import nowhere_at_all"))]) == 1
    header, line, counts = capsys.readouterr().out.splitlines()
    assert "discovery" in line
    assert "ModuleNotFoundError: No module named 'nowhere_at_all'" in line
    assert counts == "0 ok, 1 failed, 0 skipped"
    assert header.startswith("COMPONENT")


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["laplac"], "no component is called 'laplac'; nearest: laplace"),
        (["./no-such-folder"], "no-such-folder"),
        (["uniform", "--only", "gives-fraction"], "there is no check 'gives-fraction'; nearest: gives-fractions"),
        ([], "give NAME, PATH or DIST, or --list"),
        (["uniform", "--list"], "give NAME, PATH or DIST, or --list"),
        (["uniform", "--seed", "-1"], "--seed"),
        (["uniform", "--seconds", "-1"], "--seconds"),
        (["uniform", "--seconds", "nan"], "--seconds"),
    ],
)
def test_what_cannot_be_checked_is_refused_with_exit_code_2(words: list[str], reason: str, capsys) -> None:
    assert main(["check-plugin", *words]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert reason in last(err)
    assert "Traceback" not in err


def test_an_unknown_name_is_one_line(capsys) -> None:
    assert main(["check-plugin", "nothing-of-the-kind"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_list_says_what_every_check_claims(capsys) -> None:
    assert main(["check-plugin", "--list"]) == 0
    text = capsys.readouterr().out
    assert all(f"{c.name} " in text and c.summary in text for c in CHECKS)
    assert main(["check-plugin", "--list", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said == [{"check": c.name, "kinds": list(c.kinds), "claim": c.summary} for c in CHECKS]


def test_the_readme_names_every_check_and_shows_what_is_printed(capsys) -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"^\|[^|]*\| `([a-z-]+)` \|", readme, flags=re.MULTILINE)
    assert sorted(named) == sorted(c.name for c in CHECKS)
    assert main(["check-plugin", "uniform"]) == 0
    assert capsys.readouterr().out in readme
