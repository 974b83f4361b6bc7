"""Proof for plugins: `dpcore audit`, `dpcore check-plugin`, `dpcore new-plugin`."""

from __future__ import annotations

from dpcore.component import Component
from dpcore.hookspecs import hookimpl

__version__ = "0.1.0"


@hookimpl
def dpcore_commands() -> list[Component]:
    """The verbs of this package."""
    return [
        Component("audit", "Look for more privacy loss than a component charges.", "dpcore_testing.cli.audit:command"),
        Component("check-plugin", "Run the checks that a plugin must pass.", "dpcore_testing.cli.check_plugin:command"),
        Component("new-plugin", "Write a complete package for a new plugin.", "dpcore_testing.cli.new_plugin:command"),
    ]
