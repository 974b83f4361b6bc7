"""A word is found as a component, a distribution or a project, and a project leaves no trace."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dpcore.errors import InputError, PluginError
from dpcore_testing.target import located, short_name

STAIRCASE = Path(__file__).parents[3] / "examples" / "staircase"
SOUND = """
import attrs
from dpcore import BudgetAllocator, Component, hookimpl

@hookimpl
def dpcore_budget_allocators():
    return [Component("{name}", "Everything in equal parts", "{module}:Equal")]

@attrs.frozen
class Equal(BudgetAllocator):
    notes = "Equal parts."

    def allocate(self, steps):
        return [1 / len(steps)] * len(steps)
"""


def sound(name: str = "equal", module: str = "sketch") -> str:
    return SOUND.format(name=name, module=module)


def test_a_name_is_a_component_of_every_kind_that_has_it() -> None:
    with located("laplace") as found:
        assert found.components == [("mechanism", "laplace")]
        assert found.faults == []
    with located("dpcore-mechanisms:laplace") as found:
        assert found.components == [("mechanism", "dpcore-mechanisms:laplace")]


@pytest.mark.parametrize("word", ["dpcore-budget", "Dpcore_Budget", "dpcore-budget:"])
def test_a_distribution_is_all_of_its_components(word: str) -> None:
    with located(word) as found:
        kinds = {kind for kind, _ in found.components}
        assert {("allocator", "uniform"), ("allocator", "weights")} <= set(found.components)
        assert kinds <= {"allocator", "ledger", "command"}


@pytest.mark.parametrize("path", [STAIRCASE, STAIRCASE / "pyproject.toml"])
def test_a_folder_is_a_project_that_is_found_while_the_context_lasts(path: Path) -> None:
    modules, before = set(sys.modules), list(sys.path)
    with located(str(path)) as found:
        assert found.components == [("mechanism", "staircase")]
        mechanism = found.registry.get("mechanism", "staircase")
        assert mechanism.__module__ in sys.modules
        temporary = Path(sys.path[0])
        assert temporary.is_dir()
    assert sys.path == before
    assert {name for name in sys.modules if name.startswith("dpcore_staircase")} <= modules
    assert not temporary.exists()
    assert str(temporary) not in sys.path_importer_cache


def test_a_project_that_is_not_under_src_is_found(project, tmp_path) -> None:
    folder = project(sound())
    (folder / "src" / "sketch.py").rename(folder / "sketch.py")
    (folder / "src").rmdir()
    with located(str(folder)) as found:
        assert found.components == [("allocator", "equal")]
        assert found.registry.get("allocator", "equal")().allocate([1, 2]) == [0.5, 0.5]
    assert "sketch" not in sys.modules
    assert not list(folder.rglob("__pycache__"))


def test_it_leaves_no_trace_after_an_error(project) -> None:
    before = list(sys.path)
    with pytest.raises(ZeroDivisionError), located(str(project(sound()))):
        raise ZeroDivisionError
    assert sys.path == before
    assert "sketch" not in sys.modules


def test_a_project_stands_before_an_installed_copy_and_gives_it_back(project) -> None:
    with located("uniform") as found:
        installed = found.registry.get("allocator", "uniform")
    module = sys.modules["dpcore_budget"]
    folder = project(sound("equal", "dpcore_budget"), name="dpcore-budget", module="dpcore_budget")
    with located(str(folder)) as found:
        assert found.components == [("allocator", "equal")]
        assert sys.modules["dpcore_budget"] is not module
    assert sys.modules["dpcore_budget"] is module
    with located("uniform") as found:
        assert found.registry.get("allocator", "uniform") is installed


def test_a_name_that_another_package_has_too_is_written_in_full(project) -> None:
    with located(str(project(sound("uniform")))) as found:
        assert found.components == [("allocator", "dpcore-sketch:uniform")]
        (row,) = [row for row in found.registry.rows() if row.dist == "dpcore-sketch"]
        assert short_name(row) == "dpcore-sketch:uniform"


@pytest.mark.parametrize(
    ("code", "requires", "reason"),
    [
        ("import nowhere_at_all", "dpcore>=0.1", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("raise SystemExit(3)", "dpcore>=0.1", "it called sys.exit(3)"),
        ("def", "dpcore>=0.1", "SyntaxError"),
        ("", "dpcore>=0.1", "it implements no hook"),
        ("", "dpcore>=99", "it needs dpcore>=99"),
        ("", "attrs", "does not declare which dpcore it needs"),
    ],
)
def test_a_broken_plugin_is_found_with_its_whole_reason(project, code: str, requires: str, reason: str) -> None:
    with located(str(project(code, requires=requires))) as found:
        assert found.components == []
        (fault,) = found.faults
        assert reason in fault.detail


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "cannot read"),
        ("[project", "is not TOML"),
        ("[tool.x]\n", "has no [project] table with a name"),
        ('[project]\nname = "x"\n', "names no plugin"),
        ('[project]\nname = "x"\n[project.entry-points.other]\na = "b"\n', "names no plugin"),
        ('[project]\nname = "x"\n[project.entry-points.dpcore]\na = 1\n', "names no plugin"),
        ('[project]\nname = "x"\ndependencies = "y"\n[project.entry-points.dpcore]\na = "b"\n', "list of texts"),
    ],
)
def test_a_folder_without_a_usable_project_is_refused_in_one_line(tmp_path, text: str | None, message: str) -> None:
    if text is not None:
        (tmp_path / "pyproject.toml").write_text(text)
    with pytest.raises(InputError) as caught, located(str(tmp_path)):
        pass
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_word_that_stands_for_several_things_is_refused_with_the_way_out(project, monkeypatch, tmp_path) -> None:
    project(sound(), name="uniform")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"write \./uniform for the folder"), located("uniform"):
        pass
    with located("./uniform") as found:
        assert found.components == [("allocator", "equal")]
    both = pytest.raises(InputError, match=r"write sketch-dist: for all .* or sketch-dist:sketch-dist")
    with located(str(project(sound("sketch-dist"), name="sketch-dist"))), both, located("sketch-dist"):
        pass


def test_a_bare_folder_is_found_where_nothing_is_installed_under_its_name(project, monkeypatch, tmp_path) -> None:
    project(sound())
    monkeypatch.chdir(tmp_path)
    with located("dpcore-sketch") as found:
        assert found.components == [("allocator", "equal")]


def test_what_does_not_exist_is_refused_with_what_is_near() -> None:
    with pytest.raises(PluginError, match="nearest: laplace") as caught, located("laplac"):
        pass
    assert "distribution" in str(caught.value)
    with pytest.raises(PluginError, match="no plugin of the distribution 'nothing'"), located("nothing:"):
        pass


def test_a_disabled_distribution_is_refused(monkeypatch) -> None:
    monkeypatch.setenv("DPCORE_DISABLE", "dpcore-budget")
    with pytest.raises(PluginError, match="disabled by DPCORE_DISABLE"), located("dpcore-budget"):
        pass
