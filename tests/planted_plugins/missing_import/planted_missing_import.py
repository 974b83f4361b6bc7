"""Needs a module that is not installed."""

import no_such_module_4711  # noqa: F401
