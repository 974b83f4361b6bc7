"""Installed distributions that name plugins, and whether their metadata fits this dpcore.

Everything here is read from metadata files: no plugin's code has run yet.
"""

from __future__ import annotations

import importlib.metadata
import operator
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from dpcore import __version__
from dpcore.errors import PluginError
from dpcore.isolation import foreign_code

GROUP = "dpcore"
# packaging reads all this too, but importing it takes a sixth of the time that `dpcore --help` may take,
# so it is left for what is not of the usual form `dpcore>=0.1,<0.2`.
_REQUIRES_DPCORE = re.compile(
    r"\s*dpcore(?![\w.-])\s*(?:\[[^]]*\])?(?P<versions>[^;]*)(?:;(?P<marker>.*))?", re.IGNORECASE
)
_PLAIN = re.compile(r"\d+(?:\.\d+)*", re.ASCII)
_PLAIN_CLAUSE = re.compile(r"\s*(>=|<)\s*(\d+(?:\.\d+)*)\s*", re.ASCII)
_COMPARE = {">=": operator.ge, "<": operator.lt}


class Plugin(NamedTuple):
    """One entry point of one distribution; `dist` is the normalised name."""

    entry: str
    dist: str
    version: str


class Fault(NamedTuple):
    """A plugin, or one hook of it, that provides nothing: `status` is "broken" or "disabled"."""

    plugin: Plugin
    kind: str
    status: str
    reason: str


def normalise(name: str) -> str:
    """A distribution's name as PEP 503 compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


Found = tuple[Plugin, importlib.metadata.Distribution, importlib.metadata.EntryPoint]


def entry_points(path: Sequence[str] | None, faults: list[Fault]) -> Iterator[Found]:
    """Every plugin that an installed distribution names; unreadable ones go to `faults`.

    Args:
        path: folders to search instead of `sys.path`.
        faults: where to add a distribution whose metadata cannot be read.
    """
    # importlib.metadata.entry_points() would fail as a whole on one malformed file, and the metadata of
    # all installed distributions is slow to parse, so each file is read alone and only ours are parsed.
    context: dict[str, Any] = {} if path is None else {"path": list(path)}
    seen: set[str] = set()
    for dist in importlib.metadata.distributions(**context):
        plugin = Plugin("?", "?", "?")
        try:
            with foreign_code("reading its metadata"):
                text = dist.read_text("entry_points.txt") or ""
                if f"[{GROUP}]" not in text:
                    continue
                metadata = dist.metadata
                name = normalise(metadata["Name"])
                plugin = Plugin(name, name, metadata["Version"] or "?")
                first = next(iter(importlib.metadata.distributions(name=name, **context)), dist)
                if name in seen or first.read_text("entry_points.txt") != text:
                    continue  # an older copy, shadowed by one earlier on the path
                seen.add(name)
                entries = dist.entry_points.select(group=GROUP)
        except PluginError as error:
            faults.append(Fault(plugin, "", "broken", str(error)))
            continue
        for entry in entries:
            yield Plugin(entry.name, plugin.dist, plugin.version), dist, entry


def api_problem(dist: importlib.metadata.Distribution, name: str) -> str:
    """Why a distribution does not fit this dpcore, from its metadata alone; "" if it does."""
    if name == "dpcore":
        return ""
    declared = False
    for match in filter(None, map(_REQUIRES_DPCORE.match, dist.requires or ())):
        versions, marker = match["versions"].strip(" ()"), match["marker"]
        if marker and not _applies(marker):
            continue
        declared = True
        if not versions.startswith("@") and not fits(versions, __version__):
            return f"it needs dpcore{versions}, and this is dpcore {__version__}"
    if declared:
        return ""
    return "it does not declare which dpcore it needs (no 'Requires-Dist: dpcore…' in its metadata)"


def fits(versions: str, version: str) -> bool:
    """Whether `version` satisfies a specifier such as `>=0.1,<0.2`; pre-releases count as any other.

    Raises:
        ValueError: if the specifier cannot be read.
    """
    clauses = [_PLAIN_CLAUSE.fullmatch(clause) for clause in versions.split(",")]
    if _PLAIN.fullmatch(version) and all(clauses):
        return all(_COMPARE[c[1]](_release(version), _release(c[2])) for c in clauses if c)
    from packaging.specifiers import SpecifierSet

    return SpecifierSet(versions).contains(version, prereleases=True)


def _release(version: str) -> tuple[int, ...]:
    # 0.1 and 0.1.0 are one version: trailing zeros do not count
    return tuple(map(int, re.sub(r"(\.0+)*\Z", "", version).split(".")))


def _applies(marker: str) -> bool:
    from packaging.markers import Marker

    return Marker(marker.strip()).evaluate({"extra": ""})
