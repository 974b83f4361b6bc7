"""The whole plugin surface: eight hooks, each taking nothing and returning a list of `Component`.

A plugin is a module named by an entry point in the group `dpcore` that implements any of these with
`@dpcore.hookimpl`. The module should import nothing heavy: a component names its factory as a
string, which is imported on first use.
"""

from __future__ import annotations

import pluggy

from dpcore.component import Component

hookspec = pluggy.HookspecMarker("dpcore")
hookimpl = pluggy.HookimplMarker("dpcore")

# kind of component -> hook that returns it
KINDS = {
    "mechanism": "dpcore_mechanisms",
    "sensitivity": "dpcore_sensitivities",
    "classifier": "dpcore_classifiers",
    "allocator": "dpcore_budget_allocators",
    "table": "dpcore_tables",
    "dataset": "dpcore_datasets",
    "ledger": "dpcore_ledgers",
    "command": "dpcore_commands",
}


@hookspec
def dpcore_mechanisms() -> list[Component]:  # type: ignore[empty-body]
    """Mechanisms: `dpcore.Mechanism` classes that perturb an exact answer by a bound and a cost."""


@hookspec
def dpcore_sensitivities() -> list[Component]:  # type: ignore[empty-body]
    """Sensitivity rules: `dpcore.SensitivityRule` classes that bound how far one person moves an answer."""


@hookspec
def dpcore_classifiers() -> list[Component]:  # type: ignore[empty-body]
    """Learners: `dpcore.Classifier` classes that ask a curator queries and return a model."""


@hookspec
def dpcore_budget_allocators() -> list[Component]:  # type: ignore[empty-body]
    """Budget allocators: `dpcore.BudgetAllocator` classes that give each step a fraction of the budget."""


@hookspec
def dpcore_tables() -> list[Component]:  # type: ignore[empty-body]
    """Tables: `dpcore.TableOpener` classes that open a data file or URI as a `dpcore.Table`."""


@hookspec
def dpcore_datasets() -> list[Component]:  # type: ignore[empty-body]
    """Named data sets: `dpcore.Dataset` classes with a public schema and a way to get the rows."""


@hookspec
def dpcore_ledgers() -> list[Component]:  # type: ignore[empty-body]
    """Ledgers: `dpcore.Ledger` classes that keep the budget of a data set across processes and days."""


@hookspec
def dpcore_commands() -> list[Component]:  # type: ignore[empty-body]
    """Verbs of the command line: factories that are `click.Command` objects."""
