"""`dpcore describe NAME`: everything a component says about itself."""

from __future__ import annotations

from typing import Any

import click

from dpcore.cli.output import print_json, print_table
from dpcore.describe import citations, describe
from dpcore.errors import InputError, PluginError
from dpcore.hookspecs import KINDS
from dpcore.registry import Registry, load_plugins


@click.command("describe")
@click.argument("name")
@click.option("--kind", type=click.Choice(list(KINDS)), help="The kind, where a name stands for several.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--bibtex", is_flag=True, help="Print the sources as BibTeX.")
def command(name: str, kind: str | None, as_json: bool, bibtex: bool) -> None:
    """Show a component's parameters, guarantee and sources.

    NAME is a name from 'dpcore list-plugins', or package:name.
    """
    if as_json and bibtex:
        raise click.UsageError("--json and --bibtex exclude each other.")
    registry = load_plugins()
    kind = kind or _only_kind(registry, name)
    component = registry.component(kind, name)
    obj = registry.get(kind, name)
    if bibtex:
        sources = citations(obj)
        if not sources:
            raise InputError(f"the {kind} {name!r} names no source.")
        click.echo("\n\n".join(source.bibtex() for source in sources))
        return
    data = describe(kind, component, obj)
    if as_json:
        print_json(data)
    else:
        _print_text(data, [str(source) for source in citations(obj)])


def _only_kind(registry: Registry, name: str) -> str:
    kinds = [kind for kind, _ in registry.find(name)]
    if len(kinds) > 1:
        raise PluginError(f"{name!r} is a {' and a '.join(kinds)}; say which with --kind.")
    return kinds[0]


def _print_text(data: dict[str, Any], sources: list[str]) -> None:
    click.echo(f"{data['name']} ({data['kind']})\n{data['summary']}\n")
    facts = {
        "guarantee": _words(data["guarantee"]),
        "adjacency": _words(data["adjacency"]),
        "schema": _words(data.get("schema")),
        **{key.replace("_", " "): _words(value) for key, value in data["capabilities"].items()},
    }
    facts = {key: value for key, value in facts.items() if value}
    for key, value in facts.items():
        click.echo(f"{key + ':':<13}{value}")
    if data["parameters"]:
        click.echo("\nParameters")
        rows = [[p["name"], p["type"], repr(p["default"]), _range(p), p["help"]] for p in data["parameters"]]
        print_table(["NAME", "TYPE", "DEFAULT", "RANGE", "MEANING"], rows)
    for heading, lines in (
        ("Help", data.get("help", "").splitlines()),
        ("Python", [data["python"]] if "python" in data else []),
        ("Sources", sources),
        ("Notes", data["notes"]),
    ):
        if lines:
            click.echo("\n".join(["", heading, *(f"  {line}".rstrip() for line in lines)]))


def _words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_words(inner)}" for key, inner in value.items() if inner not in (None, ""))
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _range(described: dict[str, Any]) -> str:
    """The allowed values as an interval or a set, as mathematics writes them."""
    if described["choices"] is not None:
        return ", ".join(map(str, described["choices"]))
    low, high, closed = described["low"], described["high"], described["closed"]
    if low is None and high is None:
        return ""
    left = "[" if closed in ("both", "left") and low is not None else "("
    right = "]" if closed in ("both", "right") and high is not None else ")"
    return f"{left}{'-inf' if low is None else low}, {'inf' if high is None else high}{right}"
