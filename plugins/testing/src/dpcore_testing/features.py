"""Outcomes of a run as rows of numbers: one column a place in the data, and one for its structure.

What a run gives (JSON data, arrays, an error) is walked in order. A place that an outcome lacks is NaN there; text
becomes a number by its hash; so does the structure, that is every place and length. Nothing depends on other outcomes,
so independent runs stay independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import blake2b
from itertools import chain
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from dpcore_testing.bins import Floats

STRUCTURE = "the structure"

Places = tuple[tuple[str, int], ...]


@attrs.frozen(eq=False)
class Outcome:
    """What one run gave: the numbers, in order, and the places that they stand in (name and how many).

    Args:
        error: the error that it raised instead; empty where it raised none.
    """

    places: Places
    numbers: Floats
    error: str = ""


def outcome(data: Any) -> Outcome:
    """Plain data as an outcome; what is neither number, text, list, mapping nor array counts by its type alone."""
    places: list[tuple[str, int]] = []
    numbers: list[Floats] = []
    for name, values in _walk(data, ""):
        places.append((name, len(values)))
        numbers.append(values)
    return Outcome(tuple(places), np.concatenate(numbers) if numbers else np.empty(0))


def attempt(run: Callable[[], Any]) -> Outcome:
    """The outcome of a run; an error is an outcome too, by its type."""
    try:
        return outcome(run())
    except Exception as error:  # code under test may raise anything
        said = outcome({"raises": type(error).__name__})
        return attrs.evolve(said, error=f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}")


def _walk(data: Any, name: str) -> Iterator[tuple[str, Floats]]:
    if isinstance(data, Mapping):
        for key, value in data.items():
            yield from _walk(value, f"{name}.{key}" if name else str(key))
    elif isinstance(data, (Sequence, np.ndarray)) and not isinstance(data, (str, bytes)):
        array = _array(data)
        if array is not None:
            yield name if array.ndim == 1 else f"{name}{list(array.shape)}", array.astype(np.float64).ravel()
            return
        for i, value in enumerate(data):
            yield from _walk(value, f"{name}[{i}]")
    else:
        yield name, np.array([_number(data)])


def _array(data: Any) -> npt.NDArray[Any] | None:
    """Numbers in rows of the same length as an array, which is quick; None for anything else."""
    try:
        array = np.asarray(data)
    except (ValueError, TypeError, OverflowError):  # ragged, or no numbers at all
        return None
    return array if array.dtype.kind in "biuf" else None


def _number(value: Any) -> float:
    if isinstance(value, (bool, int, float, np.number, np.bool_)):
        try:
            return float(value)
        except OverflowError:
            return hashed(repr(value))
    return hashed(value if isinstance(value, str) else repr(type(value)))


def hashed(text: str) -> float:
    """A text as a whole number below 2^52."""
    return float(int.from_bytes(blake2b(text.encode(errors="replace"), digest_size=8).digest()) >> 12)


def columns(left: Sequence[Outcome], right: Sequence[Outcome]) -> tuple[Floats, Floats, list[str]]:
    """Both sides as matrices with the same columns, and the columns' names."""
    known: dict[str, int] = {STRUCTURE: 0}
    layouts = {}
    for places in dict.fromkeys(o.places for o in chain(left, right)):
        cells = [f"{name}[{i}]" if size > 1 else name for name, size in places for i in range(size)]
        layouts[places] = [known.setdefault(cell, len(known)) for cell in cells]
    names = list(known)
    first, second = (_matrix(side, layouts, len(names)) for side in (left, right))
    return first, second, names


def _matrix(side: Sequence[Outcome], layouts: Mapping[Places, list[int]], width: int) -> Floats:
    matrix = np.full((len(side), width), np.nan)
    rows: dict[Places, list[int]] = {}
    for i, one in enumerate(side):
        rows.setdefault(one.places, []).append(i)
    for places, index in rows.items():
        matrix[index, 0] = hashed(repr(places))
        if layouts[places]:
            matrix[np.ix_(index, layouts[places])] = np.stack([side[i].numbers for i in index])
    return matrix
