"""Sets of the UCI Machine Learning Repository, and how each one's files become canonical rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, ClassVar

from dpcore.component import Citation
from dpcore.errors import InputError
from dpcore.readers import read_frame
from dpcore_datasets.archives import find
from dpcore_datasets.packaged import Packaged
from dpcore_datasets.rows import download, rows_file

if TYPE_CHECKING:
    import pandas as pd

Row = list[str]


def _cite(key: str, author: str, title: str, year: int, doi: str) -> Citation:
    venue = "UCI Machine Learning Repository"
    return Citation(key, author, f"{title} [Dataset]", year, venue=venue, doi=doi, type="misc")


class Uci(Packaged):
    """A set of the repository.

    A subclass says where it is published (`place` under the repository's static files), which files of the
    archive hold the rows (`parts`, in the order of the rows) and how one file's lines become rows.
    """

    place: ClassVar[str]
    parts: ClassVar[tuple[str, ...]]
    sha256: ClassVar[str]
    """Of the canonical CSV file, decompressed."""

    @property
    def url(self) -> str:
        """Where the archive is published."""
        return f"https://archive.ics.uci.edu/static/public/{self.place}"

    def frame(self) -> pd.DataFrame:
        """The rows, from `$DPCORE_DATA`, the cache or the repository, verified by checksum."""
        return read_frame(rows_file(self.name, self.sha256, self._fetch), self.schema())

    def convert(self, archive: bytes) -> bytes:
        """The canonical CSV file from the published archive.

        Raises:
            InputError: if the archive is not what is published there.
        """
        found = find(archive, self.parts, f"the download for {self.name!r}")
        try:
            rows = [",".join(row) for part in self.parts for row in self.rows(_lines(found[part]))]
        except (IndexError, ValueError):
            raise InputError(f"the download for {self.name!r} has rows of an unknown form.") from None
        return "".join(f"{line}\n" for line in (",".join(self.columns), *rows)).encode()

    @abstractmethod
    def rows(self, lines: list[str]) -> Iterator[Row]:
        """One file's rows, in canonical column order, as text without surrounding blanks."""

    def _fetch(self) -> bytes:
        return self.convert(download(self.name, self.url))


def _lines(data: bytes) -> list[str]:
    return [line for line in data.decode("latin-1").split("\n") if line.strip()]


def _cells(line: str) -> Row:
    return [cell.strip() for cell in line.split(",")]


class _Commas(Uci):
    """Comma-separated, the class last."""

    def rows(self, lines: list[str]) -> Iterator[Row]:
        return map(_cells, lines)


class _ClassFirst(Uci):
    """Comma-separated, the class first."""

    def rows(self, lines: list[str]) -> Iterator[Row]:
        for line in lines:
            first, *others = _cells(line)
            yield [*others, first]


class _Blanks(Uci):
    """Separated by tabs or blanks, any number of them; the class last."""

    def rows(self, lines: list[str]) -> Iterator[Row]:
        return map(str.split, lines)


class _Dotted(Uci):
    """Comma and blank; a comment line, and a dot behind every label (of the test part, or of both)."""

    def rows(self, lines: list[str]) -> Iterator[Row]:
        return (_cells(line.rstrip().removesuffix(".")) for line in lines if not line.startswith("|"))


class Adult(_Dotted):
    name = "adult"
    place = "2/adult.zip"
    parts = ("adult.data", "adult.test")
    sha256 = "6f8f2babc5ee744afd03f6d978d8d6b3e3b0aae240d931c4976a9cce7af0d347"
    citation = _cite("adult", "Becker, B. and Kohavi, R.", "Adult", 1996, "10.24432/C5XW20")


class Mushroom(_ClassFirst):
    name = "mushroom"
    place = "73/mushroom.zip"
    parts = ("agaricus-lepiota.data",)
    sha256 = "3730c299b51ce21faf014b4302b195463b88c2465ac7a34f903915e42a24873f"
    citation = _cite("mushroom", "Schlimmer, J. (donor)", "Mushroom", 1981, "10.24432/C5959T")


class Nursery(_Commas):
    name = "nursery"
    place = "76/nursery.zip"
    parts = ("nursery.data",)
    sha256 = "cfd50f92b8b65b8d398670ce13f1e78fbc0d452ff26906de8b4497f909716951"
    citation = _cite("nursery", "Rajkovic, V.", "Nursery", 1989, "10.24432/C5P88W")


class Skin(_Blanks):
    name = "skin"
    place = "229/skin+segmentation.zip"
    parts = ("Skin_NonSkin.txt",)
    sha256 = "5f41684c57659e7b71c9912749fa900a35822ca1413892f3e3ecf7a419fbac24"
    citation = _cite("skin", "Bhatt, R. and Dhall, A.", "Skin Segmentation", 2009, "10.24432/C5T30C")


class Optdigits(_Commas):
    name = "optdigits"
    place = "80/optical+recognition+of+handwritten+digits.zip"
    parts = ("optdigits.tra", "optdigits.tes")
    sha256 = "39f597c143e6b90be8491bb261ee09c3a9fbabc19a8fe4a6776e8cc761d0b8a5"
    citation = _cite(
        "optdigits",
        "Alpaydin, E. and Kaynak, C.",
        "Optical Recognition of Handwritten Digits",
        1998,
        "10.24432/C50P49",
    )


class Votes(_ClassFirst):
    name = "votes"
    place = "105/congressional+voting+records.zip"
    parts = ("house-votes-84.data",)
    sha256 = "0ebd3795cff3650db20030a17f2b2e9d4a7b732094362432659c7594885f3296"
    citation = _cite("votes", "Schlimmer, J. (donor)", "Congressional Voting Records", 1987, "10.24432/C5C01P")


class Spect(_ClassFirst):
    name = "spect"
    place = "95/spect+heart.zip"
    parts = ("SPECT.train", "SPECT.test")
    sha256 = "20a6596f11c46a1e2ce5aae995cf8a3764e26abef73bbf9b31287924dfc8e39b"
    citation = _cite("spect", "Cios, K. and Kurgan, L. and Goodenday, L.", "SPECT Heart", 2001, "10.24432/C5P304")


class Seeds(_Blanks):
    name = "seeds"
    place = "236/seeds.zip"
    parts = ("seeds_dataset.txt",)
    sha256 = "e175383dd58fb4d3f8f31a03e992c477c871fdeb4754d7a504f448cdcba2c0a3"
    citation = _cite(
        "seeds",
        "Charytanowicz, M. and Niewczas, J. and Kulczycki, P. and Kowalski, P. and Lukasik, S.",
        "Seeds",
        2010,
        "10.24432/C5H30K",
    )


class Glass(Uci):
    name = "glass"
    place = "42/glass+identification.zip"
    parts = ("glass.data",)
    sha256 = "e5aa754d0e620ef9e8f4a4871e79634d6520bceed0289810eac8d59e83097d80"
    citation = _cite("glass", "German, B.", "Glass Identification", 1987, "10.24432/C5WW2P")

    def rows(self, lines: list[str]) -> Iterator[Row]:
        """The first column, an identifier, is left out."""
        return (_cells(line)[1:] for line in lines)


class Bank(Uci):
    name = "bank"
    place = "222/bank+marketing.zip"
    parts = ("bank-additional-full.csv",)
    sha256 = "bb45add91d4e02870fcde28ee4f913b78268a5aa6051e8fbe2c3e16010404355"
    citation = _cite("bank", "Moro, S. and Rita, P. and Cortez, P.", "Bank Marketing", 2014, "10.24432/C5K306")

    def rows(self, lines: list[str]) -> Iterator[Row]:
        """Semicolons, quotes around text, and a header."""
        return (line.strip().replace('"', "").split(";") for line in lines[1:])


class CensusIncome(_Dotted):
    name = "census_income"
    place = "117/census+income+kdd.zip"
    parts = ("census-income.data", "census-income.test")
    sha256 = "74b3689f94c06d34903e86b5d622754b748902fe54213c8ea092574d04ac44d7"
    citation = _cite(
        "census_income", "Lane, T. and Kohavi, R. (donors)", "Census-Income (KDD)", 2000, "10.24432/C5N30T"
    )


class Covertype(Uci):
    name = "covertype"
    place = "31/covertype.zip"
    parts = ("covtype.data",)
    sha256 = "eb85a04442b2e7ef5a05699c76659d8e3c59c17461d2576c0090380a72db8b3c"
    citation = _cite("covertype", "Blackard, J.", "Covertype", 1998, "10.24432/C50K5N")

    def rows(self, lines: list[str]) -> Iterator[Row]:
        """Of the 54 columns, 4 say the wilderness area and 40 the soil type: each block is one value."""
        for line in lines:
            cells = _cells(line)
            area, soil = cells[10:14].index("1") + 1, cells[14:54].index("1") + 1
            yield [*cells[:10], str(area), str(soil), cells[54]]
