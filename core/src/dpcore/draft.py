"""A first schema from private rows, for a person to review: not private until every bound is replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpcore.errors import InputError
from dpcore.schema import MISSING_TOKENS

if TYPE_CHECKING:
    import pandas as pd

MOST_VALUES = 100
"""A text column with more different values than this is left out of the draft."""

WARNING = (
    "NOT PRIVATE: the bounds and lists of values below were read from the rows. A single person's row can "
    "decide any of them, so a model fitted with this draft has no privacy guarantee. Replace every bound "
    "and every list by public knowledge (a questionnaire, a code book, units, physical limits), then "
    "delete this warning."
)
_SOURCE = "read from the data: NOT PUBLIC, review"


def draft_schema(frame: pd.DataFrame, target: str, title: str = "") -> dict[str, Any]:
    """A draft for `dpcore schema draft`: JSON data that `Schema.from_json` reads.

    Args:
        frame: rows, as `read_frame` gives them without a schema.
        target: the class column.
        title: one line for people.

    Raises:
        InputError: if there is no such column, or it is no class.
    """
    if target not in frame.columns:
        raise InputError(f"there is no column {target!r} to be the class.")
    words = _words(frame[target])
    classes = sorted(set(words) - set(MISSING_TOKENS))
    if not 2 <= len(classes) <= MOST_VALUES:
        raise InputError(
            f"the class {target!r} has {len(classes)} different values; a class has from 2 to {MOST_VALUES}."
        )
    attributes = [_attribute(str(n), frame[n]) for n in frame.columns if n != target]
    return {
        "warning": WARNING,
        "title": title,
        "attributes": attributes,
        "class": {"name": target, "values": classes, "values_source": _SOURCE},
    }


def _attribute(name: str, cells: pd.Series[Any]) -> dict[str, Any]:
    words = _words(cells)
    present = [w for w in words if w not in MISSING_TOKENS]
    values = sorted(set(present))
    if len(values) < 2:
        return {"name": name, "role": "ignore", "note": "the rows have fewer than two values here"}
    numbers = _numbers(values)
    entry: dict[str, Any]
    if numbers is not None:
        whole = all(n.is_integer() for n in numbers)
        low, high = min(numbers), max(numbers)
        if low == high:
            return {"name": name, "role": "ignore", "note": "the rows have fewer than two values here"}
        entry = {
            "name": name,
            "type": "numeric",
            "lower": int(low) if whole else low,
            "upper": int(high) if whole else high,
            "integer": whole,
        }
    elif len(values) > MOST_VALUES:
        note = f"text with more than {MOST_VALUES} different values: group them, or leave the column out"
        return {"name": name, "role": "ignore", "note": note}
    else:
        entry = {"name": name, "type": "nominal", "values": values}
    if len(present) < len(words):
        entry["has_missing"] = True
    return entry | {"bounds_source": _SOURCE}


def _words(cells: pd.Series[Any]) -> list[str]:
    """The cells as text, '?' for none; 2.0 is '2', as in a column of whole numbers with gaps."""
    words = list[str]()
    for value, absent in zip(cells.tolist(), cells.isna().tolist(), strict=True):
        if absent:
            words.append("?")
        elif isinstance(value, float) and value.is_integer():
            words.append(str(int(value)))
        else:
            words.append(str(value).strip())
    return words


def _numbers(words: list[str]) -> list[float] | None:
    """The words as finite numbers, or None if one is not."""
    numbers = list[float]()
    for word in words:
        try:
            number = float(word)
        except ValueError:
            return None
        if not abs(number) <= 1e100 or "_" in word:
            return None
        numbers.append(number)
    return numbers
