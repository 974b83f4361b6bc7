"""The report is one file that needs nothing else; its parts are files that other programs read."""

from __future__ import annotations

import csv
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from dpcore.errors import InputError
from dpcore_experiments.report import as_csv, as_latex, page, write_parts, write_report
from dpcore_experiments.results import Results
from dpcore_experiments.tables import accuracy, all_tables


def test_the_page_holds_every_figure_and_needs_nothing_else(results: Results) -> None:
    html = page(results)
    assert html.count("<figure") == html.count("</figure>") == 5
    assert "A &lt;small&gt; experiment &amp; its report" in html
    assert "&lt;Bernoulli&gt;: no guarantee at all" in html
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'\b(?:src|href)="(#|.{0,5})', html)) <= {"#", "data:"}
    assert not re.search(r"url\([^#]|@import|<link|<iframe|<img|fetch\(", html)
    for section in ("accuracy", "means", "overview", "tests", "spread", "runtime", "privacy", "details"):
        assert f'id="{section}"' in html


def test_a_report_is_written_whole_or_refused(results: Results, tmp_path: Path) -> None:
    write_report(results, tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text().endswith("</html>\n")
    with pytest.raises(InputError, match="there is no folder"):
        write_report(results, tmp_path / "none" / "r.html")


def test_the_parts_are_files_that_others_read(results: Results, tmp_path: Path) -> None:
    write_parts(results, tmp_path / "parts")
    names = {file.name for file in (tmp_path / "parts").iterdir()}
    assert {"means.svg", "means.png", "accuracy.csv", "accuracy.tex", "details_iris.csv"} <= names
    ElementTree.parse(tmp_path / "parts" / "means.svg")
    assert (tmp_path / "parts" / "means.png").read_bytes().startswith(b"\x89PNG")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot make the folder"):
        write_parts(results, tmp_path / "file")


def test_a_csv_file_holds_the_numbers_in_full(results: Results) -> None:
    rows = list(csv.DictReader(as_csv(accuracy(results)).splitlines()))
    assert float(rows[0]["bins"]) == results.summaries["iris", "bins", 0.1].accuracy_mean
    for table in all_tables(results):
        assert len(list(csv.reader(as_csv(table).splitlines()))) == len(table.rows) + 1


def test_latex_escapes_what_is_special(results: Results) -> None:
    text = as_latex(accuracy(results))
    assert "$<$Bernoulli$>$" in text
    assert text.count(r" \\") == 4
    assert text.count(r"\begin") == text.count(r"\end") == 2
