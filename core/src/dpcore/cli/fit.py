"""`dpcore fit`: release a classifier from private rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpcore.cli.options import number, plan_from, planning, warn_if_weak
from dpcore.cli.output import note, print_json, warn
from dpcore.errors import InputError

if TYPE_CHECKING:
    from dpcore.ledger import Ledger


@click.command()
@click.argument("name")
@click.argument("data")
@click.option("--schema", help="A schema file; a named data set has its own.")
@click.option("--epsilon", required=True, help="The whole budget of the fit.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Where the model is written.")
@planning
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    help="Repeatable noise, for experiments only: it can be taken off again.",
)
@click.option("--ledger", help="Record the cost in this ledger first (`dpcore ledger init` makes one).")
@click.option("--not-private", is_flag=True, help="Run a published procedure that spends more than it claims.")
@click.option("--json", "as_json", is_flag=True, help="Print the model's privacy as JSON.")
def command(  # noqa: PLR0917
    name: str,
    data: str,
    schema: str | None,
    epsilon: str,
    out: Path,
    seed: int | None,
    ledger: str | None,
    not_private: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Fit the classifier NAME to DATA (a file or a data set) and write the model."""
    from dpcore.ledger import open_ledger
    from dpcore.recording import ledger_entry
    from dpcore.registry import load_plugins
    from dpcore.release import check_place, check_private, fit
    from dpcore.source import check_classes, find_schema, open_table
    from dpcore.writing import check_room

    registry = load_plugins()
    plan = plan_from(registry, name, find_schema(data, schema, registry), number("--epsilon", epsilon), options)
    check_private(plan, not_private=not_private)
    book = None if ledger is None else open_ledger(ledger, registry)
    check_place(out, book)
    if book is not None:
        entry = ledger_entry(plan, reproducible=seed is not None, data=data)
        book.check(entry)
        _warn_of_another_name(entry.data, book.dataset)
    table = open_table(data, plan.task.schema, registry)
    check_classes(table)
    check_room(out)  # or the budget would be spent on a model that is lost
    if plan.guarantee.note:
        warn(plan.guarantee.note)
    if seed is not None:
        warn("--seed makes the noise repeatable: whoever knows it can take it off.")
    warn_if_weak(plan)
    release = fit(plan, table, random_state=seed, not_private=not_private, ledger=book, data=data)
    release.save(out)
    spent = release.privacy["spent"]
    if as_json:
        print_json({key: value for key, value in release.privacy.items() if key != "steps"})
        return
    epsilon_spent = "no finite epsilon" if spent["epsilon"] is None else f"epsilon = {spent['epsilon']:g}"
    delta = f", delta = {spent['delta']:g}" if spent["delta"] else ""
    note(f"wrote {out}: {name}, {epsilon_spent}{delta} spent, {plan.task.adjacency} adjacency.{_left(book)}")


def _left(ledger: Ledger | None) -> str:
    """What the ledger has left, in words; nothing if it cannot be asked, for the model is written by now."""
    if ledger is None:
        return ""
    try:
        epsilon, delta = ledger.remaining()
    except InputError:
        return ""
    return f" The ledger has epsilon = {epsilon:.10g}" + (f", delta = {delta:.10g}" if delta else "") + " left."


def _warn_of_another_name(data: str, dataset: str) -> None:
    """Warn if the rows are called otherwise than the data set that the ledger is for."""
    if dataset not in (data, data.partition(".")[0]):
        warn(f"the ledger is for {dataset!r} and the rows are {data!r}: a ledger protects one data set only.")
