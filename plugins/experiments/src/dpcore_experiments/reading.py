"""Reads an experiment file. Whatever is wrong in it is one line that says what would be right."""

from __future__ import annotations

import difflib
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dpcore.errors import InputError
from dpcore_experiments.experiment import ALL, Data, Experiment, Learner, Published, resolve

_TOP = (
    "title", "notes", "datasets", "epsilon", "delta", "adjacency", "folds", "repeats", "rows", "seed", "exact_epsilon",
)  # fmt: skip
_SHORT = ("datasets", "epsilon", "adjacency", "folds", "repeats", "rows", "exact_epsilon")
_LEARNER = (
    "label", "name", "estimator", "parameters", "mechanism", "sensitivity", "allocator", "accounting", "delta",
    "encoding", "repeats",
)  # fmt: skip
_WORDS = {str: "a text", float: "a number", int: "a whole number", dict: "a table", list: "a list"}


def load(path: str | Path, *, short: bool = False) -> Experiment:
    """The experiment that a TOML file describes.

    Args:
        path: the file; files that it names are looked for in its folder.
        short: with what its table `[short]` says instead.

    Raises:
        InputError: if it cannot be read, or something in it is wrong; names the file and the key.
    """
    path = Path(path)
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the experiment {str(path)!r}: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise InputError(f"the experiment {str(path)!r} is no TOML file: {reason}.") from None
    try:
        return parse(document, path.parent, short=short)
    except InputError as error:
        raise type(error)(f"{path.name}: {error}") from None


def parse(document: Mapping[str, Any], folder: Path, *, short: bool = False) -> Experiment:
    """The experiment that plain data, as TOML holds them, describe.

    Raises:
        InputError: for an unknown key (with the nearest) or a value that is not allowed.
    """
    _known(document, (*_TOP, "learner", "short", "published"), "the experiment")
    top = {key: document[key] for key in _TOP if key in document}
    if short:
        changes = _typed(document, "short", dict, "the experiment", {})
        if not changes:
            raise InputError("the experiment has no table [short].")
        _known(changes, _SHORT, "[short]")
        top |= changes
    where = "the experiment"
    learners = tuple(_learner(x) for x in _typed(document, "learner", list, where, []))
    given = _published(_typed(document, "published", dict, where, {}))
    data = tuple(_data(x, folder) for x in _typed(top, "datasets", list, where, []))
    repeats = _typed(top, "repeats", int, where, 1)
    if short:
        learners = tuple(_at_most(x, repeats) for x in learners)
    _labels_exist(given, [x.label for x in learners], _labels(document, folder))
    fields: dict[str, Any] = {
        "epsilon": tuple(_numbers(top["epsilon"], "epsilon")) if "epsilon" in top else None,
        "delta": _typed(top, "delta", float, where, None),
        "adjacency": tuple(_texts(top["adjacency"], "adjacency")) if "adjacency" in top else None,
        "folds": _typed(top, "folds", int, where, None),
        "rows": tuple(_sizes(top["rows"])) if "rows" in top else None,
        "seed": _typed(top, "seed", int, where, None),
        "exact_epsilon": _typed(top, "exact_epsilon", float, where, None),
        "title": _typed(top, "title", str, where, None),
        "notes": _typed(top, "notes", str, where, None),
    }
    present = {key: value for key, value in fields.items() if value is not None}
    return Experiment(data=data, learners=learners, repeats=repeats, published=given, **present)


def _labels(document: Mapping[str, Any], folder: Path) -> list[str]:
    """The labels of all data sets, also of those that the short form leaves out."""
    return [_data(x, folder).label for x in _typed(document, "datasets", list, "the experiment", [])]


def _at_most(learner: Learner, repeats: int) -> Learner:
    import attrs

    return learner if learner.repeats is None else attrs.evolve(learner, repeats=min(learner.repeats, repeats))


def _data(entry: Any, folder: Path) -> Data:
    if isinstance(entry, str):
        return Data(Path(entry).name.split(".")[0] or entry, resolve(folder, entry))
    if not isinstance(entry, dict):
        raise InputError(f"datasets must be names, or tables with source and schema. Got {entry!r}.")
    _known(entry, ("label", "source", "schema"), "a data set")
    source = _typed(entry, "source", str, "a data set", None)
    if source is None:
        raise InputError("a data set needs a source: a name or a file.")
    schema = _typed(entry, "schema", str, "a data set", None)
    label = _typed(entry, "label", str, "a data set", Path(source).name.split(".")[0] or source)
    return Data(label, resolve(folder, source), None if schema is None else resolve(folder, schema))


def _learner(entry: Any) -> Learner:
    if not isinstance(entry, dict):
        raise InputError("learner must be tables: write [[learner]] before each.")
    called = next((entry[k] for k in ("label", "name", "estimator") if isinstance(entry.get(k), str)), "")
    where = f"learner {called!r}" if called else "a learner"
    _known(entry, _LEARNER, where)
    texts = {k: _typed(entry, k, str, where, None) for k in _LEARNER if k not in ("parameters", "delta", "repeats")}
    label = texts.pop("label") or called.rpartition(":")[2]
    if not label:
        raise InputError("a learner needs a name or an estimator.")
    return Learner(
        label,
        parameters=_typed(entry, "parameters", dict, where, {}),
        delta=_typed(entry, "delta", float, where, None),
        repeats=_typed(entry, "repeats", int, where, None),
        **{key: value for key, value in texts.items() if value is not None},
    )


def _published(entry: Mapping[str, Any]) -> Published:
    _known(entry, ("source", "private", "non_private", "notes"), "[published]")
    figures = {
        key: {
            label: {data: _number(value, f"[published] {label}, {data}") for data, value in row.items()}
            for label, row in _rows(entry, key)
        }
        for key in ("private", "non_private")
    }
    notes = {label: {data: str(text) for data, text in row.items()} for label, row in _rows(entry, "notes")}
    return Published(_typed(entry, "source", str, "[published]", ""), **figures, notes=notes)


def _rows(entry: Mapping[str, Any], key: str) -> Iterable[tuple[str, Mapping[str, Any]]]:
    for label, row in _typed(entry, key, dict, "[published]", {}).items():
        if not isinstance(row, dict):
            raise InputError(f"[published.{key}] {label!r} must be a table: data set = value.")
        yield label, row


def _labels_exist(given: Published, learners: Sequence[str], data: Sequence[str]) -> None:
    for table in (given.private, given.non_private, given.notes):
        for label, row in table.items():
            _known({label: 0}, learners, "[published]")
            _known(row, data, f"[published] {label!r}")


def _known(table: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    known = list(known)
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            right = f"nearest: {near[0]!r}" if near else f"known are: {', '.join(known)}"
            raise InputError(f"{where} has no {key!r}; {right}.")


def _typed(table: Mapping[str, Any], key: str, kind: type, where: str, default: Any) -> Any:
    if key not in table:
        return default
    value = table[key]
    if kind is float:
        return _number(value, f"{where}: {key}")
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(f"{where}: {key} must be {_WORDS[kind]}. Got {value!r}.")
    return value


def _number(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InputError(f"{where} must be a number. Got {value!r}.")
    return float(value)


def _numbers(value: Any, where: str) -> list[float]:
    return [_number(x, where) for x in (value if isinstance(value, list) else [value])]


def _texts(value: Any, where: str) -> list[str]:
    found = value if isinstance(value, list) else [value]
    if not all(isinstance(x, str) for x in found):
        raise InputError(f"{where} must be texts. Got {value!r}.")
    return list(found)


def _sizes(value: Any) -> list[int]:
    found = value if isinstance(value, list) else [value]
    for x in found:
        if x != "all" and (isinstance(x, bool) or not isinstance(x, int)):
            raise InputError(f"rows must be whole numbers or 'all'. Got {x!r}.")
    return [ALL if x == "all" else x for x in found]
