"""Where the rows of a set come from: `$DPCORE_DATA`, the user's cache, or a download; always checked.

Whatever the way, what is compared is the SHA-256 of the canonical file: UTF-8 CSV with a header, the
class last, no blanks around values. So a download is right if and only if its *converted* rows are
the documented ones.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import os
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path

from dpcore.errors import InputError
from dpcore_datasets.catalogue import EMBEDDED

VARIABLE = "DPCORE_DATA"


def rows_file(name: str, sha256: str, fetch: Callable[[], bytes]) -> Path:
    """The canonical `NAME.csv.gz`, verified.

    Args:
        name: the set's name.
        sha256: of the canonical file, decompressed.
        fetch: gets the canonical bytes from where the set is published.

    Raises:
        InputError: if the rows cannot be had or are not the documented ones.
    """
    folder = os.environ.get(VARIABLE)
    if folder:
        path = Path(folder) / f"{name}.csv.gz"
        if path.exists():
            _verify(name, _gunzip(path), sha256, f"{str(path)!r}")
            return path
    cached = cache_folder() / f"{name}.csv.gz"
    if cached.is_file() and hashlib.sha256(_gunzip(cached, broken=b"")).hexdigest() == sha256:
        return cached
    data = fetch()
    _verify(name, data, sha256, "the download, once converted,")
    _store(cached, data)
    return cached


def cache_folder() -> Path:
    """The user's cache."""
    import pooch

    return Path(pooch.os_cache("dpcore"))


def download(name: str, url: str) -> bytes:
    """The bytes behind an address, not yet verified.

    Raises:
        InputError: if they cannot be had; says what to do instead.
    """
    import pooch

    logger = pooch.get_logger()
    level = logger.level
    try:
        logger.setLevel(logging.WARNING)  # it would report a hash that nobody asked for
        with tempfile.TemporaryDirectory() as folder:
            getter = pooch.HTTPDownloader(timeout=60)
            path = pooch.retrieve(url, known_hash=None, fname="archive", path=folder, downloader=getter)
            return Path(path).read_bytes()
    except (OSError, ValueError) as error:  # every error of requests is an OSError
        where = os.environ.get(VARIABLE)
        tried = f"{VARIABLE} ({where}) has no {name}.csv.gz" if where else f"{VARIABLE} is not set"
        raise InputError(
            f"the rows of {name!r} cannot be had: {tried}, and {url} cannot be downloaded "
            f"({type(error).__name__}). Set {VARIABLE} to a folder with {name}.csv.gz, "
            f"or use a data set that needs no file: {', '.join(EMBEDDED)}."
        ) from None
    finally:
        logger.setLevel(level)


def _verify(name: str, data: bytes, sha256: str, what: str) -> None:
    found = hashlib.sha256(data).hexdigest()
    if found != sha256:
        raise InputError(
            f"{what} does not hold the documented rows of {name!r}: the checksum is {found[:16]}…, not {sha256[:16]}…."
        )


def _gunzip(path: Path, broken: bytes | None = None) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as error:
        if broken is not None:
            return broken
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "not a whole gzip file"
        raise InputError(f"cannot read {str(path)!r}: {reason}.") from None


def _store(path: Path, data: bytes) -> None:
    """Write the file so that no reader ever sees half of it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as stream:
            stream.write(gzip.compress(data, compresslevel=6, mtime=0))
        Path(stream.name).replace(path)
    except OSError as error:
        raise InputError(f"cannot write to the cache {str(path.parent)!r}: {error.strerror}.") from None
