"""One of two packages that give the same name."""

from dpcore import Component, hookimpl


@hookimpl
def dpcore_classifiers() -> list[Component]:
    return [Component("twin", "Twin b", "planted_rival_b:Twin")]


class Twin:
    pass
