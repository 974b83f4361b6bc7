"""One HTML page that needs nothing else: its style and its one script stand in it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files

from dpcore_experiments.cells import Cell, Table
from dpcore_experiments.drawing import Drawing

_PIXELS = 112
"""Of the page for an inch of a figure."""


def html_table(table: Table, *, shut: bool = False) -> str:
    """A table that sorts by a click on a heading.

    Args:
        table: the table.
        shut: folded away behind its caption.
    """
    heads = "".join(
        f'<th scope="col"{_left(i, table)}><button type="button">{escape(text) or "&nbsp;"}</button></th>'
        for i, text in enumerate(table.columns)
    )
    firsts = [row[0].text for row in table.rows]
    grouped = table.texts_first > 0 and len(set(firsts)) < len(firsts)
    starts = [grouped and i > 0 and firsts[i] != firsts[i - 1] for i in range(len(firsts))]
    rows = "".join(_row(row, table, start=start) for row, start in zip(table.rows, starts, strict=True))
    caption = "" if shut else f"<caption>{escape(table.caption)}</caption>"
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    label = escape(table.caption, quote=True)
    body = (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}"><table>{caption}<thead><tr>{heads}</tr>'
        f"</thead><tbody>{rows}</tbody></table></div>{note}"
    )
    return f"<details><summary>{escape(table.caption)}</summary>{body}</details>" if shut else body


def _left(place: int, table: Table) -> str:
    return ' class="w"' if place < table.texts_first or table.columns[place] == "Resultset" else ""


def _row(row: Sequence[Cell], table: Table, *, start: bool) -> str:
    kind = "sum" if row[0].text in ("mean", "(v/ /*)") else "published" if "published" in row[1].text else ""
    kind = "start" if start and not kind else kind
    cells = "".join(_cell(cell, _left(i, table)) for i, cell in enumerate(row))
    return f'<tr class="{kind}">{cells}</tr>' if kind else f"<tr>{cells}</tr>"


def _cell(cell: Cell, left: str) -> str:
    kinds = [*(["w"] if left else []), *(["best"] if cell.best else [])]
    attributes = f' class="{" ".join(kinds)}"' if kinds else ""
    attributes += f' data-value="{cell.value!r}"' if cell.value is not None else ""
    attributes += f' title="{escape(cell.hint, quote=True)}"' if cell.hint else ""
    signs = {"v": ' <sup class="v">v</sup>', "*": ' <sup class="l">*</sup>', "†": "†"}
    return f"<td{attributes}>{escape(cell.text)}{signs.get(cell.mark, '')}</td>"


def html_figure(drawing: Drawing) -> str:
    """A figure with its caption."""
    label = escape(f"{drawing.title}. {drawing.text}", quote=True)
    # no larger than its letters should be
    width = round(_PIXELS * float(drawing.figure.get_size_inches()[0]))
    return (
        f'<figure><div class="frame" style="max-width:{width}px" role="img" aria-label="{label}">{drawing.svg()}</div>'
        f"<figcaption><strong>{escape(drawing.title)}.</strong> {escape(drawing.text)}</figcaption></figure>"
    )


def html_page(title: str, lead: str, sections: Iterable[tuple[str, str, str]], foot: str) -> str:
    """The page.

    Args:
        title: its heading, text.
        lead: what stands before the sections, HTML.
        sections: (id, heading, HTML) of each.
        foot: the last line, HTML.
    """
    style, script = (files(__package__).joinpath(name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    parts = list(sections)
    links = "".join(f'<a href="#{name}">{escape(heading)}</a>' for name, heading, _ in parts)
    body = "".join(
        f'<section aria-labelledby="{n}"><h2 id="{n}">{escape(h)}</h2>{html}</section>' for n, h, html in parts
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{style}</style></head><body>'
        f'<div class="bar"><nav aria-label="Sections">{links}</nav></div>'
        f"<header><h1>{escape(title)}</h1>{lead}</header><main>{body}</main><footer>{foot}</footer>"
        f"<script>{script}</script></body></html>\n"
    )
