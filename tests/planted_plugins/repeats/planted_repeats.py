"""Gives one name twice."""

from dpcore import Component, hookimpl


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    return [Component("again", "Again", "planted_repeats:Again")] * 2
