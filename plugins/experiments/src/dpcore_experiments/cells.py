"""Tables as data: a table knows its numbers; how it looks in HTML, LaTeX or a terminal is decided elsewhere."""

from __future__ import annotations

import math
from typing import Any

import attrs


@attrs.frozen
class Cell:
    """One cell.

    Args:
        text: what is shown.
        value: what it is sorted by and what a CSV file holds; None for the text.
        mark: `v` or `*`, see `stats.Test.mark`.
        best: whether it is the best of its row.
        hint: what it means, in words.
    """

    text: str
    value: float | None = None
    mark: str = ""
    best: bool = False
    hint: str = ""

    @property
    def plain(self) -> str:
        """The text with its mark."""
        return f"{self.text} {self.mark}".strip()


@attrs.frozen
class Table:
    """A table.

    Args:
        name: of its files.
        caption: what it shows, one sentence.
        columns: the headings.
        rows: the cells, as many a row as there are columns.
        texts_first: how many columns hold words.
        note: how to read it.
    """

    name: str
    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    texts_first: int = 1
    note: str = ""

    def texts(self) -> list[list[str]]:
        """The shown texts with their marks."""
        return [[cell.plain for cell in row] for row in self.rows]

    def values(self) -> list[list[Any]]:
        """What a CSV file holds."""
        return [[cell.text if cell.value is None else cell.value for cell in row] for row in self.rows]


def word(text: str) -> Cell:
    """A cell of words."""
    return Cell(text)


def figure(value: float, digits: int = 4, **more: Any) -> Cell:
    """A cell of one number; a missing one is a dash."""
    return Cell("–" if math.isnan(value) else f"{value:.{digits}f}", value, **more)


def budget(value: float) -> Cell:
    """An epsilon."""
    return Cell("∞" if math.isinf(value) else f"{value:g}", value)
