"""What a command is pointed at: a component by name, a distribution, or the folder of a project that is not installed.

A project is read from its `pyproject.toml` and put on the path as pip would, with metadata in a temporary folder; when
the work is done, the path, the modules and the folder are as they were.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import attrs

from dpcore.distributions import GROUP, normalise
from dpcore.errors import InputError, PluginError
from dpcore.isolation import one_line
from dpcore.registry import Registry, Row, load_plugins


class Located(NamedTuple):
    """What was found: a registry, the (kind, name) of each component in it that is meant, and plugins at fault."""

    registry: Registry
    components: list[tuple[str, str]]
    faults: list[Row]


@contextlib.contextmanager
def located(what: str) -> Iterator[Located]:
    """Find components, and keep a project that is not installed importable while the context lasts.

    Args:
        what: a component's name (`laplace`, `package:laplace`), a distribution (`dpcore-mechanisms`, or
            `dpcore-mechanisms:` where a component has the same name), or a folder with a pyproject.toml.

    Raises:
        InputError: if the folder holds no usable project, or the word stands for several things.
        PluginError: if nothing has that name, or it is disabled.
    """
    if _is_path(what):
        with planted(project(Path(what))) as dist:
            yield _of_distribution(load_plugins(), dist)
        return
    found = _named(load_plugins(), what)
    if (Path(what) / "pyproject.toml").is_file():
        if found is not None:
            raise InputError(f"{what!r} is a folder and an installed plugin: write ./{what} for the folder.")
        with planted(project(Path(what))) as dist:
            yield _of_distribution(load_plugins(), dist)
        return
    if found is None:
        raise PluginError(
            f"{_unknown(what)} Nor is there a distribution of that name, or a folder with a pyproject.toml."
        )
    yield found


def short_name(row: Row) -> str:
    """How users type a component's name: `dist:name` where the short name is another's."""
    return f"{row.dist}:{row.name}" if row.status == "conflict" else row.name


def is_installed(what: str) -> bool:
    """Whether `located` would look among what is installed, not in a folder."""
    return not _is_path(what) and not (Path(what) / "pyproject.toml").is_file()


def _is_path(what: str) -> bool:
    return "/" in what or os.sep in what or what in (".", "..", "~", "pyproject.toml")


def _named(registry: Registry, what: str) -> Located | None:
    """What is installed under a name; None for nothing."""
    rows = registry.rows()
    dist, is_dist = normalise(what.removesuffix(":")), any(row.dist == normalise(what) for row in rows)
    if what.endswith(":"):
        return _of_distribution(registry, dist)
    named = [row for row in rows if row.name == what and row.status in ("ok", "conflict")]
    if is_dist and named:
        raise InputError(
            f"{what!r} is a distribution and a {named[0].kind}: write {what}: for all that the distribution provides, "
            f"or {named[0].dist}:{what} for the {named[0].kind}."
        )
    if is_dist:
        return _of_distribution(registry, dist)
    try:
        return Located(registry, [(kind, what) for kind, _ in registry.find(what)], [])
    except PluginError:
        if named:  # the short name is taken twice
            raise
        faults = [row for row in rows if row.status == "broken" and normalise(row.name) == dist]
        return Located(registry, [], faults) if faults else None


def _of_distribution(registry: Registry, dist: str) -> Located:
    rows = [row for row in registry.rows() if row.dist == dist]
    if not rows:
        raise PluginError(f"no plugin of the distribution {dist!r} is installed.")
    if all(row.status == "disabled" for row in rows):
        raise PluginError(f"{dist} is disabled by DPCORE_DISABLE.")
    components = [(row.kind, short_name(row)) for row in rows if row.status in ("ok", "conflict")]
    return Located(registry, components, [row for row in rows if row.status == "broken"])


def _unknown(what: str) -> str:
    try:
        load_plugins().find(what)
    except PluginError as error:
        return str(error)
    raise AssertionError("a known name was not found")  # pragma: no cover


# -- a project that is not installed ------------------------------------------------------------------------------


@attrs.frozen
class Project:
    """What a pyproject.toml says of a plugin.

    Args:
        name, version: of the distribution.
        requires: its dependencies.
        entries: its entry points in the group `dpcore`.
        code: the folder that its modules stand in.
    """

    name: str
    version: str
    requires: tuple[str, ...]
    entries: Mapping[str, str]
    code: Path


def project(folder: Path) -> Project:
    """Read a project's metadata.

    Args:
        folder: the project, or its pyproject.toml.

    Raises:
        InputError: if there is no pyproject.toml, or it names no plugin.
    """
    folder = folder.expanduser()
    folder = folder.parent if folder.name == "pyproject.toml" else folder
    shown = str(folder / "pyproject.toml")
    try:
        data = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {shown!r}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{shown!r} is not TOML: {one_line(str(error))}.") from None
    table = data.get("project")
    if not isinstance(table, dict) or not _is_text(table.get("name")):
        raise InputError(f"{shown!r} has no [project] table with a name.")
    points = table.get("entry-points")
    entries = points.get(GROUP) if isinstance(points, dict) else None
    if not isinstance(entries, dict) or not entries or not all(map(_is_text, entries.values())):
        raise InputError(f"{shown!r} names no plugin: it needs [project.entry-points.{GROUP}] with a module.")
    requires = table.get("dependencies", [])
    if not isinstance(requires, list) or not all(map(_is_text, requires)):
        raise InputError(f"{shown!r}: 'dependencies' must be a list of texts.")
    code = folder / "src" if (folder / "src").is_dir() else folder
    version = str(table.get("version") or "0")  # a build tool may fill it in
    return Project(table["name"], version, tuple(requires), entries, code.resolve())


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


@contextlib.contextmanager
def planted(found: Project) -> Iterator[str]:
    """Make a project importable and discoverable, before anything that is installed; yields its normalised name."""
    tops = {_top(value.partition(":")[0]).strip() for value in found.entries.values()}
    with tempfile.TemporaryDirectory(prefix="dpcore-plugin-") as metadata:
        _write_metadata(found, Path(metadata))
        before, path, no_bytecode = set(sys.modules), list(sys.path), sys.dont_write_bytecode
        elsewhere = {n: m for n, m in sys.modules.items() if _top(n) in tops and not _stands_in(m, found.code)}
        for name in elsewhere:  # a copy that is installed, or of another project
            del sys.modules[name]
        sys.path[:0] = [metadata, str(found.code)]
        sys.dont_write_bytecode = True
        importlib.invalidate_caches()
        try:
            yield normalise(found.name)
        finally:
            sys.dont_write_bytecode = no_bytecode
            sys.path[:] = path
            for name, module in list(sys.modules.items()):
                if name not in before and (_top(name) in tops or _stands_in(module, found.code)):
                    del sys.modules[name]
            sys.modules.update(elsewhere)
            for folder in (metadata, str(found.code)):
                if folder not in path:
                    sys.path_importer_cache.pop(folder, None)
            importlib.invalidate_caches()


def _top(module: str) -> str:
    return module.partition(".")[0]


def _stands_in(module: ModuleType | None, folder: Path) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and Path(file).is_relative_to(folder)


def _write_metadata(found: Project, folder: Path) -> None:
    """What pip would write, as far as discovery reads it."""
    info = folder / f"{normalise(found.name).replace('-', '_')}-{one_line(found.version)}.dist-info"
    info.mkdir()
    head = ["Metadata-Version: 2.1", f"Name: {one_line(found.name)}", f"Version: {one_line(found.version)}"]
    head += [f"Requires-Dist: {one_line(line)}" for line in found.requires]
    (info / "METADATA").write_text("\n".join(head) + "\n", encoding="utf-8")
    points = [f"{one_line(key)} = {one_line(value)}" for key, value in found.entries.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{GROUP}]", *points]) + "\n", encoding="utf-8")
    (info / "RECORD").write_text("", encoding="utf-8")
