"""`dpcore list-plugins`: every component, and every plugin that is broken, in conflict or disabled."""

from __future__ import annotations

import attrs
import click

from dpcore.cli.output import print_json, print_table
from dpcore.hookspecs import KINDS
from dpcore.registry import load_plugins


@click.command("list-plugins")
@click.option("--kind", type=click.Choice(list(KINDS)), help="Only components of this kind.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--strict", is_flag=True, help="Exit with 1 if any row is not ok.")
def command(kind: str | None, as_json: bool, strict: bool) -> int:
    """List every component, and every plugin at fault.

    A plugin that cannot be used has a row with the reason. DPCORE_DISABLE=package-or-entry-point,...
    leaves plugins out.
    """
    # A plugin that failed before its kind is known may be of any kind: it is never filtered away.
    rows = [row for row in load_plugins().rows() if kind is None or row.kind in (kind, "")]
    if as_json:
        fields = ("name", "kind", "dist", "version", "status", "summary", "detail")
        print_json([{field: attrs.asdict(row)[field] for field in fields} for row in rows])
    else:
        print_table(
            ["KIND", "NAME", "PACKAGE", "VERSION", "STATUS", "SUMMARY"],
            [[r.kind or "-", r.name, r.dist, r.version, r.status, r.detail or r.summary] for r in rows],
        )
    return int(strict and any(row.status != "ok" for row in rows))
