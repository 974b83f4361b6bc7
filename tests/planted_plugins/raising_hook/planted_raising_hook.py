"""One hook raises, the other works."""

from dpcore import Component, hookimpl


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    raise ValueError("the mechanisms\nare out")


@hookimpl
def dpcore_classifiers() -> list[Component]:
    return [Component("survivor", "Still there", "planted_raising_hook:Survivor")]


class Survivor:
    pass
