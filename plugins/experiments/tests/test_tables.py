"""Tables hold the numbers of the results, and mark them as Weka does."""

from __future__ import annotations

from collections.abc import Callable

import attrs
import pytest

from dpcore_experiments import cells, tables
from dpcore_experiments.experiment import Experiment, Published
from dpcore_experiments.results import Results
from dpcore_experiments.running import run


@pytest.fixture(scope="module")
def beside(make: Callable[..., Experiment]) -> Results:
    """Results with published figures beside them."""
    published = Published("P", {"bins": {"iris": 0.4}}, {"bins": {"iris": 0.2}}, {"bins": {"iris": "less than chance"}})
    return run(make(published=published))


def test_every_row_has_a_cell_for_every_column(results: Results) -> None:
    for table in tables.all_tables(results):
        assert table.rows
        assert all(len(row) == len(table.columns) for row in table.rows), table.name


def test_names_of_tables_differ(results: Results) -> None:
    names = [table.name for table in tables.all_tables(results)]
    assert len(set(names)) == len(names)


def test_accuracies_are_marked_against_the_first_method_and_counted(results: Results) -> None:
    *rows, last = tables.accuracy(results).rows
    assert len(rows) == 2
    for row, epsilon in zip(rows, results.epsilons, strict=True):
        assert row[2].mark == ""
        assert row[3].value == results.summaries["iris", "moments", epsilon].accuracy_mean
        assert row[3].mark == results.test("iris", epsilon, "moments", "bins").mark
        assert sum(cell.best for cell in row) >= 1
    counts = [int(text) for text in last[3].text.strip("()").split("/")]
    assert sum(counts) == 2
    assert counts[0] == sum(row[3].mark == "v" for row in rows)


def test_published_figures_stand_beside_ours_with_their_doubts(beside: Results) -> None:
    rows = {(row[0].text, row[1].text): row for row in tables.overview(beside).rows}
    assert rows["bins", "mean over epsilons, published"][2].value == 0.4
    doubted = rows["bins", "without noise, published"][2]
    assert (doubted.value, doubted.mark, doubted.hint) == (0.2, "†", "less than chance")
    assert ("moments", "without noise, published") not in rows
    assert tables.doubts(beside) == [("bins", "iris", "less than chance")]


def test_a_dash_stands_for_what_is_not_known() -> None:
    assert cells.figure(float("nan")).text == "–"
    assert cells.budget(float("inf")).text == "∞"


def test_guarantees_say_what_is_spent(results: Results) -> None:
    rows = [[cell.plain for cell in row] for row in tables.guarantees(results).rows]
    assert ["bins", "0.1", "pure", "0.1"] in rows
    assert ["<Bernoulli>", "1", "none", "∞"] in rows


def test_a_single_method_has_no_marks_to_explain(results: Results) -> None:
    alone = attrs.evolve(results.experiment, learners=results.experiment.learners[:1])
    found = run(alone)
    assert tables.accuracy(found).note == ""
    assert [row[0].text for row in tables.ranks(found).rows] == ["0"]
