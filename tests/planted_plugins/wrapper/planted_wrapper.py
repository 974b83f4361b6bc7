"""Would change what other plugins answer."""

from collections.abc import Generator

from dpcore import Component, hookimpl


@hookimpl(wrapper=True)
def dpcore_classifiers() -> Generator[None, list[list[Component]], list[list[Component]]]:
    answers = yield
    return answers[:0]
