"""A generated package is complete and right as it stands, and nothing is written where something is wrong."""

from __future__ import annotations

import json
import os
import shutil
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
from dpcore_testing.checks import checks_of, run_all
from dpcore_testing.new_plugin import KINDS, new_plugin
from dpcore_testing.target import located

NAME = "zebra-2_x"


@pytest.fixture(scope="module", params=KINDS)
def package(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A kind, and a package of that kind as it is generated."""
    return request.param, new_plugin(NAME, request.param, tmp_path_factory.mktemp("new") / request.param)


def test_it_passes_every_check_of_its_kind(package):
    kind, folder = package
    names = [c.name for c in checks_of(kind) if c.name != "audited"]  # that one is the next test
    with located(str(folder)) as found:
        assert found.components == [(kind, NAME)]
        results = list(run_all(found, only=names))
    assert [r.check for r in results] == names
    assert [r for r in results if r.status == "failed"] == []
    skipped = {r.check for r in results if r.status == "skipped"}
    assert skipped <= {"parameters-documented", "parameters-in-range", "draws-what-it-is-asked"}


def test_the_audit_sees_exactly_what_it_charges(package):
    kind, folder = package
    if not KINDS[kind].audited:
        pytest.skip(f"an audit says nothing about the {kind} kind")
    with located(str(folder)) as found:
        reports = audit(NAME, kind=kind, registry=found.registry, seconds=0)
    assert [r.adjacency for r in reports] == ["add-remove", "replace-one"]
    assert all(r.verdict == "ok" and r.loss == pytest.approx(r.charged) for r in reports)


def test_its_own_tests_pass_and_call_the_kit(package):
    _, folder = package
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rA"]
    command += ["-k", "not test_it_passes_dpcores_checks or loads or described"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    passed = [line.split("::")[1] for line in done.stdout.splitlines() if line.startswith("PASSED")]
    kit = [f"test_it_passes_dpcores_checks[{NAME}-{check}]" for check in ("loads", "described")]
    assert set(kit) < set(passed)
    assert "skipped" not in done.stdout


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


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed a package of every kind; their names are `zebra-2_KIND`."""
    drafts, target = tmp_path_factory.mktemp("drafts"), tmp_path_factory.mktemp("installed")
    folders = [str(new_plugin(f"zebra-2_{kind}", kind, drafts / kind)) for kind in KINDS]
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
    pip += ["--no-deps", "--no-build-isolation", "--target", str(target), *folders]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    shutil.rmtree(drafts)
    return target


def dpcore(installed: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The command line, where these packages are installed."""
    env = {**os.environ, "PYTHONPATH": str(installed), "DPCORE_DISABLE": ""}
    command = [sys.executable, "-m", "dpcore.cli", *words]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


def test_pip_installs_every_kind_and_dpcore_lists_and_uses_it(installed, tmp_path):
    rows = json.loads(dpcore(installed, "list-plugins", "--json").stdout)
    found = [(r["kind"], r["name"], r["dist"], r["version"], r["status"]) for r in rows if "zebra" in r["dist"]]
    assert sorted(found) == [(k, f"zebra-2_{k}", f"dpcore-zebra-2-{k}", "0.1.0", "ok") for k in sorted(KINDS)]
    ours = {k: f"zebra-2_{k}" for k in KINDS}
    options = ["--schema", "iris", "--epsilon", "1", "--json", "--allocator", ours["allocator"]]
    options += ["--mechanism", ours["mechanism"], "--sensitivity", ours["sensitivity"]]
    plan = json.loads(dpcore(installed, "plan", ours["classifier"], *options).stdout)
    assert (plan["classifier"], plan["allocator"]) == (ours["classifier"], ours["allocator"])
    assert {step["mechanism"] for step in plan["steps"]} == {ours["mechanism"]}


@pytest.mark.parametrize("kind", KINDS)
def test_what_pip_installed_is_checked_by_its_name(kind, installed):
    quick = [c.name for c in checks_of(kind) if c.name in ("loads", "light-discovery", "described")]
    only = [word for name in quick for word in ("--only", name)]
    done = dpcore(installed, "check-plugin", f"zebra-2_{kind}", *only, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout)["counts"] == {"ok": 3, "failed": 0, "skipped": 0}


def test_the_name_of_what_is_installed_is_taken(installed, tmp_path):
    again = dpcore(
        installed, "new-plugin", "zebra-2_allocator", "--kind", "allocator", "--out", str(tmp_path / "again")
    )
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
