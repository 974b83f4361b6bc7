"""Has one hook right and one misspelt: without the second it is not what its author meant."""

from dpcore import Component, hookimpl


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    return [Component("half", "Half a plugin", "planted_misspelt_hook:Half")]


@hookimpl
def dpcore_clasifiers() -> list[Component]:
    return []
