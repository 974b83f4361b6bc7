"""Whatever a file of rows holds, reading it gives the frame that the schema describes or one clear line."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.encode import encode
from dpcore.errors import InputError
from dpcore.readers import arff_schema, read_frame
from dpcore.schema import Nominal, Numeric, Schema
from fuzzed import bent_text, settled

SCHEMA = Schema(
    (Numeric("x", 0, 10, missing=True), Nominal("y", ("a", "1"), missing=True)), Nominal("z", ("a", "b")), ("id",)
)
CSV = "id,x,y,z\n1,1.5,a,a\n2,?,1,b\n3, 3 ,,a\n"
BASES = [CSV, CSV.replace("\n", "\r\n"), CSV.replace("\n", "\r"), CSV.replace("a", '"a"'), "\ufeff" + CSV + "\n \n"]
ARFF = "% note\n@relation r\n@attribute x numeric\n@attribute y {a,'1'}\n@attribute 'z' {a,b}\n@data\n"
ARFF += "1.5,a,a\n?,'1',\"b\"\n"
SPARSE = ARFF + "{0 2, 1 '1'}\n{}\n{2 b} % note\n"
many = settings(deadline=None, max_examples=120)
cells = st.text(alphabet="a1b.,;'\"\\%{}? \t\n\r\xa0\x85é\0", max_size=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


def store(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(data, 1) if name.endswith(".gz") else data)
    return path


def reads(path: Path) -> pd.DataFrame | None:
    """The frame, which is what the schema says, or None after one clear line; without a schema, too."""
    settled(read_frame, path)
    frame = settled(read_frame, path, SCHEMA)
    if frame is not None:
        assert list(frame.columns) == ["x", "y", "z"]
        assert frame["x"].dtype == np.float64
        assert all(type(cell) is str and cell == cell.strip() for name in "yz" for cell in frame[name])
        assert len(frame) > 0
        settled(encode, frame, SCHEMA)
        settled(encode, frame, SCHEMA, strict=False, target=False)
    return frame


NAMES = st.sampled_from(["a.csv", "a.tsv", "a.csv.gz", "a.arff", "a.arff.gz", "a.parquet"])


@many
@given(NAMES, st.binary(max_size=200) | st.text(max_size=100).map(lambda text: text.encode("utf-8", "surrogatepass")))
def test_any_bytes_are_read_or_refused_in_one_line(folder: Path, name: str, data: bytes) -> None:
    path = store(folder, name, data)
    reads(path)
    if "arff" in name:
        settled(arff_schema, path)


def records(text: str, separator: str) -> Iterable[list[str]]:
    """The rows that are not blank, by the csv module alone."""
    reader = csv.reader(
        io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=separator, skipinitialspace=True
    )
    return [row for row in reader if row and (len(row) > 1 or row[0].strip())]


@settings(many, max_examples=300)
@given(st.sampled_from(["a.csv", "a.tsv"]), bent_text(BASES))
def test_a_damaged_table_is_refused_in_one_line_or_read_as_the_csv_module_reads_it(
    folder: Path, name: str, data: bytes
) -> None:
    data = data if name == "a.csv" else data.replace(b",", b"\t")
    frame = reads(store(folder, name, data))
    if frame is not None:
        header, *rows = records(data.decode(), "," if name == "a.csv" else "\t")
        places = {column.strip(): i for i, column in enumerate(header)}
        for column in "yz":
            assert frame[column].tolist() == [row[places[column]].strip() for row in rows]
        text = [row[places["x"]].strip() for row in rows]
        assert frame["x"].isna().tolist() == [cell in SCHEMA.missing_tokens for cell in text]
        known = [float(cell) for cell in text if cell not in SCHEMA.missing_tokens]
        assert frame["x"].dropna().tolist() == pytest.approx(known)


@many
@given(st.integers(0, 400), st.integers(0, 255), st.booleans())
def test_a_damaged_gzip_file_is_read_or_refused_in_one_line(folder: Path, at: int, byte: int, cut: bool) -> None:
    whole = gzip.compress((CSV * 20).encode())
    at %= len(whole)
    path = folder / "a.csv.gz"
    path.write_bytes(whole[:at] if cut else whole[:at] + bytes([byte]) + whole[at + 1 :])
    reads(path)


@settings(many, max_examples=300)
@given(bent_text([ARFF, SPARSE, SPARSE.replace("\n", "\r\n")]))
def test_a_damaged_arff_file_is_read_or_refused_in_one_line(folder: Path, data: bytes) -> None:
    path = store(folder, "a.arff", data)
    reads(path)
    settled(arff_schema, path, bounds={"x": (0, 10)})


def quoted(cell: str) -> str:
    escaped = cell.replace("\\", "\\\\").replace("'", "\\'").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


@many
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5), st.booleans())
def test_every_text_that_arff_can_quote_comes_back(folder: Path, rows: list[tuple[str, str]], sparse: bool) -> None:
    lines = [
        f"{{1 {quoted(b)} ,0 {quoted(a)}}} % }}" if sparse else f"{quoted(a)}, {quoted(b)}  % note" for a, b in rows
    ]
    text = "@relation r\n@attribute a string\n@attribute b string\n@data\n" + "\n".join(lines)
    frame = read_frame(store(folder, "a.arff", text.encode()))
    assert frame.to_numpy().tolist() == [[a.strip(), b.strip()] for a, b in rows]


@many
@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=5))
def test_every_text_that_csv_can_quote_comes_back(folder: Path, rows: list[tuple[str, str]]) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, quoting=csv.QUOTE_ALL).writerows([("a", "b"), *rows])
    frame = read_frame(store(folder, "a.csv", text.getvalue().encode()))
    assert frame.to_numpy().tolist() == [[a.strip(), b.strip()] for a, b in rows]


@many
@given(st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 255)), min_size=1, max_size=6), st.booleans())
def test_a_damaged_parquet_file_is_read_or_refused_in_one_line(
    folder: Path, changes: list[tuple[int, int]], cut: bool
) -> None:
    pytest.importorskip("pyarrow")
    stream = io.BytesIO()
    pd.DataFrame({"x": [1.5, None, 3], "y": ["a", "1", None], "z": ["a", "b", "a"]}).to_parquet(stream)
    data = bytearray(stream.getvalue())
    for at, byte in changes:
        data[-1 - at % len(data)] = byte
    path = store(folder, "a.parquet", bytes(data[: changes[0][0]] if cut else data))
    reads(path)


@many
@given(
    st.sampled_from(["numpy_type", "pandas_type", "name", "field_name", "metadata"]), st.text(max_size=5), st.booleans()
)
def test_parquet_with_damaged_notes_by_pandas_is_read_or_refused_in_one_line(
    folder: Path, key: str, junk: str, drop: bool
) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    table = pa.Table.from_pandas(pd.DataFrame({"x": [1.5], "y": ["a"], "z": ["b"]}))
    notes = json.loads(table.schema.metadata[b"pandas"])
    for column in notes["columns"]:
        column.pop(key) if drop else column.update({key: junk})
    path = folder / "a.parquet"
    parquet.write_table(table.replace_schema_metadata({b"pandas": json.dumps(notes).encode()}), path)
    reads(path)


HEAD = "@attribute x numeric\n@attribute y {a,'1'}\n@attribute z {a,b}\n@data\n"
FAULTS = {
    "a sparse index of 5000 digits": ("a.arff", HEAD + "{" + "1" * 5000 + " 2}\n", "a sparse row is"),
    "a sparse row that does not close": ("a.arff", HEAD + "{0 1\n", "a sparse row is"),
    "a sparse row with text behind it": ("a.arff", HEAD + "{0 1} 2\n", "a sparse row is"),
    "a sparse row that gives a cell twice": ("a.arff", HEAD + "{0 1,0 2}\n", "different indices"),
    "50000 blanks in a domain": ("a.arff", "@attribute x {a}" + " " * 50_000 + "x\n", "must be numeric"),
    "50000 open quotes": ("a.arff", "@attribute x {" + "'" * 50_001 + "}\n", "must be numeric"),
    "50000 escapes": ("a.arff", HEAD + "{0 '" + "\\'" * 50_000 + " x}\n", "a sparse row is"),
    "10000 unknown columns": ("a.csv", ",".join(f"c{i}" for i in range(10_000)) + ",x\n", "and 9992 more"),
    "a column of 100000 letters": ("a.csv", "c" * 100_000 + ",x,y,z\n", "ccc…'"),
    "a million letters in a cell": ("a.csv", "x,y,z\n1," + "a" * 1_000_000 + ",a\n", "not well-formed"),
}


@pytest.mark.parametrize("claim", FAULTS)
def test_a_file_is_refused_for(claim: str, folder: Path) -> None:
    name, text, words = FAULTS[claim]
    with pytest.raises(InputError) as caught:
        read_frame(store(folder, name, text.encode()), SCHEMA)
    message = str(caught.value)
    assert words in message
    assert (len(message.splitlines()), len(message) < 1000) == (1, True)


def test_a_bare_carriage_return_before_a_missing_first_cell_shifts_nothing(folder: Path) -> None:
    text = "x,y,z\r1,a,b\r \r,1,a\r2,a,b\r"
    frame = read_frame(store(folder, "a.csv", text.encode()), SCHEMA)
    assert frame["x"].isna().tolist() == [False, True, False]
    assert (frame["y"].tolist(), frame["z"].tolist()) == (["a", "1", "a"], ["b", "a", "b"])


BOMB = """
import resource, sys
from dpcore.errors import InputError
from dpcore.readers import read_frame
import pandas, pyarrow
room = 2**28 + int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (room, room))
for path in sys.argv[1:]:
    try:
        read_frame(path)
    except InputError as error:
        print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux to bound a process's memory")
def test_a_little_gzip_does_not_fill_the_memory(folder: Path) -> None:
    """A line of 512 MiB, in 2 MiB of gzip, within 256 MiB."""
    paths = [folder / "bomb.csv.gz", folder / "bomb.arff.gz"]
    piece = b"a" * 2**20
    for path in paths:
        with gzip.open(path, "wb", 1) as stream:
            for _ in range(512):
                stream.write(piece)
    done = subprocess.run([sys.executable, "-c", BOMB, *map(str, paths)], capture_output=True, text=True, check=True)
    assert done.stdout.count("a line has more than 67108864 characters") == 2, done.stderr


def test_numbers_of_any_type_with_gaps_are_encoded_without_a_word(recwarn: pytest.WarningsRecorder) -> None:
    for kind in ("float16", "float32", "float64", "Float32", "Int8"):
        values: Any = pd.Series([1, None, 9], dtype=kind)
        rows = encode(pd.DataFrame({"x": values, "y": "a", "z": "b"}), SCHEMA)
        assert np.isnan(rows.columns["x"]).tolist() == [False, True, False]
    assert not recwarn
