"""Forgets the marker on one of two hooks."""

from dpcore import Component, hookimpl


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    return []


def dpcore_classifiers() -> list[Component]:
    return []
