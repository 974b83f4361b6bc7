"""`dpcore plan`: what a fit would ask, at what cost and with what noise. Reads no rows."""

from __future__ import annotations

from typing import Any

import click

from dpcore.cli.options import number, plan_from, planning, warn_if_weak
from dpcore.cli.output import print_json, print_table, warn


@click.command()
@click.argument("name")
@click.option("--schema", required=True, help="A schema file, or the name of a data set.")
@click.option("--epsilon", required=True, help="The whole budget of the fit.")
@planning
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(name: str, schema: str, epsilon: str, as_json: bool, **options: Any) -> None:
    """Show what fitting the classifier NAME would ask, cost and add; reads no rows."""
    from dpcore.registry import load_plugins
    from dpcore.source import find_schema

    registry = load_plugins()
    plan = plan_from(registry, name, find_schema(None, schema, registry), number("--epsilon", epsilon), options)
    data = plan.to_json()
    if plan.guarantee.note:
        warn(plan.guarantee.note)
    warn_if_weak(plan)
    if as_json:
        print_json(data)
        return
    guarantee = f"epsilon = {data['epsilon']:g}" + (f", delta = {data['delta']:g}" if data["delta"] else "")
    columns = ("STEP", "QUERY", "CELLS", "TIMES", "SENSITIVITY", "MECHANISM", "EPSILON", "SCALE", "EXPECTED ERROR")
    keys = ("step", "query", "cells", "times", "sensitivity", "mechanism", "epsilon", "scale", "expected_error")
    rows = [[step[key] for key in keys] for step in data["steps"]]
    print_table(columns, rows, title=f"{name}: {guarantee}, {data['adjacency']}, {data['allocator']}")
    total = "unbounded" if data["total_epsilon"] is None else f"{data['total_epsilon']:g}"
    click.echo(f"total epsilon: {total} ({data['accounting']} accounting)")
