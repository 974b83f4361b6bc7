"""Hooks that return something else than a list of components."""

from dpcore import Component, hookimpl


@hookimpl
def dpcore_mechanisms() -> Component:
    return Component("lone", "Not in a list", "planted_not_a_list:Lone")


@hookimpl
def dpcore_tables() -> list[str]:
    return ["lone"]
