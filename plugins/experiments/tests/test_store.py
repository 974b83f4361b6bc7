"""A results file loses nothing that was added to it, whatever happens to its last line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
import pandas as pd
import pytest

from dpcore.errors import InputError
from dpcore_experiments.keys import Key
from dpcore_experiments.store import COLUMNS, Store, read

KEY = Key("00ff", 0, '{"name":"a, \\"b\\""}', 0.1, 1e-11, "add-remove", 10, 0, 0, 1, float("inf"), "dpcore 1")
NONE = float("nan")


def record(repeat: int, **more: Any) -> dict[str, Any]:
    """A run."""
    measured = {
        "accuracy": 0.1 + 0.2, "balanced_accuracy": 1 / 3, "auc": NONE, "log_loss": 0.5, "non_private_accuracy": NONE,
        "majority_accuracy": 0.5, "guarantee": "none", "guarantee_epsilon": float("inf"), "train_rows": 90,
        "test_rows": 10, "fit_seconds": 0.25, "predict_seconds": 0.125,
    }  # fmt: skip
    key = attrs.evolve(KEY, repeat=repeat).to_json()
    return {"data": "nan", "learner": "NA", **key, **measured, **more}


@pytest.fixture(params=[".csv", ".parquet"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where results go."""
    if request.param == ".parquet":
        pytest.importorskip("pyarrow")
    return tmp_path / f"r{request.param}"


def test_what_was_added_is_held_bit_by_bit(path: Path) -> None:
    with Store(path) as store:
        assert store.held() == set()
        store.add([record(1), record(0)])
        store.finish()
    with Store(path) as store:
        assert store.held() == {KEY, attrs.evolve(KEY, repeat=1)}
        again = store.finish()
    expected = pd.DataFrame([record(0), record(1)], columns=list(COLUMNS))
    pd.testing.assert_frame_equal(again, expected, check_dtype=False)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_what_was_added_is_held_even_if_nobody_finished(path: Path) -> None:
    with Store(path) as store:
        store.add([record(0)])
        store.add([record(1)])
    with Store(path) as store:
        assert len(store.held()) == 2
        store.add([record(2)])
        assert store.finish()["repeat"].tolist() == [0, 1, 2]
    assert read(path)["repeat"].tolist() == [0, 1, 2]


def test_a_line_cut_off_anywhere_is_dropped_and_the_rest_is_held(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    with Store(path) as store:
        store.add([record(0), record(1)])
    whole = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for cut in range(0, len(whole), 7):
        path.write_bytes(whole[:cut])
        with Store(path) as store:
            assert len(store.held()) == max(0, sum(end <= cut for end in ends) - 1)
            store.add([record(5)])
        assert read(path)["repeat"].tolist()[-1] == 5


def test_the_order_of_adding_leaves_no_trace(path: Path) -> None:
    contents = []
    for order in ([0, 1, 2], [2, 0, 1]):
        with Store(path) as store:
            for repeat in order:
                store.add([record(repeat)])
            store.finish()
        contents.append(path.read_bytes())
        path.unlink()
    assert contents[0] == contents[1]


def test_two_experiments_cannot_add_at_the_same_time(path: Path) -> None:
    pytest.importorskip("fcntl")
    with Store(path), pytest.raises(InputError, match="in use"):
        Store(path)


@pytest.mark.parametrize("content", ["a,b\n1,2\n", "no table", "\x00\xff"])
def test_another_file_is_refused_and_left_alone(path: Path, content: str) -> None:
    path.write_text(content)
    with pytest.raises(InputError, match=r"results file|Parquet"):
        Store(path)
    assert path.read_text() == content


def test_a_damaged_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    with Store(path) as store:
        store.add([record(0)])
    path.write_text(path.read_text().replace("0.5,0.0", "half,0.0") + "x,y\n")
    with pytest.raises(InputError, match="damaged"):
        read(path)


def test_other_endings_and_folders_that_are_missing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends with \.csv or \.parquet"):
        Store(tmp_path / "r.txt")
    with pytest.raises(InputError, match="there is no folder"):
        Store(tmp_path / "none" / "r.csv")


def test_memory_alone_keeps_runs_too() -> None:
    with Store(None) as store:
        store.add([record(0)])
        assert len(store.finish()) == 1
