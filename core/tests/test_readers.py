"""Files of rows become the frame that the schema describes, or one clear line."""

from __future__ import annotations

import gzip
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.draft import draft_schema
from dpcore.errors import InputError, SchemaError
from dpcore.readers import ENDINGS, arff_schema, read_frame
from dpcore.schema import Nominal, Numeric, Schema

SCHEMA = Schema(
    (Numeric("age", 0, 120, integer=True), Nominal("job", ("1", "2", "NA"), missing=True)),
    Nominal("y", ("no", "yes")),
    ignored=("id",),
)
ROWS = "id,job,age,y\n7,NA,39,no\n8, 1 ,?,yes\n9,?,17.5,no\n"
ARFF = """% a comment
@RELATION 'two words'
@attribute age NUMERIC % in years
@attribute job {1, 2, 'NA'}
@attribute 'y' {no,yes}

@DATA
39, NA, no
% another
?,'1',"yes" % trailing
"""


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    data = text.encode() if isinstance(text, str) else text
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def error(path: Path, schema: Schema | None = SCHEMA, **options: bool) -> str:
    with pytest.raises(InputError) as caught:
        read_frame(path, schema, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "A.CSV", "a.tsv"])
def test_delimited_files_give_the_schemas_columns_in_its_order(tmp_path, name):
    text = ROWS.replace(",", "\t") if "tsv" in name else ROWS
    frame = read_frame(write(tmp_path, name, text), SCHEMA)
    assert list(frame.columns) == ["age", "job", "y"]
    assert frame["age"].dtype == np.float64
    assert frame["age"].tolist()[::2] == [39, 17.5]
    assert frame["age"].isna().tolist() == [False, True, False]
    assert frame["job"].tolist() == ["NA", "1", "?"]
    assert all(type(v) is str for v in [*frame["job"], *frame["y"]])


def test_the_class_is_needed_for_training_only(tmp_path):
    path = write(tmp_path, "a.csv", "age,job\n1,2\n")
    assert "lacks the class 'y'" in error(path)
    assert list(read_frame(path, SCHEMA, target=False).columns) == ["age", "job"]
    full = write(tmp_path, "b.csv", ROWS)
    assert list(read_frame(full, SCHEMA, target=False).columns) == ["age", "job"]


def test_blank_lines_byte_order_mark_and_windows_line_ends_do_not_matter(tmp_path):
    text = "\ufeffage, job ,y\r\n\r\n1,\"2\",no\r\n   \r\n2,1,'yes'\r\n"
    frame = read_frame(write(tmp_path, "a.csv", text), SCHEMA)
    assert frame["age"].tolist() == [1, 2]
    assert frame["y"].tolist() == ["no", "'yes'"]


def test_missing_tokens_are_found_behind_blanks(tmp_path):
    frame = read_frame(write(tmp_path, "a.csv", "age,job,y\n ? ,1,no\n  ,1,no\n 4 ,1,no\n"), SCHEMA)
    assert frame["age"].isna().tolist() == [True, True, False]


def test_numbers_are_read_to_the_last_digit(tmp_path):
    value = 0.1 + 0.2
    frame = read_frame(write(tmp_path, "a.csv", f"age,job,y\n{value!r},1,no\n"), SCHEMA)
    assert frame["age"][0] == value


def test_without_a_schema_everything_is_text_as_written(tmp_path):
    frame = read_frame(write(tmp_path, "a.csv", "a,b\n01,NA\n2.50,\n"))
    assert frame.to_dict("list") == {"a": ["01", "2.50"], "b": ["NA", ""]}


@pytest.mark.parametrize("cell", ["abc", "nan", "NaN", "inf", "1e999", "True", "1_000", "0x1A", "12 3"])
def test_a_cell_that_is_no_number_is_counted_and_placed_but_never_shown(tmp_path, cell):
    path = write(tmp_path, "a.csv", f'age,job,y\n1,1,no\n\n2,"\n",no\n{cell},1,no\n{cell},2,yes\n')
    message = error(path)
    assert "'age'" in message
    assert "2 cells are not a finite number" in message
    assert "line 6" in message
    assert cell not in message


def test_a_column_of_truth_values_is_not_numeric(tmp_path):
    assert "2 cells are not" in error(write(tmp_path, "a.csv", "age,job,y\nTrue,1,no\nFalse,1,no\n"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("age,job,y\n", "header but no rows"),
        ("age,job,y\n1,2\n", "line 2 has 2 cells, the header has 3"),
        ("age,job,y\n1,2,no\n\n1,2,no,9\n", "line 4 has 4 cells"),
        ("age,job,y,age\n1,2,no,3\n", "columns 1 and 4 have the same name"),
        ("age,,y\n1,2,no\n", "column 2 has no name"),
        ("age,y\n1,no\n", "lacks 'job'"),
        ("age,job,y,pay\n1,1,no,5\n", "columns that the schema lacks: 'pay'"),
        ("39,NA,secret\n40,1,no\n", "none of the schema's 3 columns"),
        ('age,job,y\n1,1,"no\n', "not well-formed"),
        (b"age,job,y\n1,\xff,no\n", "not UTF-8"),
        ("age,job,y\n1," + "x" * 200_000 + ",no\n", "not well-formed"),
    ],
)
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_a_wrong_file_is_one_clear_line(tmp_path, name, text, words):
    message = error(write(tmp_path, name, text))
    assert words in message
    assert "secret" not in message


def test_what_is_no_readable_file_is_one_clear_line(tmp_path):
    assert "there is no file" in error(tmp_path / "none.csv")
    (tmp_path / "d.csv").mkdir()
    assert "is a directory" in error(tmp_path / "d.csv")
    message = error(write(tmp_path, "a.xlsx", "x"))
    assert all(ending in message for ending in ENDINGS)
    for name in ("plain.csv.gz", "plain.arff.gz"):
        (tmp_path / name).write_text("age,job,y\n1,1,no\n")
        assert "not a whole gzip file" in error(tmp_path / name)
    whole = gzip.compress(ROWS.encode() * 500)
    for cut in (30, len(whole) - 6):
        (tmp_path / "cut.csv.gz").write_bytes(whole[:cut])
        assert "not a whole gzip file" in error(tmp_path / "cut.csv.gz")


def test_extra_columns_are_an_error_in_prediction_too(tmp_path):
    assert "'pay'" in error(write(tmp_path, "a.csv", "age,job,pay\n1,1,5\n"), target=False)


def test_a_large_file_is_read_in_seconds(tmp_path):
    rng = np.random.default_rng(0)
    columns = {f"x{i}": rng.integers(0, 100, 30_000) for i in range(20)}
    path = tmp_path / "a.csv"
    pd.DataFrame({**columns, "y": "a"}).to_csv(path, index=False)
    schema = Schema(tuple(Numeric(n, 0, 100) for n in columns), Nominal("y", ("a", "b")))
    start = time.perf_counter()
    assert read_frame(path, schema).shape == (30_000, 21)
    assert time.perf_counter() - start < 10  # about 0.2 s; the limit is for a loaded machine


def test_importing_the_readers_imports_no_heavy_library():
    code = "import sys, dpcore.readers, dpcore.draft; print({'numpy', 'pandas', 'pyarrow'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# -- ARFF -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.arff", "a.arff.gz"])
def test_arff_rows(tmp_path, name):
    path = write(tmp_path, name, ARFF)
    for schema in (SCHEMA, None):
        frame = read_frame(path, schema)
        assert list(frame.columns) == ["age", "job", "y"]
        assert frame["age"].isna().tolist() == [False, True]
        assert frame["job"].tolist() == ["NA", "1"]
        assert frame["y"].tolist() == ["no", "yes"]


def test_arff_quotes_and_escapes(tmp_path):
    text = "@relation r\n@attribute 'a b' string\n@attribute c {'x, y',\"it's\", '100%', z}\n@data\n"
    text += "'don\\'t\\tgo','x, y'\n\"say \\\"hi\\\"\" ,  'it\\'s'\nplain text,'100%'\nz, \"it's\"\n"
    frame = read_frame(write(tmp_path, "a.arff", text))
    assert frame["a b"].tolist() == ["don't\tgo", 'say "hi"', "plain text", "z"]
    assert frame["c"].tolist() == ["x, y", "it's", "100%", "it's"]


def test_arff_sparse_rows_mean_zero_and_the_first_value(tmp_path):
    text = "@relation r\n@attribute n numeric\n@attribute c {no,yes,'a, b'}\n@attribute m real\n@data\n"
    text += "{0 2.5, 1 yes}\n{}\n{ 2 ? , 1 'a, b' }\n{1 yes} % note\n"
    frame = read_frame(write(tmp_path, "a.arff", text))
    assert frame["n"].tolist() == [2.5, 0, 0, 0]
    assert frame["c"].tolist() == ["yes", "no", "a, b", "yes"]
    assert frame["m"].isna().tolist() == [False, False, True, False]


def test_arff_rows_may_be_separated_by_tabs_and_blanks(tmp_path):
    text = "@relation r\n@attribute\tn\tinteger\n@attribute c {a,b}\n@data\n1\ta\n2 b\n"
    frame = read_frame(write(tmp_path, "a.arff", text))
    assert frame.to_dict("list") == {"n": [1, 2], "c": ["a", "b"]}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("@relation r\n@attribute d date\n@data\n1\n", "line 2: attribute 'd' is of type date"),
        ("@relation r\n@attribute d date 'yyyy'\n@data\n1\n", "type date"),
        ("@relation r\n@attribute d relational\n@data\n1\n", "type relational"),
        ("@relation r\n@attribute d foo\n@data\n1\n", "must be numeric"),
        ("@relation r\n@attribute\n@data\n1\n", "has no name"),
        ("@relation r\n@attribute c {a,a}\n@data\na\n", "must be different"),
        ("@relation r\n@data\n", "before any @attribute"),
        ("@relation r\n@attribute n real\n", "without a @data line"),
        ("n,c\n1,2\n", "line 1"),
        ("@attribute n real\n@attribute c {a}\n@data\n", "no rows"),
        ("@attribute n real\n@attribute c {a}\n@data\n1,a\n1,a,b\n", "line 5: the row has 3 values"),
        ("@attribute n real\n@attribute c {a}\n@data\n1,'a\n", "line 4"),
        ("@attribute n real\n@attribute c {a}\n@data\n1,'a' b\n", "line 4"),
        ("@attribute n real\n@attribute c {a}\n@data\n{2 a}\n", "sparse row"),
        ("@attribute n real\n@attribute c {a}\n@data\n\nsecret,a\n", "stands in line 5"),
        ("@attribute n real\n@attribute n real\n@data\n1,1\n", "same name"),
    ],
)
def test_a_wrong_arff_file_is_one_clear_line(tmp_path, text, words):
    message = error(write(tmp_path, "a.arff", text), None)
    assert words in message
    assert "secret" not in message


def test_the_arff_header_is_a_schema_once_bounds_are_given(tmp_path):
    path = write(tmp_path, "a.arff", ARFF)
    schema = arff_schema(path, bounds={"age": (0, 120)}, missing=["age"])
    assert schema.title == "two words"
    assert schema.attributes == (Numeric("age", 0, 120, missing=True), Nominal("job", ("1", "2", "NA")))
    assert schema.target == Nominal("y", ("no", "yes"))
    assert arff_schema(path, "job", bounds={"age": (0, 1)}).names == ("age", "y")


def test_an_arff_header_that_says_too_little_is_refused_with_the_way_out(tmp_path):
    path = write(tmp_path, "a.arff", ARFF)
    with pytest.raises(SchemaError, match=r"no bounds.*'age'.*`bounds`.*JSON schema"):
        arff_schema(path)
    with pytest.raises(SchemaError, match="must be nominal"):
        arff_schema(path, "age")
    for bad in ({"target": "nobody"}, {"bounds": {"nobody": (0, 1)}}, {"missing": ["nobody"]}):
        with pytest.raises(SchemaError, match="no attribute 'nobody'"):
            arff_schema(path, **bad)
    text = write(tmp_path, "b.arff", "@attribute s string\n@attribute c {a,b}\n@data\n")
    with pytest.raises(SchemaError, match="is a string"):
        arff_schema(text)


# -- Parquet ----------------------------------------------------------------------------------


def test_parquet_gives_what_csv_gives(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"id": [1, 2, 3], "job": ["NA", " 1", None], "age": [39, None, 17.5], "y": "no"})
    frame.set_index(pd.Index([5, 6, 7])).to_parquet(tmp_path / "a.parquet")
    read = read_frame(tmp_path / "a.parquet", SCHEMA)
    assert list(read.columns) == ["age", "job", "y"]
    assert read["job"].tolist() == ["NA", "1", "?"]
    assert read["age"].isna().tolist() == [False, True, False]
    assert read["age"].dtype == np.float64
    assert read_frame(tmp_path / "a.parquet")["id"].tolist() == [1, 2, 3]


def test_parquet_numbers_in_nominal_columns_are_written_plainly(tmp_path):
    pytest.importorskip("pyarrow")
    for job in ([1, 2], [1.0, None], pd.Categorical(["1", "2"])):
        pd.DataFrame({"age": [True, False], "job": job, "y": "no"}).to_parquet(tmp_path / "a.parquet")
        read = read_frame(tmp_path / "a.parquet", SCHEMA)
        assert read["job"][0] == "1"
        assert read["age"].tolist() == [1, 0]


def test_wrong_parquet_is_one_clear_line(tmp_path):
    pytest.importorskip("pyarrow")
    assert "Parquet" in error(write(tmp_path, "bad.parquet", "PAR1 not really"))
    path = tmp_path / "a.parquet"

    def store(**columns: object) -> Path:
        pd.DataFrame(columns).to_parquet(path)
        return path

    assert "no rows" in error(store(age=[], job=[], y=[]))
    assert "lacks 'job'" in error(store(age=[1], y=["no"]))
    assert "row 2" in error(store(age=["1", "secret"], job=["1", "1"], y=["no", "no"]))
    assert "row 1" in error(store(age=[np.inf], job=["1"], y=["no"]))
    when = pd.to_datetime(["2020-01-01"])
    assert "holds datetime64 values" in error(store(age=[1], job=when, y=["no"]))
    assert "holds bytes values" in error(store(age=[1], job=[b"x"], y=["no"]))


def test_parquet_without_pyarrow_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install dpcore[parquet]" in error(write(tmp_path, "a.parquet", "x"))


# -- the draft --------------------------------------------------------------------------------


def test_a_draft_loads_and_says_loudly_that_it_is_not_private(tmp_path):
    rows = "a,b,c,d,e,y\n" + "".join(f"{i},{i / 4},{'uv'[i % 2]},t{i},same,{i % 3}\n" for i in range(200))
    draft = draft_schema(read_frame(write(tmp_path, "a.csv", rows + "?,?,,x,same,1\n")), "y", "my rows")
    schema = Schema.from_json(draft)
    assert next(iter(draft)) == "warning"
    assert "NOT PRIVATE" in draft["warning"]
    assert schema.attributes == (
        Numeric("a", 0, 199, integer=True, missing=True),
        Numeric("b", 0, 49.75, missing=True),
        Nominal("c", ("u", "v"), missing=True),
    )
    assert schema.ignored == ("d", "e")
    assert schema.classes == ("0", "1", "2")
    used = [a for a in draft["attributes"] if a.get("role") != "ignore"]
    assert all("NOT PUBLIC" in a["bounds_source"] for a in used)
    assert all(a["note"] for a in draft["attributes"] if a not in used)


def test_a_draft_reads_typed_frames_alike():
    frame = pd.DataFrame({"n": [1.0, None, 3.0], "c": ["a", "b", None], "y": [0, 1, 1]})
    schema = Schema.from_json(draft_schema(frame, "y"))
    assert schema["n"] == Numeric("n", 1, 3, integer=True, missing=True)
    assert schema["c"] == Nominal("c", ("a", "b"), missing=True)
    assert schema.classes == ("0", "1")


def test_a_draft_needs_a_class():
    frame = pd.DataFrame({"n": range(200), "k": 1})
    for target, words in (("z", "no column 'z'"), ("k", "1 different"), ("n", "200 different")):
        with pytest.raises(InputError, match=words):
            draft_schema(frame, target)
