"""Parameters of components: attrs fields that carry type, range and help, written once on the class."""

from __future__ import annotations

import json
import math
import reprlib
from collections.abc import Mapping
from typing import Any, TypeVar

import attrs

from dpcore.errors import ParameterError

T = TypeVar("T")
_KEY = "dpcore.param"


@attrs.frozen
class Param:
    """The public description of one parameter, as `dpcore describe` prints it."""

    name: str
    type: str
    default: Any
    low: float | None
    high: float | None
    choices: tuple[Any, ...] | None
    help: str
    closed: str = "both"
    optional: bool = False

    def allowed(self) -> str:
        """The allowed values in words, in scikit-learn's form."""
        if self.choices is not None:
            words = f"{_article(self.type)} among {{{', '.join(repr(c) for c in self.choices)}}}"
        elif self.low is not None or self.high is not None:
            left = "[" if self.closed in ("both", "left") and self.low is not None else "("
            right = "]" if self.closed in ("both", "right") and self.high is not None else ")"
            low = "-inf" if self.low is None else f"{self.low}"
            high = "inf" if self.high is None else f"{self.high}"
            words = f"{_article(self.type)} in the range {left}{low}, {high}{right}"
        else:
            words = _article(self.type)
        return words + (" or None" if self.optional else "")

    def accepts(self, value: Any) -> bool:
        """Whether `value` has the right type and lies in the range."""
        if value is None:
            return self.optional
        if self.choices is not None:
            return value in self.choices
        if self.type == "bool":
            return isinstance(value, bool)
        if self.type == "str":
            return isinstance(value, str)
        if self.type == "dict":
            return isinstance(value, Mapping)
        numbers = (int,) if self.type == "int" else (int, float)
        return isinstance(value, numbers) and not isinstance(value, bool) and self._in_range(value)

    def _in_range(self, value: float) -> bool:
        # An absent end is open, as `allowed` prints it: neither infinity nor nan gets through.
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        above = value >= low if self.closed in ("both", "left") and self.low is not None else value > low
        below = value <= high if self.closed in ("both", "right") and self.high is not None else value < high
        return above and below


def _article(type_name: str) -> str:
    return f"an {type_name}" if type_name[0] in "aeiou" else f"a {type_name}"


def param(
    default: Any,
    *,
    help: str,
    type: type | None = None,
    low: float | None = None,
    high: float | None = None,
    closed: str = "both",
    choices: tuple[Any, ...] | None = None,
) -> Any:
    """An attrs field that is a documented, checked parameter.

    Args:
        default: the value used when none is given; None makes the parameter optional.
        help: one sentence.
        type: bool, int, float, str or dict; inferred from `default` where that is not None.
        low, high: the range, `closed` as in scikit-learn: both, left, right or neither.
        choices: the allowed values.

    Raises:
        ParameterError: from the class, when a value is not allowed, in scikit-learn's message form.
    """
    name = (type or default.__class__).__name__
    meta = {"type": name, "low": low, "high": high, "closed": closed, "choices": choices, "help": help}
    return attrs.field(default=default, kw_only=True, converter=_from_numpy, validator=_validate, metadata={_KEY: meta})


def _from_numpy(value: Any) -> Any:
    # A grid search passes NumPy's scalars, which are neither checked nor saved as JSON like Python's.
    return value.item() if getattr(value, "ndim", None) == 0 and hasattr(value, "item") else value


def _validate(instance: Any, attribute: attrs.Attribute[Any], value: Any) -> None:
    described = _describe(attribute)
    if not described.accepts(value):
        raise ParameterError(
            f"The {attribute.name!r} parameter of {instance.__class__.__name__} must be "
            f"{described.allowed()}. Got {value!r} instead."
        )


def _describe(attribute: attrs.Attribute[Any]) -> Param:
    meta = attribute.metadata[_KEY]
    return Param(name=attribute.name, default=attribute.default, optional=attribute.default is None, **meta)


def parameters(cls: type) -> tuple[Param, ...]:
    """The parameters of a component's class, in order; empty for a class without attrs fields."""
    if not attrs.has(cls):
        return ()
    return tuple(_describe(a) for a in attrs.fields(cls) if _KEY in a.metadata)


def parse(cls: type, settings: Mapping[str, str]) -> dict[str, Any]:
    """Values for `cls` from the strings of `--set key=value`.

    Raises:
        ParameterError: for an unknown key (with the known ones) or a value of the wrong type.
    """
    known = {p.name: p for p in parameters(cls)}
    values: dict[str, Any] = {}
    for key, text in settings.items():
        if key not in known:
            names = ", ".join(known) or "none"
            raise ParameterError(f"{cls.__name__} has no parameter {key!r}; it has: {names}.")
        values[key] = _parse_one(cls, known[key], text)
    return values


def _parse_one(cls: type, described: Param, text: str) -> Any:
    if described.optional and text.lower() in ("none", "null"):
        return None
    if described.type == "str":
        return text
    try:
        value = json.loads(text.lower() if described.type == "bool" else text)
        if described.type == "float" and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
    except (ValueError, OverflowError, RecursionError):  # no JSON, or more digits or brackets than can be read
        value = text
    if not described.accepts(value):
        raise ParameterError(
            f"The {described.name!r} parameter of {cls.__name__} must be {described.allowed()}. "
            f"Got {reprlib.repr(text)} instead."
        )
    return value


def build(cls: type[T], values: Mapping[str, Any]) -> T:
    """An instance of `cls` with the given parameters.

    Raises:
        ParameterError: for an unknown name or a value that is not allowed.
    """
    known = [p.name for p in parameters(cls)]
    for key in values:
        if key not in known:
            names = ", ".join(known) or "none"
            raise ParameterError(f"{cls.__name__} has no parameter {key!r}; it has: {names}.")
    return cls(**values)
