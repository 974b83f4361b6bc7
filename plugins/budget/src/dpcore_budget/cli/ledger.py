"""`dpcore ledger`: make, show and verify the record of what was spent on a data set."""

from __future__ import annotations

from typing import Any

import click

from dpcore.cli.options import number
from dpcore.cli.output import note, print_json, print_table


@click.group()
def command() -> None:
    """Keep a data set's budget across fits, processes and days.

    `dpcore fit --ledger PATH` records a fit's whole cost before any noise exists, and refuses what would exceed the
    budget with exit code 3. Nothing is ever given back.
    """


@command.command()
@click.argument("path")
@click.option("--dataset", required=True, help="The name of the data set that it protects.")
@click.option("--epsilon", required=True, help="The budget of all fits together.")
@click.option("--delta", default="0", show_default=True, help="Likewise.")
@click.option("--adjacency", default="add-remove", show_default=True, help="Neighbours: add-remove or replace-one.")
def init(path: str, dataset: str, epsilon: str, delta: str, adjacency: str) -> None:
    """Make the ledger PATH for one data set; a file that is there is never overwritten."""
    from dpcore_budget.charge import words
    from dpcore_budget.ledger import SqliteLedger

    budget = number("--epsilon", epsilon), number("--delta", delta)
    made = SqliteLedger.create(path, dataset, *budget, adjacency)
    terms = made.terms()
    note(f"wrote {path}: a ledger for {dataset}, {words(terms.epsilon, terms.delta)}, {terms.adjacency} adjacency.")


@command.command()
@click.argument("path")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def show(path: str, as_json: bool) -> None:
    """Show what PATH is for, what is left, and every entry.

    An entry without a model is a fit that was not saved, or a search for a schema: it is spent all the same.
    """
    from dpcore_budget.statement import statement

    found = statement(path)
    if as_json:
        print_json(found)
        return
    title = f"ledger for {found['dataset']}, {found['adjacency']} adjacency"
    totals = [
        [name, _text(found[name]["epsilon"]), _text(found[name]["delta"])] for name in ("budget", "spent", "left")
    ]
    print_table(("", "EPSILON", "DELTA"), totals, title=title)
    click.echo()
    print_table(("ENTRY", "WHEN", "WHO", "EPSILON", "DELTA", "DATA", "SCHEMA", "MODEL", "LEARNER"), _lines(found))
    click.echo(f"\nhead {found['head']}")


def _lines(found: dict[str, Any]) -> list[list[Any]]:
    """One line an entry, hashes cut to what tells them apart."""
    return [
        [
            entry["entry"],
            entry["when"],
            entry["who"],
            _text(entry["epsilon"]),
            _text(entry["delta"]),
            entry["data"] or "-",
            entry["schema"][:12] or "-",
            entry["model"][:12] if entry["model"] else "no model",
            " ".join([entry["learner"], *(f"{k}={v}" for k, v in entry["parameters"].items() if v is not None)]),
        ]
        for entry in found["entries"]
    ]


def _text(value: float) -> str:
    return f"{value:.12g}"


@command.command()
@click.argument("path")
@click.option("--head", help="A hash that was the ledger's head at some time.")
@click.option("--model", "models", multiple=True, help="A model file that was recorded in it; may be given again.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def verify(path: str, head: str | None, models: tuple[str, ...], as_json: bool) -> int:
    """Check that PATH was not tampered with: exit code 1 and one line a fault if it was.

    The chain of hashes has no key. Who can rewrite the whole file can rewrite the chain, unless a head that was noted
    down (--head) or a model that was handed out (--model) is held against it.
    """
    from dpcore_budget.verify import verify as verified

    found = verified(path, head=head, models=models)
    if as_json:
        print_json({"ok": not found.faults, "entries": found.entries, "head": found.head, "faults": found.faults})
    elif found.faults:
        click.echo("\n".join(found.faults))
    else:
        many = "1 entry" if found.entries == 1 else f"{found.entries} entries"
        click.echo(f"{path}: ok, {many}, head {found.head}")
    return int(bool(found.faults))
