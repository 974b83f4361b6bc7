"""JSON read strictly: what a person may overlook in a file must not decide in silence.

Python's reader lets the last of two equal keys win, and fails in several ways where text is nested too deeply or a
number is too long. Here each is one error with one line.
"""

from __future__ import annotations

import json
from typing import Any


def loads(text: str) -> Any:
    """The value that a JSON text stands for; NaN and Infinity are read, for the caller to refuse by name.

    Raises:
        ValueError: in one line, if it is not JSON, repeats a key, is nested too deeply, or has an endless number.
    """
    try:
        return json.loads(text, object_pairs_hook=_once)
    except (json.JSONDecodeError, _RepeatedKeyError):
        raise
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError:  # Python's limit of digits
        raise ValueError("a number in it has too many digits") from None


class _RepeatedKeyError(ValueError):
    """Two values under one key."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _RepeatedKeyError(f"the key {key[:40]!r} stands twice in one object")
            seen.add(key)
    return found
