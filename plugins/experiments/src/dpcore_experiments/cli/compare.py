"""`dpcore compare`: an experiment from its file to its page."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from dpcore.cli.output import note, print_json, print_table, progress, warn

if TYPE_CHECKING:
    from dpcore_experiments.results import Results


@click.command("compare")
@click.argument("experiment", type=click.Path(path_type=Path))
@click.option("--out", type=click.Path(path_type=Path), help="Keep the runs here (.csv, .parquet), and go on from it.")
@click.option("--report", type=click.Path(path_type=Path), help="Write one HTML page with tables and figures.")
@click.option("--figures", type=click.Path(path_type=Path), help="A folder for figures (SVG, PNG) and tables.")
@click.option("--short", is_flag=True, help="The small form, by the file's table [short].")
@click.option("--learner", "learners", multiple=True, metavar="LABEL", help="Only this learner; may be repeated.")
@click.option("--data", "sets", multiple=True, metavar="NAME", help="Only this data set; may be repeated.")
@click.option("--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(  # noqa: PLR0917
    experiment: Path,
    out: Path | None,
    report: Path | None,
    figures: Path | None,
    short: bool,
    learners: tuple[str, ...],
    sets: tuple[str, ...],
    jobs: int,
    as_json: bool,
) -> None:
    """Compare classifiers over data sets and epsilons, as the file EXPERIMENT (TOML) says.

    Runs that the file of --out holds are not done again: an experiment that was interrupted goes on where it stopped,
    and one that was extended does what is new. Seeds come from what defines a run, so results are the same for any
    number of processes.
    """
    from dpcore_experiments.reading import load
    from dpcore_experiments.running import run

    planned = load(experiment, short=short).only(learners, sets)
    _check_places(out, report, figures)
    results = run(planned, out=out, jobs=jobs, progress=progress, warn=warn)
    note("these figures are computed on private rows and are not themselves private.")
    if report is not None:
        from dpcore_experiments.report import write_report

        write_report(results, report)
    if figures is not None:
        from dpcore_experiments.report import write_parts

        write_parts(results, figures)
    if as_json:
        print_json(results.to_json())
    else:
        _print(results)


def _check_places(out: Path | None, report: Path | None, figures: Path | None) -> None:
    """Find out before anything is computed what could not be written."""
    from dpcore.errors import InputError
    from dpcore.writing import check_writable

    if report is not None:
        if report.suffix.lower() not in (".html", ".htm"):
            raise InputError(f"a report's name ends with .html. Got {str(report)!r}.")
        check_writable(report)
    if figures is not None and figures.exists() and not figures.is_dir():
        raise InputError(f"cannot write figures to {str(figures)!r}: it is no folder.")
    if figures is not None and not figures.absolute().parent.is_dir():
        raise InputError(f"cannot write figures: there is no folder {str(figures.parent)!r}.")
    if out is not None:
        from dpcore_experiments.store import check_place

        check_place(out)


def _print(results: Results) -> None:
    from dpcore_experiments.tables import accuracy, ranks

    for table in (accuracy(results), ranks(results)):
        print_table(table.columns, table.texts(), title=table.caption)
        click.echo()
    click.echo(f"{results.runs} runs, {results.new} of them new.")
