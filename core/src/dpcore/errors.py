"""Every error a user of dpcore can meet, each with the exit code the command line gives it.

A message is one line: what was wrong and what would be right. It never holds a row's value.
"""

from __future__ import annotations


class DpcoreError(Exception):
    """Base of all errors that dpcore raises on purpose."""

    exit_code = 2


class InputError(DpcoreError, ValueError):
    """Wrong input: a file, a schema, a value, a parameter."""


class SchemaError(InputError):
    """A schema that contradicts itself or cannot be read."""


class ParameterError(InputError):
    """A parameter out of its range, of the wrong type, or unknown."""


class PluginError(DpcoreError, LookupError):
    """A component that is unknown, ambiguous, broken or does not fit its place."""


class CapabilityError(InputError):
    """A learner that cannot work with this schema, found before any budget is spent."""


class BudgetError(DpcoreError):
    """A release that would exceed the budget, refused before noise is drawn."""

    exit_code = 3


class NotPrivateError(DpcoreError):
    """A published but non-private (or overspending) procedure, run without saying so."""


class NotConverged(DpcoreError):
    """A release that needs the exact minimum of an objective, which could not be certified: nothing is released."""
