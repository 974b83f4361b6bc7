"""What a component says about itself: read off its class, printed by `dpcore describe`."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import attrs

from dpcore.component import Citation, Component
from dpcore.isolation import foreign_code
from dpcore.parameters import Param, parameters

_ABILITIES = ("accepts", "forms", "costs", "kinds", "norms", "reads_rows")
"""What mechanisms and sensitivity rules say in place of a learner's `capabilities`."""


def describe(kind: str, component: Component, obj: Any) -> dict[str, Any]:
    """Everything public about one component, as plain JSON data.

    Args:
        kind: a key of `hookspecs.KINDS`.
        component: its descriptor.
        obj: what its factory names: a class, a ready instance, or a command.

    Returns:
        `name, kind, summary, citation, parameters, guarantee, adjacency, capabilities, notes`; for a data
        set also `schema`, for a command `help`, for a classifier `python`.

    Raises:
        PluginError: if reading the component's own description fails.
    """
    cls = obj if isinstance(obj, type) else type(obj)
    with foreign_code(f"{kind} {component.name!r} cannot be described"):
        data = {
            "name": component.name,
            "kind": kind,
            "summary": component.summary,
            "citation": [attrs.asdict(c) for c in citations(obj)],
            "parameters": [_parameter(p) for p in parameters(cls)],
            "guarantee": _read(obj, "guarantee"),
            "adjacency": _words(_read(obj, "adjacency")),
            "capabilities": _capabilities(obj),
            "notes": _words(_read(obj, "notes")),
        }
        if kind == "dataset":
            data["schema"] = _schema_size(obj)
        if kind == "command":
            data["help"] = inspect.cleandoc(getattr(obj, "help", None) or "")
        if kind == "classifier":
            data["python"] = python_line(component.name, parameters(cls))
    return data


def citations(obj: Any) -> tuple[Citation, ...]:
    """The sources that a component names: none, one or several."""
    found = getattr(obj, "citation", None)
    if isinstance(found, Citation):
        return (found,)
    if isinstance(found, Iterable):
        return tuple(c for c in found if isinstance(c, Citation))
    return ()


def python_line(name: str, described: Iterable[Param] = ()) -> str:
    """A line to copy, with every parameter at its default."""
    settings = {p.name: p.default for p in described}
    given = f", parameters={settings!r}" if settings else ""
    return f'DPClassifier("{name}", epsilon=1.0, schema=schema{given})'


def _parameter(described: Param) -> dict[str, Any]:
    return {field: _plain(value) for field, value in attrs.asdict(described, recurse=False).items()}


def _capabilities(obj: Any) -> dict[str, Any]:
    found = _read(obj, "capabilities")
    if isinstance(found, dict):
        return found
    values = {name: _read(obj, name) for name in _ABILITIES}
    return {name: value for name, value in values.items() if value is not None}


def _schema_size(obj: Any) -> dict[str, Any]:
    dataset = obj() if isinstance(obj, type) else obj
    schema = dataset.schema() if callable(dataset.schema) else dataset.schema
    return {"attributes": len(schema.attributes), "classes": len(schema.classes)}


def _read(obj: Any, name: str) -> Any:
    """An attribute of the class as plain data; where it is computed, that of a default instance."""
    value = getattr(obj, name, None)
    if inspect.isdatadescriptor(value):
        try:
            value = getattr(obj(), name)
        except Exception:  # it cannot be made without arguments, and has nothing to say without them
            return None
    return None if callable(value) and not isinstance(value, type) else _plain(value)


def _words(value: Any) -> list[str]:
    """A list of sentences or names, whether one or several were given."""
    if not value:
        return []
    return [str(v) for v in value] if isinstance(value, list) else [str(value)]


def _plain(value: Any) -> Any:  # noqa: PLR0911
    if value is None or isinstance(value, (bool, int, float)) or type(value) is str:
        return value
    if isinstance(value, Mapping):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(v) for v in value]
    if isinstance(value, type):
        return value.__name__
    if hasattr(value, "to_json"):
        return value.to_json()
    if attrs.has(type(value)):
        return {k: _plain(v) for k, v in attrs.asdict(value, recurse=False).items()}
    return str(value)
