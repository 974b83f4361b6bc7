"""`dpcore new-plugin`: a complete package for a new component, which passes the checks as it is written."""

from __future__ import annotations

import os
import shlex
from pathlib import Path

import click

from dpcore_testing.new_plugin import KINDS, new_plugin


@click.command("new-plugin")
@click.argument("name")
@click.option("--kind", type=click.Choice(list(KINDS)), required=True, help="What the package provides.")
@click.option("--out", metavar="FOLDER", help="Where to write it.  [default: dpcore-NAME]")
def command(name: str, kind: str, out: str | None) -> None:
    """Write a complete package for a new plugin called NAME.

    It holds one small component that works and is correct, its tests and a README, and passes 'dpcore check-plugin'
    as it is. FOLDER must not exist. Nothing is written if anything is wrong.
    """
    folder = new_plugin(name, kind, None if out is None else Path(out))
    # a word without a slash could stand for something that is installed
    typed = str(folder) if folder.is_absolute() else os.path.join(".", folder)
    click.echo(f"{typed} is a package with the {kind} {name!r}. What to do next:")
    click.echo(f"  pip install -e {shlex.quote(typed)}")
    for verb in ("check-plugin", "audit") if KINDS[kind].audited else ("check-plugin",):
        click.echo(f"  dpcore {verb} {shlex.quote(typed)}")
