"""A member is found whatever nests it; a wrong archive is one clear line."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile

import pytest

from dpcore.errors import InputError
from dpcore_datasets.archives import find


def zipped(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as folder:
        for name, data in members.items():
            folder.writestr(name, data)
    return stream.getvalue()


def tarred(name: str, data: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as tar:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        tar.addfile(entry, io.BytesIO(data))
    return stream.getvalue()


@pytest.mark.parametrize(
    "archive",
    [
        zipped(**{"a.data": b"rows", "Index": b""}),
        zipped(**{"deep/er/a.data": b"rows", "__MACOSX/._a.data": b"no"}),
        zipped(**{"a.data.gz": gzip.compress(b"rows")}),
        zipped(**{"other.zip": zipped(x=b""), "inner.zip": zipped(**{"in/a.data": b"rows"})}),
        zipped(**{"inner.tar.gz": tarred("./a.data", b"rows")}),
    ],
)
def test_a_member_is_found(archive):
    assert find(archive, ["a.data"], "it") == {"a.data": b"rows"}


@pytest.mark.parametrize(
    ("archive", "words"),
    [
        (b"<html>", "it is not a whole archive"),
        (zipped(**{"a.data": b"rows"})[:40], "it is not a whole archive"),
        (zipped(**{"a.data.gz": b"rows"}), "it is not a whole archive"),
        (zipped(b=b""), "it has no file a.data"),
    ],
)
def test_a_wrong_archive_is_one_clear_line(archive, words):
    with pytest.raises(InputError, match=words):
        find(archive, ["a.data"], "it")
