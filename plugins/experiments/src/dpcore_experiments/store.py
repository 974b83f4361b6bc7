"""The results file: runs are added as they are done, and those that it holds are not done again.

A unit's runs are appended in one write and synced; a line that a crash cut off is dropped when the file is opened next.
While an experiment runs on a Parquet file, its new runs stand in a CSV file beside it (`NAME.new.csv`). At the end the
file is written whole, in the order of its keys, whoever did which run when.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Self

from dpcore.errors import InputError
from dpcore.writing import check_room, write_whole
from dpcore_experiments.keys import KEY, Key

if TYPE_CHECKING:
    import pandas as pd

MEASURED = (
    "accuracy", "balanced_accuracy", "auc", "log_loss", "non_private_accuracy", "majority_accuracy", "guarantee",
    "guarantee_epsilon", "train_rows", "test_rows", "fit_seconds", "predict_seconds",
)  # fmt: skip
COLUMNS = ("data", "learner", *KEY, *MEASURED)
_TEXTS = ("data", "learner", "data_hash", "settings", "adjacency", "version", "guarantee")
_WHOLE = ("rows", "folds", "fold", "repeat", "seed", "train_rows", "test_rows")
_ENDINGS = (".csv", ".parquet")


class Store:
    """An open results file, or memory only.

    Args:
        path: `.csv` or `.parquet`; None keeps nothing beyond this object.

    Raises:
        InputError: if the file is not a results file, cannot be written, or is in use by another experiment.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._file: IO[bytes] | None = None
        self._records: list[Mapping[str, Any]] = []
        self._old = _empty()
        if path is None:
            return
        check_place(path)
        self._old = read(path) if path.exists() else _empty()
        self._journal = path if path.suffix == ".csv" else path.with_name(path.name + ".new.csv")
        self._file = _lock(self._journal)
        try:
            if self._journal != path:
                self._old = _merged([self._old, _mended(self._file, self._journal)])
            else:
                # only now is it certain that nobody else is adding to it
                self._old = _mended(self._file, path)
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is None:
            return
        self._file.close()
        if error is not None and not self._records and self._old.empty:
            self._journal.unlink(missing_ok=True)  # nothing was done: leave nothing

    def held(self) -> set[Key]:
        """The keys of all runs that it holds."""
        return {Key(*row) for row in self._old[list(KEY)].itertuples(index=False, name=None)}

    def add(self, records: Sequence[Mapping[str, Any]]) -> None:
        """Add runs, durably when it returns.

        Raises:
            InputError: if they cannot be written.
        """
        self._records += records
        if self._file is None:
            return
        try:
            self._file.write(_lines(records).encode())
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise InputError(f"cannot write {str(self._journal)!r}: {error.strerror}.") from None

    def frame(self) -> pd.DataFrame:
        """All runs, in the order of their keys."""
        import pandas as pd

        return _merged([self._old, _typed(pd.DataFrame(self._records, columns=list(COLUMNS)))])

    def finish(self) -> pd.DataFrame:
        """All runs, in the order of their keys, and written so."""
        frame = self.frame()
        if self._path is not None:
            write(frame, self._path)
            if self._journal != self._path:
                self._journal.unlink(missing_ok=True)
        return frame


def check_place(path: Path) -> None:
    """Raise `InputError` now if results could not be kept there later."""
    if path.suffix not in _ENDINGS:
        raise InputError(f"a results file ends with {' or '.join(_ENDINGS)}. Got {str(path)!r}.")
    check_room(path)
    if path.suffix == ".parquet":
        from importlib.util import find_spec

        if find_spec("pyarrow") is None:
            raise InputError("a .parquet file needs pyarrow: pip install dpcore-experiments[parquet].")


def read(path: Path) -> pd.DataFrame:
    """The runs of a results file.

    Raises:
        InputError: if it cannot be read or is no results file.
    """
    import pandas as pd

    if path.suffix == ".csv":
        try:
            return _parsed(path.read_bytes(), path)
        except OSError as error:
            raise InputError(f"cannot read {str(path)!r}: {error.strerror}.") from None
    try:
        frame = pd.read_parquet(path)
    except Exception:
        raise InputError(f"cannot read {str(path)!r}: it is no whole Parquet file.") from None
    _check_columns(frame.columns, path)
    return _typed(frame)


def write(frame: pd.DataFrame, path: Path) -> None:
    """Write runs whole or not at all; a file that stands there is replaced."""
    if path.suffix == ".csv":
        write_whole(path, _header() + _lines(frame.to_dict("records")))
    else:
        buffer = io.BytesIO()
        frame.to_parquet(buffer, index=False)
        write_whole(path, buffer.getvalue())


def _header() -> str:
    return ",".join(COLUMNS) + "\n"


def _lines(records: Iterable[Mapping[Any, Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for record in records:
        writer.writerow([_cell(name, record[name]) for name in COLUMNS])
    return text.getvalue()


def _cell(name: str, value: Any) -> Any:
    if name in _TEXTS:
        return value
    if name in _WHOLE:
        return int(value)
    number = float(value)
    return "" if math.isnan(number) else repr(number)


def _lock(path: Path) -> IO[bytes]:
    try:
        file = open(path, "ab+")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"cannot write {str(path)!r}: {error.strerror}.") from None
    try:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except ImportError:  # no such locks on this system
        pass
    except OSError:
        file.close()
        raise InputError(f"{str(path)!r} is in use: another experiment is adding to it.") from None
    return file


def _mended(file: IO[bytes], path: Path) -> pd.DataFrame:
    """What an open file holds; a line that was cut off is dropped, and an empty file gets its heading."""
    file.seek(0)
    content = file.read()
    whole = content[: content.rfind(b"\n") + 1]
    if whole:
        frame = _parsed(whole, path)
    elif content and not _header().encode().startswith(content):
        raise InputError(f"{str(path)!r} is no results file.")
    else:
        frame, whole = _empty(), b""
    if len(whole) < len(content):
        file.truncate(len(whole))
    if not whole:
        file.write(_header().encode())
        file.flush()
    return frame


def _parsed(content: bytes, path: Path) -> pd.DataFrame:
    import pandas as pd

    whole = content[: content.rfind(b"\n") + 1]
    if not whole:
        if content and not _header().encode().startswith(content):
            raise InputError(f"{str(path)!r} is no results file.")
        return _empty()
    _check_columns(whole[: whole.find(b"\n")].decode("utf-8", "replace").split(","), path)
    try:
        # as texts first: only Python's own floats come back bit by bit under every version of pandas
        frame = pd.read_csv(io.BytesIO(whole), dtype=str, keep_default_na=False, na_filter=False)
        frame = frame.where(frame != "", "nan").assign(**{name: frame[name] for name in _TEXTS})
        return _typed(frame)
    except ValueError:
        raise InputError(f"{str(path)!r} is a damaged results file: some lines do not fit its heading.") from None


def _check_columns(columns: Iterable[str], path: Path) -> None:
    lost = [name for name in COLUMNS if name not in list(columns)]
    if lost:
        raise InputError(f"{str(path)!r} is no results file: it lacks the column {lost[0]!r}.")


def _typed(frame: pd.DataFrame) -> pd.DataFrame:
    kinds = {name: str if name in _TEXTS else "int64" if name in _WHOLE else "float64" for name in COLUMNS}
    plain = frame[list(COLUMNS)].astype(object)
    return plain.astype({name: kind for name, kind in kinds.items() if kind is not str})


def _empty() -> pd.DataFrame:
    import pandas as pd

    return _typed(pd.DataFrame(columns=list(COLUMNS)))


def _merged(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    import pandas as pd

    filled = [frame for frame in frames if len(frame)]
    together = pd.concat(filled, ignore_index=True) if filled else _empty()
    once = together.drop_duplicates(list(KEY), keep="last")
    return once.sort_values(["data", *KEY], kind="stable", ignore_index=True)
