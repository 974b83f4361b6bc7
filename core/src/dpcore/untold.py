"""Scikit-learn's and NumPy's errors without the cells that some of them repeat.

Both help a person at a prompt by showing the array that was wrong. Where rows are private, an error in a log would be
a release that nobody paid for, so what comes out of `fit` and `predict` says what was wrong and never a value.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
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
    """Make a method's errors of others tell no cell; dpcore's own never do."""

    @functools.wraps(method)
    def wrapped(*args: P.args, **keywords: P.kwargs) -> T:
        try:
            return method(*args, **keywords)
        except (DpcoreError, NotFittedError):
            raise
        except UnicodeError:  # it carries the whole text
            told: ValueError | TypeError = ValueError("X or y holds text that is not valid Unicode.")
        except (ValueError, TypeError) as error:
            words = str(error)
            for pattern, instead in _TELLING:
                words = pattern.sub(instead, words)
            told = TypeError(words) if isinstance(error, TypeError) else ValueError(words)
        raise told  # behind the handler, so that the error that tells is not its context

    return wrapped
