"""`dpcore evaluate`: cross-validated accuracy at several epsilons."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dpcore.cli.options import number, plan_from, planning, warn_if_weak
from dpcore.cli.output import note, print_json, print_table, progress, warn

if TYPE_CHECKING:
    from dpcore.evaluation import Evaluation

_FIGURES = (".png", ".svg", ".pdf")
_REPEATS = 10_000
_SEED = 2**32 - 1
"""The largest seed that scikit-learn's folds take."""


@click.command()
@click.argument("name")
@click.argument("data")
@click.option("--schema", help="A schema file; a named data set has its own.")
@click.option("--epsilon", default="0.05,0.1,0.5,1", show_default=True, help="Budgets, separated by commas.")
@click.option("--folds", default=10, show_default=True, help="Stratified folds.")
@click.option(
    "--repeats",
    type=click.IntRange(max=_REPEATS),
    default=1,
    show_default=True,
    help="How often noise is drawn anew on each fold.",
)
@click.option("--seed", type=click.IntRange(0, _SEED), default=0, show_default=True, help="Of the folds and the noise.")
@click.option("--figure", type=click.Path(path_type=Path), help="Draw accuracy against epsilon (png, svg or pdf).")
@planning
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(  # noqa: PLR0917
    name: str,
    data: str,
    schema: str | None,
    epsilon: str,
    folds: int,
    repeats: int,
    seed: int,
    figure: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Cross-validate the classifier NAME on DATA, beside the same without noise and the majority class."""
    from dpcore.evaluation import evaluate
    from dpcore.registry import load_plugins
    from dpcore.source import check_classes, find_schema, read_rows
    from dpcore.table import MemoryTable

    registry = load_plugins()
    public = find_schema(data, schema, registry)
    budgets = [number("--epsilon", text) for text in epsilon.split(",")]
    plans = [plan_from(registry, name, public, budget, options) for budget in budgets]
    if figure is not None:
        check_figure(figure)
    rows = read_rows(data, public, registry)
    check_classes(MemoryTable(rows))
    for warning in dict.fromkeys(plan.guarantee.note for plan in plans):
        if warning:
            warn(warning)
    for plan in plans:
        warn_if_weak(plan)
    with progress(f"{name} on {data}", total=len(plans) * folds * repeats) as advance:
        found = evaluate(plans, rows, folds=folds, repeats=repeats, seed=seed, advance=advance)
    note("these figures are computed on private rows and are not themselves private.")
    if figure is not None:
        draw(found, figure, f"{name} on {data}")
    if as_json:
        print_json([one.to_json() for one in found])
        return
    columns = ("EPSILON", "ACCURACY", "SD", "NON-PRIVATE", "MAJORITY", "FIT SECONDS")
    cells = [
        (
            e.epsilon,
            round(e.accuracy_mean, 4),
            round(e.accuracy_sd, 4),
            round(e.non_private_accuracy, 4),
            round(e.majority_accuracy, 4),
            e.fit_seconds_mean,
        )
        for e in found
    ]
    print_table(columns, cells, title=f"{name} on {data}: {folds} folds × {repeats} repeats")


def check_figure(path: Path) -> None:
    """Find out before anything is computed that a figure cannot be drawn there.

    Raises:
        InputError: if the ending is unknown, the folder is missing, or matplotlib is not installed.
    """
    from importlib.util import find_spec

    from dpcore.errors import InputError
    from dpcore.writing import check_writable

    if path.suffix.lower() not in _FIGURES:
        raise InputError(f"cannot draw {str(path)!r}: a figure's name ends with {', '.join(_FIGURES)}.")
    check_writable(path)
    if find_spec("matplotlib") is None:
        raise InputError("a figure needs matplotlib: pip install dpcore[plot].")


def draw(found: Sequence[Evaluation], path: Path, title: str) -> None:
    """Draw accuracy against epsilon with the two reference lines."""
    import io

    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    from dpcore.writing import write_whole

    points = sorted(found, key=lambda e: e.epsilon)
    x = [e.epsilon for e in points]
    figure, axes = plt.subplots(figsize=(6, 4), layout="constrained")
    axes.errorbar(
        x, [e.accuracy_mean for e in points], [e.accuracy_sd for e in points], marker="o", capsize=3, label="private"
    )
    axes.plot(x, [e.non_private_accuracy for e in points], "--", color="gray", label="the same without noise")
    axes.plot(x, [e.majority_accuracy for e in points], ":", color="black", label="majority class")
    axes.set(xscale="log", xlabel="epsilon (whole budget of a fit)", ylabel="accuracy", title=title)
    axes.legend()
    drawn = io.BytesIO()
    try:
        figure.savefig(drawn, format=path.suffix[1:].lower(), dpi=120)
    finally:
        plt.close(figure)
    write_whole(path, drawn.getvalue())
