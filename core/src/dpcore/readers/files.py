"""Opening a file so that whatever is wrong with it becomes one clear line."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from dpcore.errors import InputError

_LONGEST = 2**26
"""Characters of a line."""


def check(path: Path) -> None:
    """Raise `InputError` unless `path` is a file that is not empty."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"cannot read {str(path)!r}: {_reason(error)}.") from None
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a directory, not a file.")
    if size == 0 and path.is_file():
        raise InputError(f"{str(path)!r} is empty.")


@contextmanager
def opened(path: Path) -> Iterator[TextIO]:
    """The text of a file, gunzipped where its name ends with `.gz`."""
    try:
        if path.name.lower().endswith(".gz"):
            with gzip.open(path, "rt", encoding="utf-8-sig", newline="") as stream:
                yield stream
        else:
            with open(path, encoding="utf-8-sig", newline="") as stream:
                yield stream
    except UnicodeDecodeError:
        raise InputError(f"{str(path)!r} is not UTF-8 text.") from None
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise InputError(f"{str(path)!r} is not a whole gzip file.") from None
    except csv.Error as error:
        raise InputError(f"{str(path)!r} is not well-formed: {error}.") from None
    except OSError as error:
        raise InputError(f"cannot read {str(path)!r}: {_reason(error)}.") from None


def lines(path: Path, stream: TextIO) -> Iterator[str]:
    """The lines of an open file, none of them endless: a little gzip can unpack to a line that fills the memory.

    Raises:
        InputError: for a line of more than 2^26 characters.
    """
    while line := stream.readline(_LONGEST):
        if len(line) == _LONGEST:
            raise InputError(f"{str(path)!r}: a line has more than {_LONGEST} characters.")
        yield line


def _reason(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)
