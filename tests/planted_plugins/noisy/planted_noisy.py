"""Prints where it should not, and is sound otherwise."""

from dpcore import Component, hookimpl

print("hello from the import")


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    print("hello from the hook")
    return [Component("loud", "Loud [bold]words[/bold]", "planted_noisy:Loud")]


class Loud:
    pass
