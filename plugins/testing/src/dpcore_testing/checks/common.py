"""Checks of every kind of component: it loads, it describes itself, and finding it costs nothing."""

from __future__ import annotations

import inspect
import json
import math
import os
import subprocess
import sys
from functools import lru_cache
from typing import Any

import attrs
import click

from dpcore.allocator import BudgetAllocator
from dpcore.classifier import Classifier, Model
from dpcore.component import Capabilities
from dpcore.dataset import Dataset
from dpcore.describe import citations, describe
from dpcore.hookspecs import KINDS
from dpcore.ledger import Ledger
from dpcore.mechanism import Mechanism
from dpcore.parameters import Param, parameters
from dpcore.privacy import GDP, ZCDP, Adjacency, Approximate, Pure
from dpcore.sensitivity import SensitivityRule
from dpcore.table import TableOpener
from dpcore_testing.checks.base import Failed, Skipped, Subject, check, doing, plural

CONTRACTS: dict[str, type] = {
    "mechanism": Mechanism,
    "sensitivity": SensitivityRule,
    "classifier": Classifier,
    "allocator": BudgetAllocator,
    "table": TableOpener,
    "dataset": Dataset,
    "ledger": Ledger,
    "command": click.Command,
}
"""What the factory of each kind must name: a subclass of it (a ready instance also does for a data set)."""
_CONFIGURED = ("mechanism", "sensitivity", "classifier", "allocator")
_HEAVY = ("numpy", "pandas", "scipy", "sklearn", "torch", "tensorflow", "jax", "numba")


@check(*KINDS)
def loads(subject: Subject) -> str:
    """The factory loads and names an object of its kind."""
    with doing(""):
        found = subject.factory
    contract = CONTRACTS[subject.row.kind]
    if subject.row.kind == "command" or (subject.row.kind == "dataset" and not isinstance(found, type)):
        if not isinstance(found, contract):
            raise Failed(f"the factory names a {type(found).__name__}, not a {_dotted(contract)}.")
    elif not (isinstance(found, type) and issubclass(found, contract)):
        raise Failed(f"the factory must name a subclass of {_dotted(contract)}. It names {found!r:.100}.")
    elif missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise Failed(f"{found.__name__} does not define {', '.join(missing)}.")
    if subject.row.kind in _CONFIGURED:
        with doing("made without parameters"):
            found()
    return subject.row.detail  # how to reach it, where the short name is another's


def _dotted(contract: type) -> str:
    return f"{contract.__module__.partition('.')[0]}.{contract.__name__}"


@check(*KINDS)
def light_discovery(subject: Subject) -> str:
    """Finding it imports no heavy library."""
    heavy = imported_by_discovery(subject.row.dist, tuple(sys.path))
    if heavy:
        raise Failed(
            f"finding {subject.row.dist} imports {', '.join(heavy)}: the module that the entry point names should "
            "import dpcore.component and dpcore.hookspecs only."
        )
    return f"none of {', '.join(_HEAVY[:4])}"


_PROBE = """
import json, sys
from dpcore.registry import load_plugins
load_plugins(disable=",".join(json.loads(sys.argv[1])))
print(json.dumps([name for name in json.loads(sys.argv[2]) if name in sys.modules]))
"""


@lru_cache(maxsize=64)
def imported_by_discovery(dist: str, path: tuple[str, ...]) -> list[str]:
    """The heavy libraries that are imported where `dist` is the only plugin that is not disabled."""
    from dpcore.distributions import entry_points

    others = sorted({plugin.dist for plugin, _, _ in entry_points(None, [])} - {dist})
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(p or os.getcwd() for p in path)}
    command = [sys.executable, "-c", _PROBE, json.dumps(others), json.dumps(_HEAVY)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        last = (done.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise Failed(f"discovery of {dist} alone, in a process of its own: {last}")
    found: list[str] = json.loads(lines[-1])
    return found


@check(*KINDS)
def described(subject: Subject) -> str:
    """It says in a sentence what it does, and where that comes from."""
    summary = subject.row.summary
    if len(summary.split()) < 3 or not (summary[0].isupper() or not summary[0].isalpha()):
        raise Failed(f"the summary must be a sentence that begins with a capital. Got {summary!r}.")
    found = subject.factory
    with doing("describing it"):
        json.dumps(describe(subject.row.kind, subject.registry.component(subject.row.kind, _full(subject)), found))
        sources, notes = citations(found), getattr(found, "notes", "")
    if subject.row.kind == "command":
        return _command_is_documented(found)
    if subject.row.kind in _CONFIGURED and not (sources or notes):
        raise Failed("it names no source: set `citation`, or say in `notes` where the method comes from.")
    for source in sources:
        if not (source.author and source.title and source.year):
            raise Failed(f"the citation {source.key!r} needs an author, a title and a year.")
    return ", ".join(source.key for source in sources)


def _full(subject: Subject) -> str:
    return f"{subject.row.dist}:{subject.row.name}"


def _command_is_documented(command: click.Command) -> str:
    if not (command.help or "").strip():
        raise Failed("the command has no help: write a docstring.")
    commands = [command, *(command.commands.values() if isinstance(command, click.Group) else ())]
    options = [p for c in commands for p in c.params if isinstance(p, click.Option)]
    without = [p.opts[0] for p in options if not (p.help or "").strip()]
    if without:
        raise Failed(f"these options have no help: {', '.join(without)}.")
    return plural(len(options), "option")


@check("mechanism", "sensitivity", "classifier")
def states_its_guarantee(subject: Subject) -> str:
    """Guarantee, adjacency, and what it accepts are stated in known words."""
    found = subject.factory
    guarantee = getattr(found, "guarantee", "")
    if not isinstance(guarantee, str) or not guarantee.strip():
        raise Failed("`guarantee` must say what is promised.")
    _words(found, "adjacency", tuple(map(str, Adjacency)))
    if subject.row.kind == "mechanism":
        from dpcore.bound import NORMS

        _words(found, "accepts", NORMS)
        _words(found, "forms", ("global", "smooth"))
        _words(found, "costs", (Pure, ZCDP, GDP, Approximate))
    elif subject.row.kind == "sensitivity":
        from dpcore.bound import NORMS

        _words(found, "norms", NORMS)
        if not isinstance(found.kinds, tuple) or not all(isinstance(k, str) and k for k in found.kinds or [0]):
            raise Failed(f"`kinds` must be a tuple of the query kinds that it knows. Got {found.kinds!r}.")
    else:
        if not (isinstance(getattr(found, "model_class", None), type) and issubclass(found.model_class, Model)):
            raise Failed("`model_class` must be a subclass of dpcore.Model.")
        if not isinstance(found.capabilities, Capabilities):
            raise Failed("`capabilities` must be a dpcore.Capabilities.")
    return guarantee


def _words(found: type, name: str, known: tuple[Any, ...]) -> None:
    value = getattr(found, name)
    if not isinstance(value, tuple) or not value or not set(value) <= set(known):
        names = ", ".join(k if isinstance(k, str) else k.__name__ for k in known)
        raise Failed(f"`{name}` must be a tuple of some of {names}. Got {value!r}.")


@check(*_CONFIGURED)
def parameters_documented(subject: Subject) -> str:
    """Every parameter is made with dpcore.param and says in a sentence what it does."""
    found = subject.factory
    known = parameters(found)
    if attrs.has(found):
        others = [a.name for a in attrs.fields(found) if a.init and a.name not in {p.name for p in known}]
    else:
        taken = inspect.signature(found).parameters.values()
        others = [p.name for p in taken if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if others:
        raise Failed(f"made with something other than dpcore.param, so nobody can set it: {', '.join(others)}.")
    without = [p.name for p in known if len(p.help.split()) < 2]
    if without:
        raise Failed(f"these parameters need a sentence of help: {', '.join(without)}.")
    if not known:
        raise Skipped("it has no parameters.")
    return ", ".join(p.name for p in known)


def settings(found: type, most: int = 12) -> list[dict[str, Any]]:
    """Parameter values worth trying: the defaults, and all combinations of choices and switches; each of them alone
    where there are more than `most` combinations."""
    options = {p.name: values for p in parameters(found) if len(values := _some(p)) > 1}
    if math.prod(map(len, options.values())) > most:
        return [{}, *({name: value} for name, values in options.items() for value in values[1:])]
    every: list[dict[str, Any]] = [{}]
    for name, values in options.items():
        every += [{**chosen, name: value} for chosen in every for value in values[1:]]
    return every


def _some(described: Param) -> list[Any]:
    """The default first."""
    if described.choices is not None:
        others = [*described.choices, *([None] if described.optional else [])]
    elif described.type == "bool":
        others = [True, False]
    else:
        others = []
    return [described.default, *(value for value in others if value != described.default)]
