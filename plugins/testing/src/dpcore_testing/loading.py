"""A class from elsewhere by its name, and parameters for it from texts."""

from __future__ import annotations

import importlib
import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

from dpcore.errors import InputError, ParameterError
from dpcore.isolation import foreign_code


def load(spec: str) -> Callable[..., Any]:
    """The class that `module:Class` names.

    Raises:
        InputError: if the text has another form, the module cannot be imported, or it has no such class.
    """
    module, sign, name = spec.partition(":")
    if not sign or not module or not name:
        raise InputError(
            f"an estimator is named module:Class, for example sklearn.naive_bayes:GaussianNB. Got {spec!r}."
        )
    try:
        with foreign_code(f"the estimator {spec!r} cannot be imported"):
            found = importlib.import_module(module)
    except LookupError as error:
        raise InputError(str(error)) from None
    made = getattr(found, name, None)
    if not callable(made) or not hasattr(made, "fit"):
        raise InputError(f"the module {module!r} has no class {name!r} with a method fit.")
    return made  # type: ignore[no-any-return]


def parse(estimator: Callable[..., Any], settings: Mapping[str, str]) -> dict[str, Any]:
    """Parameters from the texts of `--set key=value`.

    A value is JSON (`1`, `[100, 101]`, `true`, `null`), or Python's True, False and None, or else text. Lists become
    tuples, as most estimators want bounds and sizes, unless the parameter's default is a list.

    Raises:
        ParameterError: for a parameter that the estimator does not have.
    """
    known = defaults_of(estimator)
    values = {}
    for key, text in settings.items():
        if key not in known and None not in known:
            names = ", ".join(sorted(k for k in known if k)) or "none"
            raise ParameterError(f"{name_of(estimator)} has no parameter {key!r}; it has: {names}.")
        value = _value(text)
        values[key] = value if isinstance(known.get(key), list) else _tuples(value)
    return values


def _value(text: str) -> Any:
    words = {"None": None, "True": True, "False": False}
    if text in words:
        return words[text]
    try:
        return json.loads(text)
    except ValueError:
        return text


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def defaults_of(estimator: Callable[..., Any]) -> dict[str | None, Any]:
    """Parameter name -> default; the key None where any name is taken."""
    found: dict[str | None, Any] = {}
    for one in inspect.signature(estimator).parameters.values():
        if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
            found[one.name] = one.default
        elif one.kind == one.VAR_KEYWORD:
            found[None] = None
    return found


def name_of(estimator: Callable[..., Any]) -> str:
    """What to call it."""
    return str(getattr(estimator, "__name__", "the estimator"))
