"""A sound plugin with one component of each kind."""

import attrs
import click

from dpcore import Capabilities, Citation, Component, hookimpl, param


def one(name: str, factory: str) -> list[Component]:
    return [Component(name, f"A planted {name}", f"planted_every_kind:{factory}")]


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    return one("planted_mechanism", "Mechanism")


@hookimpl
def dpcore_sensitivities() -> list[Component]:
    return one("planted_sensitivity", "Sensitivity")


@hookimpl
def dpcore_classifiers() -> list[Component]:
    return one("planted_classifier", "Classifier")


@hookimpl
def dpcore_budget_allocators() -> list[Component]:
    return one("planted_allocator", "Allocator")


@hookimpl
def dpcore_tables() -> list[Component]:
    return one("planted_table", "Table")


@hookimpl
def dpcore_datasets() -> list[Component]:
    return one("planted_dataset", "DATASET")


@hookimpl
def dpcore_ledgers() -> list[Component]:
    return one("planted_ledger", "Ledger")


@hookimpl
def dpcore_commands() -> list[Component]:
    return one("planted-command", "command")


BOOK = Citation("planted2026", "Planter, P.", "Planting", 2026, doi="10.1000/1")


@attrs.frozen
class Classifier:
    citation = BOOK
    guarantee = "pure epsilon"
    adjacency = ("add-remove",)
    capabilities = Capabilities(missing=False)
    notes = "Learns nothing."

    depth: int = param(3, help="How deep.", low=1, high=9)
    rule: str = param("max", help="Which rule.", choices=("max", "gini"))


class Mechanism:
    accepts = ("l1",)
    citation = (BOOK, BOOK)


class Sensitivity:
    kinds = ("counts",)


class Allocator:
    notes = ("First.", "Second.")


class Table:
    pass


class Ledger:
    notes = "Keeps nothing."


@attrs.frozen
class Schema:
    attributes: tuple[str, ...] = ("a", "b", "c")
    classes: tuple[str, ...] = ("no", "yes")


class Dataset:
    def schema(self) -> Schema:
        return Schema()


DATASET = Dataset()


@click.command()
@click.option("--fail", default="", help="What to fail with.")
def command(fail: str) -> int:
    """Do a planted thing."""
    click.echo("planted")
    if fail == "value":
        raise ValueError("secret row 4711")
    if fail == "interrupt":
        raise KeyboardInterrupt
    if fail == "truncated":
        raise EOFError("secret row 4711")
    if fail == "file":
        raise FileNotFoundError(2, "No such file or directory", "rows.csv")
    if fail == "exit":
        raise SystemExit("it stopped")
    return 1 if fail == "check" else 0
