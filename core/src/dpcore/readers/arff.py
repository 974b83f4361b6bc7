"""ARFF, Weka's format: a header with types, then rows, dense or sparse."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from dpcore.errors import InputError
from dpcore.readers.columns import Wanted
from dpcore.readers.files import lines, opened

if TYPE_CHECKING:
    import pandas as pd

_QUOTED = r"""'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)\""""
_WORD = re.compile(rf"\s*(?:{_QUOTED}|([^\s{{]+))")
_DOMAIN = re.compile(rf"""\s*\{{((?:{_QUOTED}|[^'"}}])*)\}}\s*(?:%.*)?$""")
_PLAIN = r"((?!['\"])[^,%]*)"
_CELL = re.compile(rf"\s*+(?:{_QUOTED}|{_PLAIN})\s*(,|%.*$|$)")
_PAIR = re.compile(rf"""\s*(\d{{1,9}})\s++(?:{_QUOTED}|((?!['"])[^,%}}]*))\s*(,|\}}\s*(?:%.*)?$)""")
_EMPTY = re.compile(r"\{\s*\}\s*(?:%.*)?$")
_QUOTES = {"'", '"'}
_ESCAPE = re.compile(r"\\(.)")
_CONTROL = {"n": "\n", "t": "\t", "r": "\r"}


@attrs.frozen
class Column:
    """One @attribute line."""

    name: str
    kind: str
    values: tuple[str, ...] = ()

    @property
    def is_number(self) -> bool:
        return self.kind in ("numeric", "real", "integer")

    @property
    def default(self) -> str:
        """What a sparse row means by leaving the column out."""
        return self.values[0] if self.values else "0"


def read_arff(path: Path, wanted: Wanted) -> pd.DataFrame:
    """The wanted columns of an ARFF file; `?` is missing whatever the schema's token."""
    import pandas as pd

    with opened(path) as stream:
        numbered = enumerate(lines(path, stream), start=1)
        _, columns = header(numbered, failure(path))
        chosen = wanted.columns([c.name for c in columns])
        places = {c.name: i for i, c in enumerate(columns)}
        at = [places[name] for name in chosen]
        cells: list[list[str]] = [[] for _ in chosen]
        numbers = array("q")
        for number, row in _rows(numbered, columns, failure(path)):
            numbers.append(number)
            for values, index in zip(cells, at, strict=True):
                values.append(row[index])
    if not numbers:
        raise wanted.no_rows()
    data: dict[str, Any] = {}
    missing = "?" if "?" in wanted.tokens else wanted.tokens[0]
    for name, index, values in zip(chosen, at, cells, strict=True):
        text = pd.Series([missing if v == "?" else v for v in values], name=name, dtype=object)
        if wanted.is_numeric(name, unless_schema=columns[index].is_number):
            data[name] = wanted.numbers(name, text, lambda row: f"line {numbers[row]}")
        else:
            data[name] = text
    return pd.DataFrame(data, columns=chosen)


Fail = Callable[[int, str], InputError]


def failure(path: Path) -> Fail:
    """Makes the error for a line of the file."""
    return lambda line, what: InputError(f"{str(path)!r}, line {line}: {what}.")


def header(lines: Iterator[tuple[int, str]], fail: Fail) -> tuple[str, list[Column]]:
    """The relation's name and the columns; the lines that are left are rows."""
    title, columns, number = "", list[Column](), 0
    for number, raw in lines:
        line = raw.strip()
        if not line or line.startswith("%"):
            continue
        keyword = line.split(maxsplit=1)[0].lower()
        rest = line[len(keyword) :]
        if keyword == "@relation":
            word = _WORD.match(rest)
            title = _unquote(word) if word else ""
        elif keyword == "@attribute":
            columns.append(_column(number, rest, fail))
        elif keyword == "@data":
            if not columns:
                raise fail(number, "@data comes before any @attribute")
            return title, columns
        else:
            raise fail(number, "an ARFF header has @relation, @attribute and @data lines only")
    raise fail(number, "the file ends without a @data line")


def _column(number: int, text: str, fail: Fail) -> Column:
    word = _WORD.match(text)
    if not word:
        raise fail(number, "this @attribute has no name")
    name, rest = _unquote(word).strip(), text[word.end() :]
    domain = _DOMAIN.match(rest)
    if domain:
        values = tuple(v.strip() for v in _cells(domain[1]))
        if len(set(values)) != len(values) or "" in values:
            raise fail(number, f"the values of {name!r} must be different and not blank")
        return Column(name, "nominal", values)
    kind = rest.split("%")[0].strip().lower()
    if kind.split(" ")[0] in ("date", "relational"):
        raise fail(number, f"attribute {name!r} is of type {kind.split(' ')[0]}, which dpcore does not read")
    if kind not in ("numeric", "real", "integer", "string"):
        raise fail(number, f"attribute {name!r} must be numeric, real, integer, string or a list {{a, b}}")
    return Column(name, kind)


def _rows(lines: Iterator[tuple[int, str]], columns: list[Column], fail: Fail) -> Iterator[tuple[int, list[str]]]:
    defaults = [c.default for c in columns]
    for number, raw in lines:
        line = raw.strip()
        if not line or line.startswith("%"):
            continue
        if line.startswith("{"):
            row = _sparse(number, line, defaults, fail)
        elif "," in line or len(columns) == 1 or line[0] in "'\"":
            row = _cells(line)
        else:
            row = line.split()
        if len(row) != len(columns):
            raise fail(number, f"the row has {len(row)} values, the header has {len(columns)} attributes")
        yield number, row


def _cells(text: str) -> list[str]:
    if "%" not in text and not _QUOTES & set(text):
        return [cell.strip() for cell in text.split(",")]
    found, at = list[str](), 0
    while match := _CELL.match(text, at):
        found.append(_unquote(match).strip())
        at = match.end()
        if match[4] != ",":
            return found
    return []  # a quote that does not close, or text behind one: no row has this length


def _sparse(number: int, line: str, defaults: list[str], fail: Fail) -> list[str]:
    row, at = list(defaults), 1
    if _EMPTY.match(line):
        return row
    given: set[int] = set()
    while match := _PAIR.match(line, at):
        index = int(match[1])
        if index >= len(row) or index in given:
            break
        given.add(index)
        row[index] = _unquote(match, 2).strip()
        if match[5] != ",":
            return row
        at = match.end()
    raise fail(number, f"a sparse row is {{index value, ...}} with different indices below {len(row)}")


def _unquote(match: re.Match[str], first: int = 1) -> str:
    plain = match[first + 2]
    if plain is not None:
        return plain
    quoted = match[first] if match[first] is not None else match[first + 1]
    return _ESCAPE.sub(lambda m: _CONTROL.get(m[1], m[1]), quoted)
