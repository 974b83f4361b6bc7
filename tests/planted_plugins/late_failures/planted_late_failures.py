"""Lists components whose factories fail on first use."""

from dpcore import Component, hookimpl


@hookimpl
def dpcore_classifiers() -> list[Component]:
    factories = {
        "no-module": "no_such_module_4711:Thing",
        "no-object": "planted_late_failures:Nothing",
        "exiting": "planted_exits:Thing",
    }
    return [Component(name, "Fails late", factory) for name, factory in factories.items()]
