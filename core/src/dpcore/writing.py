"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from dpcore.errors import InputError

_PAGE = 4096


def write_whole(path: Path, text: str | bytes) -> None:
    """Write a file so that it is never seen half-written: temporary name, fsync, rename.

    Args:
        path: where; a file that stands there is replaced.
        text: written as UTF-8, or bytes as they are.

    Raises:
        InputError: if the folder is missing or cannot be written to.
    """
    check_writable(path)
    temporary = _write_beside(path, text.encode("utf-8") if isinstance(text, str) else text)
    try:
        os.replace(temporary, path)
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot write {str(path)!r}: {error.strerror}.") from None
        raise
    sync_folder(path.parent)


def check_room(path: Path) -> None:
    """Raise `InputError` now if not even a page could be written there later: one is written, and removed again.

    For what is costly to find out too late; a disk may still fill up afterwards.
    """
    check_writable(path)
    Path(_write_beside(path, bytes(_PAGE))).unlink(missing_ok=True)


def _write_beside(path: Path, content: bytes) -> str:
    """The name of a temporary file in the same folder that holds this content, durably."""
    try:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}.") from None
    try:
        # a temporary file is for its owner alone; what is released may be read as the umask says
        os.chmod(handle, 0o666 & ~_umask())
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:
        Path(temporary).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise InputError(f"cannot write {str(path)!r}: {error.strerror}.") from None
        raise
    return temporary


def sync_folder(folder: Path) -> None:
    """Make a new name in a folder durable; where a folder cannot be synced, the file system does that itself."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _umask() -> int:
    """The process's umask, which can only be read by setting it."""
    current = os.umask(0o077)
    os.umask(current)
    return current


def check_writable(path: Path) -> None:
    """Raise `InputError` now if a file could not be written there later."""
    if path.is_dir():
        raise InputError(f"cannot write {str(path)!r}: it is a folder.")
    if path.exists() and not path.is_file():  # the rename would put a file in the place of a device or a pipe
        raise InputError(f"cannot write {str(path)!r}: it is not a regular file.")
    if not path.parent.is_dir():
        raise InputError(f"cannot write {str(path)!r}: there is no folder {str(path.parent)!r}.")
    if not os.access(path.parent, os.W_OK) or (path.exists() and not os.access(path, os.W_OK)):
        raise InputError(f"cannot write {str(path)!r}: permission denied.")
