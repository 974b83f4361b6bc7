"""The registry finds every plugin, survives every broken one, and says whose name is whose."""

from __future__ import annotations

import itertools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from dpcore import hookspecs
from dpcore.cli import VERBS
from dpcore.component import Component
from dpcore.distributions import fits
from dpcore.errors import PluginError
from dpcore.registry import CORE_VERBS, Registry, Row, load_plugins

_numbers = itertools.count()
HEAD = "import dpcore\nfrom dpcore import Component, hookimpl\n"
Plant = Callable[..., str]


def classifiers(*names: str) -> str:
    """The source of a plugin with these classifiers."""
    listed = ", ".join(f'Component("{n}", "about {n}", f"{{__name__}}:Thing")' for n in names)
    return f"{HEAD}\n@hookimpl\ndef dpcore_classifiers():\n    return [{listed}]\n\nclass Thing: ...\n"


@pytest.fixture
def plant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Plant:
    """Makes a distribution in `tmp_path`, and returns its module's name."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delenv("DPCORE_DISABLE", raising=False)

    def make(dist: str, source: str, requires: str | None = "dpcore>=0.1,<0.2", entry: str = "main") -> str:
        module = f"planted_{next(_numbers)}"
        (tmp_path / f"{module}.py").write_text(source, encoding="utf-8")
        info = tmp_path / f"{dist.replace('-', '_')}-1.0.dist-info"
        info.mkdir(exist_ok=True)
        needs = "" if requires is None else f"Requires-Dist: {requires}\n"
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {dist}\nVersion: 1.0\n{needs}")
        with (info / "entry_points.txt").open("a") as file:
            file.write(f"[dpcore]\n{entry} = {module}\n")
        return module

    return make


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Registry]:
    """Loads only what was planted."""
    return lambda disable=None: load_plugins(disable=disable, path=[str(tmp_path)])


def only(rows: list[Row], name: str) -> Row:
    (row,) = [row for row in rows if row.name == name]
    return row


def test_a_sound_plugin_is_listed_and_its_factory_imported_on_first_use(plant, load):
    module = plant("Sound.Plugin", classifiers("b", "a"))
    registry = load()
    assert registry.rows() == [
        Row("a", "classifier", "sound-plugin", "1.0", "ok", "about a"),
        Row("b", "classifier", "sound-plugin", "1.0", "ok", "about b"),
    ]
    assert registry.names("classifier") == ["a", "b"]
    assert registry.component("classifier", "a") == Component("a", "about a", f"{module}:Thing")
    thing = registry.get("classifier", "a")
    assert thing is sys.modules[module].Thing
    assert registry.get("classifier", "Sound_Plugin:a") is thing


def test_loading_leaves_no_state_behind(plant, load):
    plant("p", classifiers("a"))
    assert load().rows() == load().rows()
    assert load() is not load()


BROKEN = {
    "missing import": ("import no_such_module_4711", "at import: ModuleNotFoundError: No module named"),
    "syntax error": ("def f(:", "at import: SyntaxError: "),
    "sys.exit": ("import sys; sys.exit(3)", "at import: it called sys.exit(3)"),
    "panic": ("class Panic(BaseException): ...\nraise Panic('rust')", "at import: Panic: rust"),
    "no hook": ("", "it implements no hook; there are: dpcore_mechanisms"),
    "signature": (
        HEAD + "@hookimpl\ndef dpcore_classifiers(schema): return []",
        "Argument(s) {'schema'} are declared in the hookimpl but can not be found in the hookspec",
    ),
    "misspelt": (
        HEAD + "@hookimpl\ndef dpcore_clasifiers(): return []",
        "unknown hook 'dpcore_clasifiers'; nearest: dpcore_classifiers",
    ),
    "far from any hook": (
        HEAD + "@hookimpl\ndef zzz(): return []",
        "unknown hook 'zzz'; there are: dpcore_mech",
    ),
    "wrapper": (
        HEAD + "@hookimpl(wrapper=True)\ndef dpcore_classifiers():\n    return (yield)",
        "dpcore_classifiers is a hook wrapper",
    ),
    "old wrapper": (
        HEAD + "@hookimpl(hookwrapper=True)\ndef dpcore_classifiers():\n    yield",
        "dpcore_classifiers is a hook wrapper",
    ),
    "unmarked": (
        HEAD + "def dpcore_tables(): return []",
        "dpcore_tables is not marked with @dpcore.hookimpl",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_plugin_is_one_row_with_its_reason_and_the_others_work(plant, load, case):
    source, reason = BROKEN[case]
    plant("bad", source, entry="bad-entry")
    plant("good", classifiers("fine"))
    registry = load()
    row = only(registry.rows(), "bad-entry")
    assert (row.kind, row.dist, row.version, row.status) == ("", "bad", "1.0", "broken")
    assert reason in row.detail
    assert "\n" not in row.detail
    assert registry.names("classifier") == ["fine"]
    with pytest.raises(PluginError, match=r"the plugin 'bad-entry' of bad is broken: "):
        registry.get("classifier", "bad-entry")


BROKEN_HOOKS = {
    "raises": ("raise ValueError('a\\nb')", "in dpcore_mechanisms(): ValueError: a b"),
    "exits": ("raise SystemExit", "in dpcore_mechanisms(): it called sys.exit()"),
    "none": ("return None", "dpcore_mechanisms() must return a list of Component. Got NoneType instead"),
    "generator": ("yield", "must return a list of Component. Got generator instead"),
    "strings": ("return ['x']", "must return a list of Component. Got a list with str instead"),
    "bad name": ("return [Component('X', '', 'm:x')]", "ValueError: Component.name must be lower-case"),
    "twice": ("return [Component('x', '', 'm:x')] * 2", "gives the name 'x' twice"),
}


@pytest.mark.parametrize("case", BROKEN_HOOKS)
def test_a_broken_hook_loses_only_its_own_components(plant, load, case):
    body, reason = BROKEN_HOOKS[case]
    plant("half", classifiers("kept") + f"\n@hookimpl\ndef dpcore_mechanisms():\n    {body}\n")
    registry = load()
    row = only(registry.rows(), "main")
    assert (row.kind, row.status) == ("mechanism", "broken")
    assert reason in row.detail
    assert registry.get("classifier", "kept")
    assert registry.names("mechanism") == []


def test_an_unknown_hook_that_is_marked_optional_is_for_a_later_dpcore(plant, load):
    plant("new", classifiers("a") + "\n@hookimpl(optionalhook=True)\ndef dpcore_future(): return []\n")
    assert [row.status for row in load().rows()] == ["ok"]


def test_ctrl_c_during_an_import_passes(plant, load):
    plant("slow", "raise KeyboardInterrupt")
    with pytest.raises(KeyboardInterrupt):
        load()


def test_an_exception_that_cannot_be_shown_is_still_a_row(plant, load):
    plant("odd", "class E(Exception):\n    def __str__(self): raise ValueError\nraise E")
    assert only(load().rows(), "main").detail == "at import: E: (its message cannot be shown)"


@pytest.mark.parametrize(
    ("requires", "reason"),
    [
        ("dpcore>=99", "it needs dpcore>=99, and this is dpcore 0.1.0"),
        ("dpcore (<0.1)", "it needs dpcore<0.1, and this is dpcore 0.1.0"),
        ("DPCORE[plot] ~= 2.0", "it needs dpcore~= 2.0, and this is dpcore"),
        ("dpcore ?!", "reading its metadata: InvalidSpecifier"),
        ("dpcore-mechanisms>=0.1", "it does not declare which dpcore it needs"),
        ("dpcore>=0.1; extra == 'later'", "it does not declare which dpcore it needs"),
        (None, "it does not declare which dpcore it needs"),
    ],
)
def test_the_api_version_is_checked_before_any_import(plant, load, requires, reason):
    module = plant("old", "raise AssertionError('imported')", requires)
    assert reason in only(load().rows(), "main").detail
    assert module not in sys.modules


@pytest.mark.parametrize(
    "requires",
    ["dpcore", "dpcore>=0.1", "dpcore ==0.1.*", "dpcore @ file:///x", "dpcore>=0.1; python_version>'3'"],
)
def test_a_fitting_api_version_is_accepted(plant, load, requires):
    plant("new", classifiers("a"), requires)
    assert only(load().rows(), "a").status == "ok"


_version = st.lists(st.integers(0, 3), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
_clause = st.tuples(st.sampled_from([">=", "<", "<=", "~=", "=="]), _version).map("".join)


@given(st.lists(_clause, min_size=1, max_size=3).map(",".join), _version)
def test_the_quick_version_check_agrees_with_packaging(versions, version):
    try:
        expected = SpecifierSet(versions).contains(version, prereleases=True)
    except ValueError:  # `~=1` is not a specifier
        return
    assert fits(versions, version) == expected


def test_unreadable_metadata_is_a_row(plant, load, tmp_path):
    plant("good", classifiers("a"))
    info = tmp_path / "garbled-2.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Name: garbled\nVersion: 2.0\n")
    (info / "entry_points.txt").write_text("[dpcore]\nthis is no entry point\n")
    registry = load()
    row = only(registry.rows(), "garbled")
    assert (row.dist, row.version, row.status) == ("garbled", "2.0", "broken")
    assert row.detail.startswith("reading its metadata: ")
    assert registry.names("classifier") == ["a"]


def test_a_copy_that_is_shadowed_on_the_path_is_not_loaded(plant, tmp_path):
    plant("twice", classifiers("current"))
    older = tmp_path / "older"
    (older / "twice-0.9.dist-info").mkdir(parents=True)
    (older / "twice-0.9.dist-info/METADATA").write_text("Name: twice\nVersion: 0.9\n")
    (older / "twice-0.9.dist-info/entry_points.txt").write_text("[dpcore]\nmain = nowhere\n")
    rows = load_plugins(path=[str(tmp_path), str(older)]).rows()
    assert [(row.name, row.version) for row in rows] == [("current", "1.0")]


def test_two_packages_with_one_name_both_stay_reachable(plant, load):
    plant("left", classifiers("twin"))
    plant("right", classifiers("twin", "single"))
    registry = load()
    assert registry.names("classifier") == ["left:twin", "right:twin", "single"]
    assert {row.status for row in registry.rows() if row.name == "twin"} == {"conflict"}
    assert "reachable as left:twin beside right:twin" in registry.rows()[1].detail
    for lookup in (lambda: registry.component("classifier", "twin"), lambda: registry.find("twin")):
        with pytest.raises(PluginError, match=r"'twin' has no short name; say which: left:twin, right:twin\."):
            lookup()
    assert registry.get("classifier", "left:twin") is not registry.get("classifier", "right:twin")
    assert [kind for kind, _ in registry.find("left:twin")] == ["classifier"]


def test_a_stranger_cannot_shadow_a_name_of_this_repository(plant, load):
    ours = plant("dpcore-mechanisms", classifiers("laplace"))
    plant("aaa-stranger", classifiers("laplace"))
    registry = load()
    assert registry.component("classifier", "laplace").factory == f"{ours}:Thing"
    status = {row.dist: (row.status, row.detail) for row in registry.rows()}
    assert status["dpcore-mechanisms"] == ("ok", "")
    assert status["aaa-stranger"] == (
        "conflict",
        "the short name belongs to dpcore-mechanisms; reachable as aaa-stranger:laplace",
    )
    assert registry.get("classifier", "aaa-stranger:laplace")


def test_no_plugin_takes_a_verb_of_the_core(plant, load):
    plant("greedy", classifiers("fit").replace("dpcore_classifiers", "dpcore_commands"))
    registry = load()
    assert registry.names("command") == ["greedy:fit"]
    assert registry.rows()[0].detail == "the short name belongs to dpcore; reachable as greedy:fit"


def test_the_reserved_verbs_are_those_of_the_command_line():
    assert set(VERBS) == CORE_VERBS


def test_one_package_cannot_give_a_name_in_two_entry_points(plant, load):
    plant("split", classifiers("a"), entry="one")
    plant("split", classifiers("a"), entry="two")
    rows = load().rows()
    assert [(row.name, row.status) for row in rows] == [("a", "ok"), ("two", "broken")]
    assert "the name 'a', which entry point 'one' of the same package already gives" in rows[1].detail


@pytest.mark.parametrize("word", ["Gone_Plugin", "its-entry"])
def test_a_disabled_plugin_is_not_imported_and_says_so(plant, load, word):
    module = plant("gone-plugin", classifiers("gone"), entry="its_entry")
    plant("good", classifiers("fine"))
    registry = load(f" {word},")
    row = only(registry.rows(), "its_entry")
    assert (row.status, row.detail) == ("disabled", "disabled by DPCORE_DISABLE")
    assert module not in sys.modules
    with pytest.raises(PluginError, match=r"no classifier is called 'gone'; .*; disabled: gone-plugin\."):
        registry.get("classifier", "gone")
    for name in ("gone-plugin:gone", "its_entry"):
        with pytest.raises(PluginError, match=r"the plugin 'its_entry' of gone-plugin is disabled\."):
            registry.get("classifier", name)


def test_what_to_disable_comes_from_the_environment(plant, load, monkeypatch):
    plant("p", classifiers("a"))
    monkeypatch.setenv("DPCORE_DISABLE", "p")
    assert [row.status for row in load().rows()] == ["disabled"]


def test_disabling_what_does_not_exist_is_an_error(plant, load):
    plant("p", classifiers("a"))
    with pytest.raises(PluginError, match="'q', which matches no plugin; there is: main, p") as caught:
        load("p,q")
    assert caught.value.exit_code == 2


def test_an_unknown_name_is_answered_with_the_nearest_or_all(plant, load):
    plant("p", classifiers("naive_bayes", "cart"))
    registry = load()
    with pytest.raises(PluginError) as near:
        registry.component("classifier", "naive_bayse")
    assert str(near.value) == "no classifier is called 'naive_bayse'; nearest: naive_bayes."
    with pytest.raises(PluginError) as far:
        registry.component("classifier", "zzz")
    assert str(far.value) == "no classifier is called 'zzz'; there are: cart, naive_bayes."
    with pytest.raises(PluginError, match=r"no table is called 'x'; none is installed\."):
        registry.component("table", "x")
    with pytest.raises(PluginError, match=r"no component is called 'carrt'; nearest: cart\."):
        registry.find("carrt")
    with pytest.raises(PluginError, match=r"called 'q:cart'; nearest: cart\."):
        registry.component("classifier", "q:cart")


def test_an_unknown_kind_is_answered_with_the_kinds(load):
    for lookup in (load().names, lambda kind: load().get(kind, "x")):
        with pytest.raises(PluginError, match=r"there is no kind 'shape'; the kinds are: mechanism, "):
            lookup("shape")


@pytest.mark.parametrize(
    ("factory", "reason"),
    [
        ("no_such_module_4711:X", "ModuleNotFoundError: No module named 'no_such_module_4711'"),
        ("json:nothing", "AttributeError: module 'json' has no attribute 'nothing'"),
        ("antigravity_exit_4711:X", "it called sys.exit(9)"),
    ],
)
def test_a_factory_that_fails_on_first_use_is_one_line(plant, load, tmp_path, factory, reason):
    (tmp_path / "antigravity_exit_4711.py").write_text("import sys; sys.exit(9)")
    body = f"return [Component('late', '', '{factory}')]"
    plant("p", f"{HEAD}\n@hookimpl\ndef dpcore_classifiers():\n    {body}\n")
    registry = load()
    assert registry.rows()[0].status == "ok"
    with pytest.raises(PluginError) as caught:
        registry.get("classifier", "late")
    assert str(caught.value) == f"classifier 'late' of p cannot be loaded: {reason}"


def test_what_a_plugin_prints_does_not_reach_stdout(plant, load, capsys):
    plant("loud", "print('boo')\n" + classifiers("a"))
    load()
    assert capsys.readouterr() == ("", "boo\n")


def test_rows_stand_in_the_order_of_kinds_then_names(plant, load):
    hooks = "".join(
        f"\n@hookimpl\ndef {hook}():\n    return [Component(n, '', 'm:x') for n in 'ba']\n"
        for hook in hookspecs.KINDS.values()
    )
    plant("all", HEAD + hooks)
    plant("bad", "1/0")
    expected = [(kind, name) for kind in hookspecs.KINDS for name in "ab"] + [("", "main")]
    assert [(row.kind, row.name) for row in load().rows()] == expected


def test_importing_the_registry_discovers_nothing(plant, tmp_path):
    plant("p", "raise AssertionError('imported')")
    code = "import dpcore, dpcore.registry, dpcore.discovery, dpcore.hookspecs"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
