"""Errors of scikit-learn, NumPy and the cells themselves, without what some of them repeat.

Both libraries help a person at a prompt by showing the array that was wrong, and an object in a cell may raise what it
likes. Where rows are private, an error in a log would be a release that nobody paid for, so what comes out of `fit` and
`predict` says what was wrong and never a value; nor does an error that it came from, for some tools follow those.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable
from types import TracebackType
from typing import ParamSpec, TypeVar

from sklearn.exceptions import NotFittedError

from dpcore.errors import DpcoreError

P = ParamSpec("P")
T = TypeVar("T")
_TELLING = (
    (re.compile(r"(instead):\s*array=.*?(?=Reshape your data)", re.DOTALL), r"\1. "),
    (re.compile(r"(Complex data not supported).*", re.DOTALL), r"\1"),
    (re.compile(r"(could not convert|invalid literal|malformed)[^:]*:.*", re.DOTALL), "text stands where numbers must"),
)


def untold(method: Callable[P, T]) -> Callable[P, T]:
    """Make a method's errors of others tell no cell; dpcore's own never do.

    `ValueError` and `TypeError` keep their type, and their words but for cells. What nobody expects becomes a
    `RuntimeError` that names its type and place; DPCORE_DEBUG=1 lets it through as it is.
    """

    @functools.wraps(method)
    def wrapped(*args: P.args, **keywords: P.kwargs) -> T:
        try:
            return method(*args, **keywords)
        except (DpcoreError, NotFittedError, MemoryError, Warning) as error:
            told: Exception = error
        except UnicodeError:  # it carries the whole text
            told = ValueError("X or y holds text that is not valid Unicode.")
        except (ValueError, TypeError) as error:
            words = str(error)
            for pattern, instead in _TELLING:
                words = pattern.sub(instead, words)
            told = TypeError(words) if isinstance(error, TypeError) else ValueError(words)
        except OverflowError:
            told = ValueError("X or y holds a number that no float can hold.")
        except Exception as error:
            if os.environ.get("DPCORE_DEBUG") == "1":
                raise
            told = RuntimeError(
                f"{type(error).__name__} in {_place(error.__traceback__)}, from rows that cannot be used or a bug; "
                "set DPCORE_DEBUG=1 to see the whole, which may show cells."
            )
        # behind the handlers, so that no error that tells is its context
        told.__cause__ = told.__context__ = None
        raise told

    return wrapped


def _place(trace: TracebackType | None) -> str:
    """Module and line of the innermost frame."""
    found = "an unknown place"
    while trace is not None:
        found = f"{trace.tb_frame.f_globals.get('__name__', '?')}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return found
