"""Finding named files in an archive, whatever it nests them in."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib
from collections.abc import Collection, Iterator
from pathlib import PurePosixPath

from dpcore.errors import InputError

_BROKEN = (
    zipfile.BadZipFile,
    tarfile.TarError,
    OSError,
    EOFError,
    zlib.error,
    NotImplementedError,
    RuntimeError,
)


def find(archive: bytes, names: Collection[str], what: str) -> dict[str, bytes]:
    """The bytes of the named members of a zip file; inner zip, tar.gz and gz files are opened.

    Args:
        archive: the zip file's bytes.
        names: the members, wherever in it they lie.
        what: the archive in words, for error texts.

    Raises:
        InputError: if the archive is broken or lacks a member.
    """
    found: dict[str, bytes] = {}
    try:
        _search(archive, names, found)
    except _BROKEN:
        raise InputError(f"{what} is not a whole archive.") from None
    lacking = [n for n in names if n not in found]
    if lacking:
        raise InputError(f"{what} has no file {', '.join(lacking)}.")
    return found


def _search(archive: bytes, names: Collection[str], found: dict[str, bytes]) -> None:
    inner = list[bytes]()
    for path, data in _members(archive, names):
        name = PurePosixPath(path).name
        plain = name.removesuffix(".gz")
        if name in names:
            found.setdefault(name, data)
        elif plain in names:
            found.setdefault(plain, gzip.decompress(data))
        else:
            inner.append(data)
    for data in inner:
        if len(found) < len(names):
            _search(data, names, found)


def _members(archive: bytes, names: Collection[str]) -> Iterator[tuple[str, bytes]]:
    """The members that are named, gzipped or archives themselves."""

    def matters(path: str) -> bool:
        name = PurePosixPath(path).name
        if name.startswith("."):
            return False
        return name.removesuffix(".gz") in names or name.endswith((".zip", ".tar.gz", ".tgz"))

    if archive[:2] == b"\x1f\x8b":
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:gz") as tar:
            for entry in tar:
                stream = tar.extractfile(entry) if entry.isfile() and matters(entry.name) else None
                if stream is not None:
                    yield entry.name, stream.read()
    else:
        with zipfile.ZipFile(io.BytesIO(archive)) as folder:
            for path in folder.namelist():
                if matters(path):
                    yield path, folder.read(path)
