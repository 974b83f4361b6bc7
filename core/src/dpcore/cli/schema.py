"""`dpcore schema`: draft a schema for review, or check one."""

from __future__ import annotations

import json
from pathlib import Path

import click

from dpcore.cli.output import note, print_json, print_table, warn


@click.group()
def command() -> None:
    """Draft and check schemas."""


@command.command()
@click.argument("data")
@click.option("--target", help="The class column; by default the last one.")
@click.option("--out", type=click.Path(path_type=Path), help="Write here instead of standard output.")
def draft(data: str, target: str | None, out: Path | None) -> None:
    """Draft a schema from the file DATA, to be reviewed: what it reads from private rows is not private."""
    from dpcore.draft import draft_schema
    from dpcore.errors import InputError
    from dpcore.readers import read_frame
    from dpcore.readers.columns import listed
    from dpcore.writing import check_writable, write_whole

    if out is not None:
        check_writable(out)
    frame = read_frame(data)
    name = str(frame.columns[-1]) if target is None else target
    if name not in frame.columns:
        raise InputError(f"{data!r} has no column {name!r}; it has: {listed(map(str, frame.columns))}.")
    drafted = draft_schema(frame, name, title=Path(data).name)
    warn(
        "bounds and categories in this draft were READ FROM THE ROWS and are NOT PRIVATE: "
        "replace every one of them by public knowledge before a fit."
    )
    if out is None:
        print_json(drafted)
        return
    write_whole(out, json.dumps(drafted, indent=1, ensure_ascii=False) + "\n")
    note(f"wrote {out}: a draft, to be reviewed.")


@command.command()
@click.argument("schema")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(schema: str, as_json: bool) -> None:
    """Check SCHEMA (a file or a data set's name) and show it."""
    from dpcore.registry import load_plugins
    from dpcore.schema import Numeric
    from dpcore.source import find_schema

    found = find_schema(None, schema, load_plugins())
    if as_json:
        print_json(found.to_json())
        return
    rows = []
    for a in (*found.attributes, found.target):
        if isinstance(a, Numeric):
            kind = "integer" if a.integer else "numeric"
            rows.append([a.name, kind, f"[{a.lower:g}, {a.upper:g}]", "yes" if a.missing else ""])
        else:
            kind = "class" if a is found.target else "nominal"
            rows.append([a.name, kind, f"{len(a.values)} values", "yes" if a.missing else ""])
    print_table(("COLUMN", "TYPE", "DOMAIN", "MISSING"), rows, title=found.title or None)
