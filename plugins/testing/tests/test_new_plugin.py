"""A generated package is complete and right as it stands, and nothing is written where something is wrong."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from dpcore.cli import main
from dpcore.errors import InputError
from dpcore.registry import load_plugins
from dpcore_testing.audit import audit
from dpcore_testing.checks import run_all
from dpcore_testing.new_plugin import KINDS, new_plugin
from dpcore_testing.target import located

NAME = "zebra-2_x"


@pytest.fixture(scope="module", params=KINDS)
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A kind, and a package of that kind as it is generated."""
    return request.param, new_plugin(NAME, request.param, tmp_path_factory.mktemp("new") / request.param)


def test_it_passes_every_check_of_its_kind(package):
    kind, folder = package
    with located(str(folder)) as found:
        assert found.components == [(kind, NAME)]
        results = list(run_all(found, seconds=0.5))
    assert len(results) >= 5
    assert [r for r in results if r.status == "failed"] == []
    assert {r.message for r in results if r.status == "skipped"} <= {"it has no parameters."}


def test_the_audit_sees_exactly_what_it_charges(package):
    kind, folder = package
    if not KINDS[kind].audited:
        pytest.skip(f"an audit says nothing about the {kind} kind")
    with located(str(folder)) as found:
        reports = audit(NAME, kind=kind, registry=found.registry, seconds=0.2)
    assert [r.adjacency for r in reports] == ["add-remove", "replace-one"]
    assert all(r.verdict == "ok" and r.loss == pytest.approx(r.charged) for r in reports)


def test_its_own_tests_pass(package):
    _, folder = package
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--deselect", "tests/test_checks.py"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped" not in done.stdout


def test_its_tests_call_the_kit(package):
    _, folder = package
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_checks.py", "-k"]
    done = subprocess.run([*command, "loads or described"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_it_is_complete_and_short(package):
    _, folder = package
    data = tomllib.loads((folder / "pyproject.toml").read_text())
    project = data["project"]
    assert project["name"] == "dpcore-zebra-2-x"
    assert "dpcore>=0.1,<0.2" in project["dependencies"]
    assert project["optional-dependencies"] == {"test": ["dpcore-testing", "pytest"]}
    assert project["entry-points"]["dpcore"] == {NAME: "dpcore_zebra_2_x"}
    code = folder / "src" / "dpcore_zebra_2_x"
    assert (code / "py.typed").is_file()
    assert all(len(file.read_text().splitlines()) < 60 for file in code.glob("*.py"))
    texts = [file.read_text() for file in folder.rglob("*.*") if file.is_file()]
    assert not [text for text in texts if "$" in text]
    assert f"dpcore describe {NAME}" in (folder / "README.md").read_text()
    assert (folder.stat().st_mode & 0o777) == 0o777 & ~_umask()


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def test_pip_installs_it_and_dpcore_lists_it(tmp_path):
    folder = new_plugin(NAME, "allocator", tmp_path / "package")
    target = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    pip += ["--no-deps", "--no-build-isolation", "--target", str(target), str(folder)]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    env = {**os.environ, "PYTHONPATH": str(target), "DPCORE_DISABLE": ""}

    def run(*args: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dpcore.cli", *args]
        return subprocess.run(command, env=env, capture_output=True, text=True, check=False)

    rows = json.loads(run("list-plugins", "--json").stdout)
    (row,) = [row for row in rows if row["dist"] == "dpcore-zebra-2-x"]
    assert (row["name"], row["kind"], row["version"], row["status"]) == (NAME, "allocator", "0.1.0", "ok")
    plan = json.loads(
        run("plan", "naive_bayes", "--schema", "iris", "--epsilon", "1", "--allocator", NAME, "--json").stdout
    )
    assert plan["allocator"] == NAME
    again = run("new-plugin", NAME, "--kind", "allocator", "--out", str(tmp_path / "again"))
    assert (again.returncode, len(again.stderr.splitlines())) == (2, 1)
    assert "already" in again.stderr
    assert not (tmp_path / "again").exists()


def test_the_verb_writes_a_folder_of_its_own_and_says_what_to_do_next(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new-plugin", "zebra", "--kind", "mechanism"]) == 0
    said = capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["dpcore-zebra"]
    for line in ("pip install -e", "dpcore check-plugin", "dpcore audit"):
        assert f"  {line} ./dpcore-zebra\n" in said


def test_no_audit_is_advised_where_it_has_nothing_to_say(tmp_path, capsys):
    assert main(["new-plugin", "zebra", "--kind", "allocator", "--out", str(tmp_path / "a b")]) == 0
    said = capsys.readouterr().out
    assert "dpcore audit" not in said
    assert f"dpcore check-plugin '{tmp_path / 'a b'}'" in said


BAD = ["", "Zebra", "2zebra", "zebra_", "zebra--x", "zébra", "ze bra", "../zebra", "zebra\n", "z" * 41, "a:b", "$name"]
TAKEN = ["class", "lambda", "geometric", "mechanisms", "budget", "testing"]


@pytest.mark.parametrize("name", [*BAD, *TAKEN])
def test_a_name_that_cannot_be_used_is_refused_in_one_line(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["new-plugin", "--kind", "mechanism", "--", name]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert "name" in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_name_that_an_installed_component_of_the_kind_has_is_refused(kind, tmp_path):
    for name in (n for n in load_plugins().names(kind) if ":" not in n):
        with pytest.raises(InputError, match=r"already|keyword"):
            new_plugin(name, kind, tmp_path / "package")
    assert list(tmp_path.iterdir()) == []


def test_a_name_of_another_kind_may_be_used_again(tmp_path):
    assert new_plugin("geometric", "allocator", tmp_path / "package").is_dir()


@pytest.mark.parametrize("make", [Path.mkdir, Path.touch, lambda path: path.symlink_to("nowhere")])
def test_what_exists_is_left_alone(make, tmp_path, capsys):
    folder = tmp_path / "taken"
    make(folder)
    assert main(["new-plugin", "zebra", "--kind", "sensitivity", "--out", str(folder)]) == 2
    assert "exists already" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [folder]


def test_a_folder_in_no_folder_is_refused(tmp_path):
    with pytest.raises(InputError, match="there is no folder"):
        new_plugin("zebra", "sensitivity", tmp_path / "none" / "zebra")


def test_nothing_is_left_where_writing_fails(tmp_path, monkeypatch):
    def full(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError, match="No space left on device"):
        new_plugin("zebra", "sensitivity", tmp_path / "zebra")
    assert list(tmp_path.iterdir()) == []


def test_no_tool_takes_a_template_for_python():
    root = Path(str(resources.files("dpcore_testing") / "templates"))
    assert {file.suffix for file in root.rglob("*") if file.is_file()} == {".txt"}
