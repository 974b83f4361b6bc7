"""The file of a ledger: connections for one operation each, and SQLite's errors as one clear line.

A connection never outlives its operation, so a ledger may be shared by threads, survive `fork` and be pickled. The file
is in WAL mode with `synchronous=FULL`: a commit is on the disk when it returns.
"""

from __future__ import annotations

import contextlib
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from dpcore.errors import InputError
from dpcore.writing import sync_folder
from dpcore_budget.journal import APPLICATION, VERSION, build

T = TypeVar("T")
WAIT = 60.0
"""Seconds to wait for other processes to finish their entries."""
ENDINGS = ("", "-wal", "-shm")
"""Of the files that SQLite keeps for one ledger."""
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_UNWRITABLE = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_REASONS = {
    sqlite3.SQLITE_BUSY: f"other processes kept it busy for {WAIT:g} s",
    sqlite3.SQLITE_LOCKED: f"other processes kept it busy for {WAIT:g} s",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_PERM: "permission denied",
    sqlite3.SQLITE_CANTOPEN: "it, or its folder, cannot be opened for writing",
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk is full or has failed",
}
_NOT_ONE = "is not a ledger of dpcore; `dpcore ledger init` makes one in a new place."


class Damaged(InputError):
    """A file that is, or was, a ledger and cannot be read as one."""


@contextlib.contextmanager
def reading(file: Path, name: str) -> Iterator[sqlite3.Connection]:
    """One consistent view of a ledger; nothing is written.

    Args:
        file: where it is.
        name: what the user calls it.

    Raises:
        InputError: if it is missing, not a ledger, of another version, or damaged.
    """
    with _clear(name), _connection(file, name, write=False) as base:
        base.execute("BEGIN")
        yield base


@contextlib.contextmanager
def writing(file: Path, name: str) -> Iterator[sqlite3.Connection]:
    """One transaction that no other process interleaves, durable when the block ends; undone by an exception.

    Raises:
        InputError: as `reading`, or if it cannot be written; nothing is then recorded, unless the disk failed at the
            very end, when the record may be found later: spending that was refused, never a release without it.
    """
    with _clear(name, "; nothing was released"), _connection(file, name, write=True) as base:
        _patiently(lambda: base.execute("BEGIN IMMEDIATE"))
        try:
            yield base
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                base.execute("ROLLBACK")
            raise
        base.execute("COMMIT")


@contextlib.contextmanager
def creating(file: Path, name: str) -> Iterator[sqlite3.Connection]:
    """A new ledger file with its table; the block writes the first row.

    Raises:
        InputError: if something is there already, or it cannot be written.
    """
    try:
        with file.open("xb"):
            pass
    except FileExistsError:
        raise InputError(f"{name!r} is there already: a ledger is never overwritten.") from None
    except OSError as error:
        raise InputError(f"cannot write the ledger {name!r}: {error.strerror}.") from None
    try:
        with _clear(name), contextlib.closing(_connect(file, "mode=rw")[0]) as base:
            base.execute("PRAGMA journal_mode = WAL")
            base.execute("BEGIN IMMEDIATE")
            build(base)
            yield base
            base.execute("COMMIT")
    except BaseException:
        for ending in ENDINGS:
            file.with_name(file.name + ending).unlink(missing_ok=True)
        raise
    sync_folder(file.parent)


@contextlib.contextmanager
def _connection(file: Path, name: str, *, write: bool) -> Iterator[sqlite3.Connection]:
    """A connection to what is certainly a ledger of this version."""
    if not file.is_file():
        what = "is a folder" if file.is_dir() else "does not exist; `dpcore ledger init` makes one"
        raise InputError(f"the ledger {name!r} {what}.")
    base, application, version = _open(file, write=write)
    with contextlib.closing(base):
        if application != APPLICATION:
            raise InputError(f"{name!r} {_NOT_ONE}")
        if version != VERSION:
            raise InputError(f"the ledger {name!r} has version {version}; this dpcore keeps version {VERSION}.")
        yield base


def _open(file: Path, *, write: bool) -> tuple[sqlite3.Connection, int, int]:
    """A connection, and what SQLite's header says of the file: whose it is, and which version."""
    try:
        return _connect(file, "mode=rw")
    except sqlite3.Error as error:
        log = file.with_name(file.name + ENDINGS[1])
        if write or _code(error) not in _UNWRITABLE or (log.exists() and log.stat().st_size):
            raise
    # a place that cannot be written: with nothing in its log the file is whole, and it stays as it is
    return _connect(file, "mode=ro&immutable=1")


def _connect(file: Path, how: str) -> tuple[sqlite3.Connection, int, int]:
    base = sqlite3.connect(f"{file.as_uri()}?{how}", uri=True, timeout=WAIT, isolation_level=None)
    try:
        return base, *_patiently(lambda: _marks(base))
    except BaseException:
        base.close()
        raise


def _marks(base: sqlite3.Connection) -> tuple[int, int]:
    """Make a connection's commits durable, and read what says whose the file is."""
    base.execute("PRAGMA synchronous = FULL")
    base.execute("PRAGMA fullfsync = ON")  # of use on macOS, where fsync alone does not reach the disk
    (application,) = base.execute("PRAGMA application_id").fetchone()
    (version,) = base.execute("PRAGMA user_version").fetchone()
    return application, version


def _patiently(attempt: Callable[[], T]) -> T:
    """Try again while another process is at it: SQLite itself does not wait in all the cases where that helps."""
    end = time.monotonic() + WAIT
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if _code(error) not in _BUSY or time.monotonic() > end:
                raise
            time.sleep(0.005)


def _code(error: sqlite3.Error) -> int:
    """SQLite's primary error code."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


@contextlib.contextmanager
def _clear(name: str, more: str = "") -> Iterator[None]:
    """SQLite's errors as one line."""
    try:
        yield
    except sqlite3.Error as error:
        code = _code(error)
        if code == sqlite3.SQLITE_NOTADB:
            raise InputError(f"{name!r} {_NOT_ONE}") from None
        if code in _REASONS:
            raise InputError(f"cannot use the ledger {name!r}: {_REASONS[code]}{more}.") from None
        raise Damaged(f"the ledger {name!r} is damaged: {error}.") from None
