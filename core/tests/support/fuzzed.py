"""Texts and JSON values bent out of shape, and the claim that whatever reads them ends well."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from hypothesis import strategies as st

from dpcore.errors import DpcoreError

T = TypeVar("T")
JUNK: list[Any] = [
    *(
        None,
        True,
        False,
        0,
        -1,
        1,
        0.5,
        1e-320,
        1e308,
        -1e308,
        2**63,
        10**400,
        float("nan"),
        float("inf"),
        -float("inf"),
    ),
    *("", "x", "a\nb", "\ud800", "\0", "NaN", "1", "numeric", "nominal", "é" * 300),
    *([], [[]], {}, {"a": 1}, [0.0, 0.0], [1, "a"], ["a", "a"], [None]),
]
TOKENS = [
    *(",", "\n", "\r", "\r\n", "\t", " ", '"', "'", '""', "\\", "%", "{", "}", "[", "]", ":", "?", "@", "@data\n", "#"),
    *("\0", "\ufeff", "\xa0", "\x0c", "\x1c", "\x85", "\u2028", "\ud800", "é", "\u0661", "NaN", "inf", "1e999", "-1"),
    *("1" * 300, "x" * 300, "1_0", "0x1", "true", "null"),
]


def settled(call: Callable[..., T], *args: Any, **keywords: Any) -> T | None:
    """What a call returns, or None after a `DpcoreError` of one short line; anything else fails the test."""
    try:
        return call(*args, **keywords)
    except DpcoreError as error:
        message = str(error)
        assert len(message.splitlines()) == 1, message
        assert len(message) < 3000, message
        return None


@st.composite
def bent_text(draw: st.DrawFn, bases: Sequence[str]) -> bytes:
    """One of the texts with pieces left out, repeated, or put in; as UTF-8, or nearly so."""
    text = draw(st.sampled_from(bases))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(text)))
        how = draw(st.sampled_from(["insert", "insert", "delete", "repeat", "cut", "text"]))
        length = draw(st.integers(1, 12))
        if how == "insert":
            text = text[:at] + draw(st.sampled_from(TOKENS)) + text[at:]
        elif how == "delete":
            text = text[:at] + text[at + length :]
        elif how == "repeat":
            text = text[:at] + text[at : at + length] * 3 + text[at + length :]
        elif how == "cut":
            text = text[:at]
        else:
            text = text[:at] + draw(st.text(max_size=8)) + text[at:]
    return text.encode(draw(st.sampled_from(["utf-8", "utf-8", "utf-8", "utf-16"])), "surrogatepass")


@st.composite
def bent_json(draw: st.DrawFn, bases: Sequence[Any]) -> Any:
    """One of the JSON values with parts dropped, repeated, wrapped, scaled, or put in another's place."""
    value = json.loads(json.dumps(draw(st.sampled_from(bases))))
    for _ in range(draw(st.integers(1, 3))):
        places = list(_places(value))
        if not places:
            break
        holder, key = draw(st.sampled_from(places))
        how = draw(st.sampled_from(["drop", "repeat", "wrap", "scale", "junk", "junk", "move"]))
        part = holder[key]
        if how == "drop":
            del holder[key]
        elif how == "repeat" and isinstance(holder, list):
            holder.insert(key, json.loads(json.dumps(part)))
        elif how == "wrap":
            holder[key] = [part]
        elif how == "scale" and isinstance(part, (int, float)) and abs(part) < 1e9:
            holder[key] = part * draw(st.sampled_from([-1, 0, 1e300, 1e-300]))
        elif how == "move":
            other, place = draw(st.sampled_from(places))
            holder[key] = json.loads(json.dumps(other[place])) if place in _keys(other) else None
        else:
            holder[key] = json.loads(json.dumps(draw(st.sampled_from(JUNK))))
    return value


def _keys(holder: Any) -> Any:
    return holder if isinstance(holder, dict) else range(len(holder))


def _places(value: Any) -> Any:
    """Every (holder, key) within a JSON value."""
    for key in _keys(value) if isinstance(value, (dict, list)) else ():
        yield value, key
        yield from _places(value[key])
