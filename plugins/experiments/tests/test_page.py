"""The page is whole, safe and sortable."""

from __future__ import annotations

from html.parser import HTMLParser

from dpcore_experiments.cells import Cell, Table
from dpcore_experiments.page import html_page, html_table

VOID = {"meta", "br", "img", "use", "path", "rect"}
TABLE = Table(
    "t", "A & B", ("who", "much <"),
    ((Cell("<b>"), Cell("0.5", 0.5, "v", True, 'a "hint"')), (Cell("mean"), Cell("1"))),
)  # fmt: skip


class Nesting(HTMLParser):
    """Checks that what is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remember it."""
        self.seen.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """It must be the last that was opened."""
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Opens nothing."""
        self.seen.append((tag, dict(attrs)))


def parsed(html: str) -> Nesting:
    """The page's elements, all closed."""
    found = Nesting()
    found.feed(html)
    assert found.open == []
    return found


def test_a_table_escapes_its_texts_and_sorts_by_its_values() -> None:
    html = html_table(TABLE)
    cells = [attributes for tag, attributes in parsed(html).seen if tag == "td"]
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert cells[1] == {"class": "best", "data-value": "0.5", "title": 'a "hint"'}
    assert html.count('<button type="button">') == 2
    assert '<tr class="sum">' in html
    assert "<caption>A &amp; B</caption>" in html


def test_a_folded_table_shows_its_caption() -> None:
    assert "<summary>A &amp; B</summary>" in html_table(TABLE, shut=True)


def test_a_page_links_its_sections_and_needs_no_network() -> None:
    html = html_page("T & T", "", [("one", "First", html_table(TABLE))], "foot")
    found = parsed(html)
    assert [a["href"] for tag, a in found.seen if tag == "a"] == ["#one"]
    assert any(tag == "h2" and a.get("id") == "one" for tag, a in found.seen)
    assert not any(a.get("src") or tag == "link" for tag, a in found.seen)
    assert "<title>T &amp; T</title>" in html
