"""The report of an experiment: one page, or its parts as files."""

from __future__ import annotations

import csv
import io
from html import escape
from pathlib import Path

from dpcore.errors import InputError
from dpcore.writing import write_whole
from dpcore_experiments import tables
from dpcore_experiments.cells import Table
from dpcore_experiments.drawing import Drawing
from dpcore_experiments.experiment import ALL
from dpcore_experiments.figures import all_figures
from dpcore_experiments.page import html_figure, html_page, html_table
from dpcore_experiments.results import Results


def write_report(results: Results, path: str | Path) -> None:
    """Write the report as one HTML page that needs no other file and no network.

    Raises:
        InputError: if it cannot be written.
    """
    write_whole(Path(path), page(results))


def page(results: Results) -> str:
    """The report's HTML."""
    drawn = {drawing.name: html_figure(drawing) for drawing in all_figures(results)}
    show = html_table
    parts = [
        ("accuracy", "Accuracy", drawn["accuracy_by_data"] + show(tables.accuracy(results))),
        ("size", "Training size", drawn.get("accuracy_by_size", "") + _sizes(results)),
        ("means", "Means", drawn["means"] + show(tables.means(results))),
        ("overview", "Against no privacy", show(tables.overview(results)) + _doubts(results)),
        ("tests", "Significance", drawn.get("wilcoxon", "") + _tests(results)),
        ("spread", "Spread", drawn["boxes"]),
        ("runtime", "Runtime", drawn["runtime"] + show(tables.runtime(results))),
        ("privacy", "Guarantees", show(tables.guarantees(results))),
        (
            "details",
            "Every figure",
            show(tables.majority(results)) + "".join(show(tables.details(results, d), shut=True) for d in results.data),
        ),
    ]
    title = results.experiment.title or "Comparison of classifiers"
    return html_page(title, _lead(results), [part for part in parts if part[2]], _foot(results))


def write_parts(results: Results, folder: str | Path) -> None:
    """Write every figure as SVG and PNG, and every table as CSV and LaTeX.

    Raises:
        InputError: if the folder cannot be made, or a file not written.
    """
    folder = Path(folder)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {str(folder)!r}: {error.strerror}.") from None
    for drawing in all_figures(results):
        _write_drawing(drawing, folder)
    for table in tables.all_tables(results):
        name = "".join(c if c.isalnum() or c in "._-" else "_" for c in table.name)
        write_whole(folder / f"{name}.csv", as_csv(table))
        write_whole(folder / f"{name}.tex", as_latex(table))


def _write_drawing(drawing: Drawing, folder: Path) -> None:
    for kind in ("svg", "png"):
        write_whole(folder / f"{drawing.name}.{kind}", drawing.save(kind))


def as_csv(table: Table) -> str:
    """A table's numbers in full, a column of marks beside where there are any."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    marked = [i for i in range(len(table.columns)) if any(row[i].mark for row in table.rows)]
    writer.writerow([*table.columns, *(f"{table.columns[i]} mark" for i in marked)])
    for row, values in zip(table.rows, table.values(), strict=True):
        writer.writerow([*values, *(row[i].mark for i in marked)])
    return text.getvalue()


def as_latex(table: Table) -> str:
    """A table in LaTeX, with the rules of booktabs."""
    places = "".join("l" if i < table.texts_first else "r" for i in range(len(table.columns)))
    lines = [" & ".join(map(_tex, table.columns)) + r" \\", r"\midrule"]
    for row in table.rows:
        cells = [rf"\textbf{{{_tex(c.text)}}}" if c.best else _tex(c.text) for c in row]
        marks = {"v": r"$^{v}$", "*": "$^{*}$", "†": r"$^{\dagger}$", "": ""}
        lines.append(" & ".join(t + marks[c.mark] for t, c in zip(cells, row, strict=True)) + r" \\")
    body = "\n".join(lines)
    note = f"% {table.note}\n" if table.note else ""
    return (
        f"{note}\\begin{{table}}\n\\centering\n\\caption{{{_tex(table.caption)}}}\n\\begin{{tabular}}{{{places}}}\n"
        f"\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
    )


_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "∞": r"$\infty$", "–": "--", "<": "$<$", ">": "$>$",
}  # fmt: skip


def _tex(text: str) -> str:
    return "".join(_TEX.get(c, c) for c in text)


def _tests(results: Results) -> str:
    if len(results.whole) < 2:
        return ""
    return html_table(tables.ranks(results)) + html_table(tables.signed_ranks(results))


def _sizes(results: Results) -> str:
    if len(results.experiment.rows) < 2:
        return ""
    return "".join(html_table(tables.by_size(results, learner), shut=True) for learner in results.by_size())


def _doubts(results: Results) -> str:
    found = tables.doubts(results)
    source = results.experiment.published.source
    words = f'<p class="note">Published figures: {escape(source)}.</p>' if source else ""
    if not found:
        return words
    rows = "".join(f"<dt>{escape(m)} on {escape(d)}</dt><dd>{escape(why)}.</dd>" for m, d, why in found)
    return f"{words}<h3>† Published figures that cannot be right, or not be compared</h3><dl class='doubts'>{rows}</dl>"


def _lead(results: Results) -> str:
    x = results.experiment
    repeats = sorted({x.repeats_of(learner) for learner in x.learners})
    sizes = ", ".join("all" if n == ALL else f"{n:,}" for n in x.rows)
    facts = {
        "data sets": str(len(results.data)),
        "methods": str(len(x.learners)),
        "epsilon" if len(x.epsilon) == 1 else f"{len(x.epsilon)} epsilons": " to ".join(
            dict.fromkeys(f"{e:g}" for e in (min(x.epsilon), max(x.epsilon)))
        ),
        "adjacency": ", ".join(x.adjacency),
        "folds": str(x.folds),
        "repeats": " and ".join(map(str, repeats)),
        "training rows": sizes,
        "runs": f"{results.runs:,}",
    }
    paragraphs = "".join(f"<p>{escape(' '.join(part.split()))}</p>" for part in x.notes.strip().split("\n\n") if part)
    listed = "".join(f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in facts.items())
    lines = [
        f"{method}: "
        + ("no guarantee at all" if spent == float("inf") else f"spends {spent:.4g} where {asked:g} is asked")
        for method, (spent, asked) in results.overspent.items()
    ]
    if lines:
        lines.append("These figures do not show what privacy costs.")
    warning = "".join(f"<p>{escape(line)}</p>" for line in lines)
    warning = f'<div class="warning" role="note">{warning}</div>' if lines else ""
    return f'<div class="lead">{paragraphs}</div><dl class="facts">{listed}</dl>{warning}'


def _foot(results: Results) -> str:
    versions = sorted(set(results.frame["version"]))
    return (
        f"Made by dpcore compare with seed {results.experiment.seed}. {escape('; '.join(versions))}. These figures are "
        "computed on private rows and are not themselves private."
    )
