"""Work in processes of their own that share what this one has loaded: forked, not started anew."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path


def start(work: Callable[[], int | None], log: Path | str = os.devnull) -> int:
    """Begin work in a forked process.

    Args:
        work: returns the exit code, None for 0.
        log: the file that takes what it prints.

    Returns:
        the process's id, to wait for or to kill.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forking beside threads: the child uses none of theirs
        child = os.fork()
    if child:
        return child
    code = 70
    try:
        file = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.dup2(file, 1)
        os.dup2(file, 2)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", closefd=False) for number in (1, 2))
        code = work() or 0
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)  # nothing of the parent's is undone or reported by the child


def wait(child: int) -> int:
    """The exit code of a child; minus the signal that ended it."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def run(work: Callable[[], int | None], log: Path | str = os.devnull) -> int:
    """Do work in a forked process and return its exit code."""
    return wait(start(work, log))
