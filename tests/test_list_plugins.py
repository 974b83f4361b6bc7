"""Installed together, sound and broken plugins: each broken one is a row, and everything else works."""

from __future__ import annotations

import inspect
import json

import pytest

from dpcore import hookspecs
from dpcore.cli import VERBS
from dpcore.registry import FIRST_PARTY

# planted package -> the reason that its row must hold
BROKEN = {
    "missing_import": "at import: ModuleNotFoundError: No module named 'no_such_module_4711'",
    "syntax_error": "at import: SyntaxError: ",
    "exits": "at import: it called sys.exit(3)",
    "wrong_signature": "Argument(s) {'schema'} are declared in the hookimpl",
    "misspelt_hook": "unknown hook 'dpcore_clasifiers'; nearest: dpcore_classifiers",
    "wrong_api": "it needs dpcore>=99, and this is dpcore ",
    "raising_hook": "in dpcore_mechanisms(): ValueError: the mechanisms are out",
    "undeclared_api": "it does not declare which dpcore it needs",
    "not_a_list": "must return a list of Component. Got ",
    "wrapper": "dpcore_classifiers is a hook wrapper",
    "repeats": "dpcore_mechanisms() gives the name 'again' twice",
    "unmarked": "dpcore_classifiers is not marked with @dpcore.hookimpl",
    "no_hook": "it implements no hook",
}
SOUND = ("every_kind", "noisy", "rival_a", "rival_b", "stranger", "late_failures")


def test_every_planted_package_has_its_place_here(planted_names):
    assert sorted([*BROKEN, *SOUND]) == planted_names


def test_each_broken_plugin_is_a_row_with_its_reason_while_the_rest_works(dpcore):
    done = dpcore("list-plugins", "--json", planted=(*BROKEN, *SOUND))
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    rows = json.loads(done.stdout)
    assert all(list(row) == ["name", "kind", "dist", "version", "status", "summary", "detail"] for row in rows)
    for name, reason in BROKEN.items():
        own = [row for row in rows if row["name"] == name]
        assert own, name
        assert all(row["status"] == "broken" for row in own), name
        assert all(reason in row["detail"] and "\n" not in row["detail"] for row in own), name
    good = {row["name"]: row["status"] for row in rows if row["dist"] == "planted-every-kind"}
    assert set(good.values()) == {"ok"}
    assert len(good) == len(hookspecs.KINDS)
    # a hook that raises costs nothing but its own components; a failed check costs the plugin
    assert "survivor" in [row["name"] for row in rows if row["status"] == "ok"]
    assert "half" not in [row["name"] for row in rows]


def test_every_installed_package_of_this_repository_is_ok(dpcore):
    rows = [row for row in json.loads(dpcore("list-plugins", "--json").stdout) if row["dist"] in FIRST_PARTY]
    assert [row for row in rows if row["status"] != "ok"] == []


def test_the_table_has_a_line_for_every_row_and_the_reason_in_full(dpcore):
    done = dpcore("list-plugins", planted=("every_kind", "wrong_signature"))
    head, *lines = done.stdout.splitlines()
    assert head.split() == ["KIND", "NAME", "PACKAGE", "VERSION", "STATUS", "SUMMARY"]
    (broken,) = [line for line in lines if "planted-wrong-signature" in line]
    assert broken.endswith("are declared in the hookimpl but can not be found in the hookspec")


def test_strict_fails_on_any_row_that_is_not_ok(dpcore):
    assert dpcore("list-plugins", "--strict", planted=("missing_import",)).returncode == 1


def test_one_kind_keeps_plugins_that_failed_before_their_kind_was_known(dpcore):
    done = dpcore("list-plugins", "--kind", "table", "--json", planted=("every_kind", "exits"))
    rows = json.loads(done.stdout)
    assert {row["kind"] for row in rows} <= {"table", ""}
    assert {"planted_table", "exits"} <= {row["name"] for row in rows}


def test_rivals_stay_reachable_and_the_short_name_lists_both(dpcore, plant):
    done = dpcore("describe", "twin", planted=("rival_a", "rival_b"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "dpcore: the classifier 'twin' has no short name; say which: planted-rival-a:twin, planted-rival-b:twin.\n"
    )
    assert "Twin b" in dpcore("describe", "planted-rival-b:twin").stdout


def test_a_stranger_shadows_neither_our_names_nor_our_verbs(dpcore):
    done = dpcore("list-plugins", "--json", planted=("stranger",))
    status = {(row["name"], row["dist"]): row["status"] for row in json.loads(done.stdout)}
    assert status["laplace", "dpcore-mechanisms"] == "ok"
    assert status["laplace", "planted-stranger"] == "conflict"
    assert status["fit", "planted-stranger"] == "conflict"
    assert "stranger" not in dpcore("fit").stdout
    assert dpcore("planted-stranger:fit").stdout == "the stranger's fit\n"


def test_a_disabled_plugin_has_a_row_and_its_components_are_gone(dpcore):
    done = dpcore("list-plugins", "--json", planted=("every_kind", "exits"), disable="exits,planted.every_kind")
    rows = {row["name"]: row for row in json.loads(done.stdout)}
    assert rows["exits"]["status"] == rows["every_kind"]["status"] == "disabled"
    assert "planted_table" not in rows
    gone = dpcore("describe", "planted_table", disable="planted-every-kind")
    assert gone.returncode == 2
    assert "disabled: planted-every-kind" in gone.stderr


def test_disabling_what_is_not_there_is_an_error(dpcore):
    done = dpcore("list-plugins", planted=("every_kind",), disable="every-knid")
    assert done.returncode == 2
    assert "DPCORE_DISABLE names 'every-knid', which matches no plugin; there is: " in done.stderr
    assert "planted-every-kind" in done.stderr


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("no-module", "cannot be loaded: ModuleNotFoundError: No module named 'no_such_module_4711'"),
        ("no-object", "cannot be loaded: AttributeError: "),
        ("exiting", "cannot be loaded: it called sys.exit(3)"),
    ],
)
def test_a_factory_that_fails_on_first_use_is_one_line(dpcore, name, reason):
    done = dpcore("describe", name, planted=("late_failures", "exits"))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"dpcore: classifier '{name}' of planted-late-failures {reason}")
    assert len(done.stderr.splitlines()) == 1


def test_the_hooks_of_the_specification_are_the_kinds():
    specified = [name for name, value in vars(hookspecs).items() if hasattr(value, "dpcore_spec")]
    assert sorted(specified) == sorted(hookspecs.KINDS.values())


@pytest.mark.parametrize("kind", hookspecs.KINDS)
def test_every_hook_is_documented_and_exercised_by_a_real_plugin(kind, dpcore):
    hook = getattr(hookspecs, hookspecs.KINDS[kind])
    documented = inspect.getdoc(hook) or ""
    assert len(documented) > 40
    assert documented.endswith(".")
    assert not inspect.signature(hook).parameters
    name = "planted-command" if kind == "command" else f"planted_{kind}"
    done = dpcore("describe", name, "--json", planted=("every_kind",))
    data = json.loads(done.stdout)
    assert (data["name"], data["kind"], data["summary"]) == (name, kind, f"A planted {name}")


def test_a_learner_describes_itself(dpcore):
    data = json.loads(dpcore("describe", "planted_classifier", "--json", planted=("every_kind",)).stdout)
    assert data["guarantee"] == "pure epsilon"
    assert data["adjacency"] == ["add-remove"]
    assert data["capabilities"]["missing"] is False
    assert data["notes"] == ["Learns nothing."]
    assert [source["key"] for source in data["citation"]] == ["planted2026"]
    depth, rule = data["parameters"]
    assert (depth["name"], depth["type"], depth["default"], depth["low"], depth["high"]) == (
        "depth",
        "int",
        3,
        1,
        9,
    )
    assert rule["choices"] == ["max", "gini"]
    assert data["python"] == (
        "DPClassifier(\"planted_classifier\", epsilon=1.0, schema=schema, parameters={'depth': 3, 'rule': 'max'})"
    )
    text = dpcore("describe", "planted_classifier").stdout
    for part in (
        data["python"],
        "[1, 9]",
        "max, gini",
        "How deep.",
        "Planter, P. (2026).",
        "Learns nothing.",
    ):
        assert part in text


def test_sources_are_printed_as_bibtex_or_their_absence_is_said(dpcore):
    done = dpcore("describe", "planted_mechanism", "--bibtex", planted=("every_kind",))
    assert done.stdout.count("@inproceedings{planted2026,") == 2
    none = dpcore("describe", "planted_table", "--bibtex")
    assert (none.returncode, none.stderr) == (2, "dpcore: the table 'planted_table' names no source.\n")


def test_a_data_set_says_its_size_and_a_command_its_help(dpcore):
    data = json.loads(dpcore("describe", "planted_dataset", "--json", planted=("every_kind",)).stdout)
    assert data["schema"] == {"attributes": 3, "classes": 2}
    data = json.loads(dpcore("describe", "planted-command", "--json").stdout)
    assert data["help"] == "Do a planted thing."
    assert "attributes 3, classes 2" in dpcore("describe", "planted_dataset").stdout


def test_a_plugins_verb_is_listed_and_run(dpcore):
    out = dpcore("--help", planted=("every_kind", "missing_import")).stdout
    assert "Commands of plugins:" in out
    assert "A planted planted-command" in out
    assert dpcore("planted-command").stdout == "planted\n"
    assert "Do a planted thing." in dpcore("planted-command", "--help").stdout


@pytest.mark.parametrize(
    ("fail", "code", "message"),
    [
        ("check", 1, ""),
        ("exit", 1, "dpcore: it stopped\n"),
        ("file", 2, "dpcore: rows.csv: No such file or directory\n"),
        ("interrupt", 130, "dpcore: interrupted\n"),
        ("value", 70, "dpcore: internal error: ValueError in planted_every_kind, line "),
        ("truncated", 70, "dpcore: internal error: EOFError in planted_every_kind, line "),
    ],
)
def test_a_plugins_verb_fails_like_one_of_the_core(dpcore, fail, code, message):
    done = dpcore("planted-command", "--fail", fail, planted=("every_kind",))
    assert done.returncode == code
    assert done.stderr.startswith(message)
    assert "4711" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_explains_itself(verb, dpcore):
    done = dpcore(verb, "--help")
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip().startswith("Usage: dpcore " + verb)
    assert done.stderr == ""
