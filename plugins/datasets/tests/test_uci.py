"""Each converter gives the canonical file from the files as UCI publishes them.

The published archives are rebuilt here from the canonical rows. Where the true size or checksum of a
published file is known, the rebuilt one must have it, so that the converter is tested on the very
bytes of UCI.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zipfile

import pytest

from dpcore.errors import InputError
from dpcore_datasets import uci

SETS = [
    uci.Adult,
    uci.Mushroom,
    uci.Nursery,
    uci.Skin,
    uci.Optdigits,
    uci.Votes,
    uci.Spect,
    uci.Seeds,
    uci.Glass,
    uci.Bank,
    uci.CensusIncome,
    uci.Covertype,
]
SHA256 = {  # of the published files, where known
    "adult.data": "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
    "adult.test": "a2a9044b",
    "house-votes-84.data": "c87c14110a5ba91d4a1e313ec7392824458152bf071fa5f5452340488337936e",
    "optdigits.tes": "6ebb3d2fee246a4e99363262ddf8a00a3c41bee6014c373ed9d9216ba7f651b8",
}
SIZE = {
    "optdigits.tra": 563_639,
    "optdigits.tes": 264_712,
    "bank-additional-full.csv": 5_834_924,
    "covtype.data": 75_169_317,
}


def text(rows, separator=",", end="\n"):
    return ("".join(separator.join(row) + end for row in rows)).encode()


def class_first(rows):
    return text([row[-1], *row[:-1]] for row in rows)


def one_hot(row):
    blocks = [["0"] * 4, ["0"] * 40]
    for block, value in zip(blocks, row[10:12], strict=True):
        block[int(value) - 1] = "1"
    return [*row[:10], *blocks[0], *blocks[1], row[12]]


def published(name, header, rows):
    """The files of a set as UCI has them, from its canonical rows."""
    if name == "adult":
        test = [[*row[:-1], row[-1] + "."] for row in rows[32_561:]]
        return {
            "adult.data": text(rows[:32_561], ", ") + b"\n",
            "adult.test": b"|1x3 Cross validator\n" + text(test, ", ") + b"\n",
        }
    if name == "optdigits":
        return {"optdigits.tra": text(rows[:3823]), "optdigits.tes": text(rows[3823:])}
    if name == "spect":
        return {"SPECT.train": class_first(rows[:80]), "SPECT.test": class_first(rows[80:])}
    if name == "bank":
        numeric = {a.name for a in uci.Bank().schema().numeric()}
        quoted = [[cell if n in numeric else f'"{cell}"' for n, cell in zip(header, row, strict=True)] for row in rows]
        return {"bank-additional-full.csv": text([[f'"{n}"' for n in header], *quoted], ";", "\r\n")}
    one = {
        "mushroom": ("agaricus-lepiota.data", lambda: class_first(rows)),
        "nursery": ("nursery.data", lambda: text(rows) + b"\n"),
        "skin": ("Skin_NonSkin.txt", lambda: text(rows, "\t")),
        "votes": ("house-votes-84.data", lambda: class_first(rows)),
        "seeds": ("seeds_dataset.txt", lambda: text(rows, "\t").replace(b"\t1\n", b"\t\t1\n")),
        "glass": ("glass.data", lambda: text([str(i), *row] for i, row in enumerate(rows, start=1))),
        "covertype": ("covtype.data", lambda: text(map(one_hot, rows))),
    }
    file, build = one[name]
    return {file: build()}


def zipped(members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as folder:
        for name, data in members.items():
            folder.writestr(name, data)
    return stream.getvalue()


def archive(name, members):
    """The archive as UCI nests it."""
    if name == "bank":
        inner = {f"bank-additional/{n}": data for n, data in members.items()}
        return zipped({"bank.zip": zipped({"bank-full.csv": b""}), "bank-additional.zip": zipped(inner)})
    if name == "covertype":
        return zipped({f"{n}.gz": gzip.compress(data, 0) for n, data in members.items()})
    if name == "census_income":
        stream = io.BytesIO()
        with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=0) as tar:
            for path, data in members.items():
                entry = tarfile.TarInfo(path)
                entry.size = len(data)
                tar.addfile(entry, io.BytesIO(data))
        return zipped({"census.tar.gz": stream.getvalue()})
    return zipped(members | {"Index": b""})


def canonical(folder, name):
    path = folder / f"{name}.csv.gz"
    if not path.exists():
        pytest.skip(f"DPCORE_DATA has no {name}.csv.gz")
    data = gzip.decompress(path.read_bytes())
    header, *rows = [line.split(",") for line in data.decode().splitlines()]
    return data, header, rows


@pytest.mark.parametrize("factory", [f for f in SETS if f is not uci.CensusIncome])
def test_the_published_archive_converts_to_the_canonical_file(factory, data_folder):
    dataset = factory()
    data, header, rows = canonical(data_folder, dataset.name)
    assert hashlib.sha256(data).hexdigest() == dataset.sha256
    assert header == dataset.columns
    members = published(dataset.name, header, rows)
    for name, file in members.items():
        assert hashlib.sha256(file).hexdigest().startswith(SHA256.get(name, ""))
        assert len(file) == SIZE.get(name, len(file))
    assert tuple(members) == dataset.parts
    assert dataset.convert(archive(dataset.name, members)) == data


def test_the_largest_archive_converts_to_the_canonical_file(data_folder):
    """Census-Income, line by line: its 12 million cells as objects would fill a small machine."""
    path = data_folder / "census_income.csv.gz"
    if not path.exists():
        pytest.skip("DPCORE_DATA has no census_income.csv.gz")
    dataset, data = uci.CensusIncome(), gzip.decompress(path.read_bytes())
    assert hashlib.sha256(data).hexdigest() == dataset.sha256
    header, *lines = data.decode().splitlines()
    assert header.split(",") == dataset.columns
    raw = [line.replace(",", ", ") + ".\n" for line in lines]
    files = ("".join(part).encode() for part in (raw[:199_523], raw[199_523:]))
    packed = archive("census_income", dict(zip(dataset.parts, files, strict=True)))
    assert dataset.convert(packed) == data


@pytest.mark.parametrize("factory", [uci.Votes, uci.Glass])
def test_rows_after_a_download_are_those_of_the_folder(factory, data_folder, cache, monkeypatch):
    dataset = factory()
    expected = dataset.frame()
    _, header, rows = canonical(data_folder, dataset.name)
    packed = archive(dataset.name, published(dataset.name, header, rows))
    monkeypatch.delenv("DPCORE_DATA")
    asked = []
    monkeypatch.setattr(uci, "download", lambda name, url: asked.append(url) or packed)
    assert dataset.frame().equals(expected)
    assert dataset.frame().equals(expected)
    assert asked == [dataset.url]

    (cache / f"{dataset.name}.csv.gz").unlink()
    rows[0][0] = "1.6"
    packed = archive(dataset.name, published(dataset.name, header, rows))
    with pytest.raises(InputError, match=f"documented rows of '{dataset.name}'.*checksum"):
        dataset.frame()


def test_files_of_another_form_are_refused():
    with pytest.raises(InputError, match=r"the download for 'glass' has no file glass\.data"):
        uci.Glass().convert(zipped({"Index": b""}))
    with pytest.raises(InputError, match="'covertype' has rows of an unknown form"):
        uci.Covertype().convert(zipped({"covtype.data": b"1,2,3\n"}))


@pytest.mark.parametrize("factory", SETS)
def test_the_address_is_one_of_the_repository(factory):
    url = factory().url
    assert url.startswith("https://archive.ics.uci.edu/static/public/")
    assert url.endswith(".zip")
