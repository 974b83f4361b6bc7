"""Running code that is not ours: whatever it does, the caller gets a value or one line that says why not."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

from dpcore.errors import PluginError


def one_line(text: str) -> str:
    """`text` without line breaks or control characters, so that it can stand in a table."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


@contextlib.contextmanager
def foreign_code(where: str) -> Iterator[None]:
    """Run a plugin's code: what it prints goes to stderr, what it raises becomes a one-line `PluginError`.

    `sys.exit()` counts, and so do panics of Rust extensions, which derive from BaseException;
    only Ctrl-C passes.
    """
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise PluginError(f"{where}: {_why(error)}") from error


def _why(error: BaseException) -> str:
    try:
        message = one_line(str(error))
    except Exception:
        message = "(its message cannot be shown)"
    if isinstance(error, SystemExit):
        return f"it called sys.exit({'' if error.code is None else message})"
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
