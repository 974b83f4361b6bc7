"""What every verb prints with: JSON and tables on stdout, notes and progress on stderr.

rich is imported only for a terminal; piped output is plain text, complete and aligned.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click


def print_json(data: Any) -> None:
    """Print plain data, attrs-free, as JSON; infinite and undefined numbers become null."""
    ascii_only = not (sys.stdout.encoding or "").lower().startswith("utf")
    click.echo(json.dumps(_finite(data), indent=2, ensure_ascii=ascii_only, allow_nan=False))


def _finite(data: Any) -> Any:
    if hasattr(data, "tolist"):  # NumPy's scalars and arrays
        data = data.tolist()
    if isinstance(data, float) and not math.isfinite(data):
        return None
    if isinstance(data, Mapping):
        return {str(key): _finite(value) for key, value in data.items()}
    if isinstance(data, (list, tuple)):
        return [_finite(value) for value in data]
    return data


def print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
    """Print a table; columns that hold only numbers are aligned to the right.

    Args:
        columns: the headings.
        rows: the cells; None is left blank, floats get six significant digits.
        title: a line above it.
    """
    cells = [[_cell(value) for value in row] for row in rows]
    right = [_numeric([row[i] for row in rows]) for i in range(len(columns))]
    if sys.stdout.isatty():
        _rich_table(columns, cells, right, title)
        return
    if title:
        click.echo(title)
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    for line in (columns, *cells):
        padded = zip(line, widths, right, strict=True)
        click.echo("  ".join(c.rjust(w) if r else c.ljust(w) for c, w, r in padded).rstrip())


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else " ".join(str(value).split())


def _numeric(values: Sequence[Any]) -> bool:
    numbers = [v for v in values if v is not None]
    return bool(numbers) and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in numbers)


def _rich_table(
    columns: Sequence[str], cells: Sequence[Sequence[str]], right: Sequence[bool], title: str | None
) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, to_right in zip(columns, right, strict=True):
        table.add_column(heading, justify="right" if to_right else "left", overflow="fold")
    for row in cells:
        table.add_row(*map(Text, row))  # Text, because a plugin's words may look like rich's markup
    Console().print(table)


@contextlib.contextmanager
def progress(description: str, total: int | None = None) -> Iterator[Callable[..., None]]:
    """Show long work on stderr; silent when that is not a terminal.

    Args:
        description: what is being done.
        total: how many units there are, None if unknown.

    Returns:
        a function that marks one unit as done, or as many as it is given.
    """
    if not sys.stderr.isatty():
        yield lambda count=1: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(description, total=total)

        def advance(count: int = 1) -> None:
            bar.advance(task, count)

        yield advance


def note(text: str) -> None:
    """Tell the person something on stderr."""
    click.echo(f"dpcore: {text}", err=True)


def warn(text: str) -> None:
    """Warn the person on stderr."""
    click.echo(f"dpcore: warning: {text}", err=True)
