"""A complete package for a new plugin: one component that works and is correct, to be changed into one's own.

Every file is a `string.Template` in `templates/`: those in `package` are for all kinds, those in `templates/<kind>` are
the component and its tests. Their names end in `.txt` so that no tool takes them for Python.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import keyword
import os
import re
import shutil
import tempfile
from importlib import resources
from pathlib import Path
from string import Template

import attrs

from dpcore.distributions import normalise
from dpcore.errors import InputError
from dpcore.hookspecs import KINDS as HOOKS
from dpcore.registry import FIRST_PARTY, load_plugins

_NAME = re.compile(r"[a-z][a-z0-9]*([_-][a-z0-9]+)*\Z")
_LONGEST = 40
_TEXT = ".txt"


@attrs.frozen
class Kind:
    """What the package of one kind says about its component.

    Args:
        part: the module that it stands in.
        suffix: how its class's name ends.
        summary: its sentence in `dpcore list-plugins`.
        example: a command line that uses it.
        audited: whether `dpcore audit` has something to say about it.
    """

    part: str
    suffix: str
    summary: str
    example: str
    audited: bool = True


KINDS = {
    "mechanism": Kind(
        "mechanism",
        "Mechanism",
        "Discrete Laplace noise in whole steps of an answer's grid",
        "dpcore fit naive_bayes iris --epsilon 1 --mechanism {name} --out model.json",
    ),
    "sensitivity": Kind(
        "rule",
        "Rule",
        "How far one person moves counts, whatever the table",
        "dpcore plan naive_bayes --schema iris --epsilon 1 --sensitivity {name}",
    ),
    "classifier": Kind(
        "learner",
        "Learner",
        "A pool of the attributes' opinions, from noisy counts of each by class",
        "dpcore evaluate {name} iris --epsilon 1",
    ),
    "allocator": Kind(
        "allocator",
        "Allocator",
        "Fractions by the square root of a step's cells, for the smallest total error",
        "dpcore plan naive_bayes --schema iris --epsilon 1 --allocator {name}",
        audited=False,
    ),
}
"""The kinds of component that a package can be written for."""


def new_plugin(name: str, kind: str, folder: Path | None = None) -> Path:
    """Write a package with one working component, whole or not at all.

    Args:
        name: what users will type: lower-case letters, digits, and single `-` or `_` between them.
        kind: a key of `KINDS`.
        folder: where to write it; `dpcore-NAME` in the current folder if None.

    Returns:
        the folder.

    Raises:
        InputError: for a name that cannot be used or is taken, or a folder that exists or cannot be written.
    """
    if kind not in KINDS:
        raise InputError(f"a new plugin is a {', '.join(KINDS)}. Got {kind!r}.")
    _check_form(name)
    dist, module = f"dpcore-{normalise(name)}", f"dpcore_{normalise(name).replace('-', '_')}"
    _check_free(name, kind, dist, module)
    target = Path(dist) if folder is None else folder.expanduser()
    _write(target, _files(name, kind, dist, module))
    return target


def _check_form(name: str) -> None:
    if not _NAME.match(name) or len(name) > _LONGEST:
        raise InputError(
            "the name of a plugin is lower-case letters and digits with single '-' or '_' between them, starts with "
            f"a letter and has at most {_LONGEST} characters. Got {name!r:.60}."
        )
    if keyword.iskeyword(name):
        raise InputError(f"{name!r} is a keyword of Python: choose another name.")


def _check_free(name: str, kind: str, dist: str, module: str) -> None:
    for row in load_plugins().rows():
        if (row.kind, row.name) == (kind, name):
            raise InputError(f"the {kind} {name!r} exists already, in {row.dist}: choose another name.")
    if dist in FIRST_PARTY or _is_installed(dist):
        raise InputError(f"there is a package {dist} already: choose another name than {name!r}.")
    if importlib.util.find_spec(module) is not None:
        raise InputError(f"there is a Python module {module} already: choose another name than {name!r}.")


def _is_installed(dist: str) -> bool:
    try:
        importlib.metadata.distribution(dist)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _files(name: str, kind: str, dist: str, module: str) -> dict[str, str]:
    """The text of each file of the package, by its path."""
    about = KINDS[kind]
    words = {
        "name": name,
        "kind": kind,
        "dist": dist,
        "module": module,
        "hook": HOOKS[kind],
        "part": about.part,
        "title": "".join(part.capitalize() for part in re.split("[_-]", name)) + about.suffix,
        "summary": about.summary,
        "example": about.example.format(name=name),
        "audit": "dpcore audit .\n" if about.audited else "",
    }
    templates = resources.files("dpcore_testing") / "templates"
    places = {
        "init.py": f"src/{module}/__init__.py",
        "checks.py": "tests/test_checks.py",
        "tests.py": f"tests/test_{module}.py",
        "readme.md": "README.md",
    }
    files = {f"src/{module}/py.typed": ""}
    for folder in ("package", kind):
        for template in (templates / folder).iterdir():
            short = template.name.removesuffix(_TEXT)
            place = places.get(short, f"src/{module}/{short}" if folder == kind else short)
            files[place] = Template(template.read_text(encoding="utf-8")).substitute(words)
    return files


def _write(folder: Path, files: dict[str, str]) -> None:
    """Write all files into a folder that does not exist yet: beside it first, then renamed."""
    if os.path.lexists(folder):
        raise InputError(f"{str(folder)!r} exists already: name another folder with --out.")
    if not folder.parent.is_dir():
        raise InputError(f"cannot write {str(folder)!r}: there is no folder {str(folder.parent)!r}.")
    try:
        draft = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    except OSError as error:
        raise InputError(f"cannot write {str(folder)!r}: {error.strerror}.") from None
    try:
        package = draft / "package"  # made by mkdir, so that its mode is what the umask says
        for place, text in files.items():
            file = package / place
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        package.rename(folder)
    except OSError as error:
        raise InputError(f"cannot write {str(folder)!r}: {error.strerror}.") from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
