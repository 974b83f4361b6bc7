"""One of two packages that give the same name."""

from dpcore import Component, hookimpl


@hookimpl
def dpcore_classifiers() -> list[Component]:
    return [Component("twin", "Twin a", "planted_rival_a:Twin")]


class Twin:
    pass
