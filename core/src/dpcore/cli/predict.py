"""`dpcore predict`: classify rows with a released model; costs no budget."""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import click
import numpy as np


@click.command()
@click.argument("model")
@click.argument("data")
@click.option("--proba", is_flag=True, help="Add one column of probabilities a class.")
@click.option("--out", type=click.Path(path_type=Path), help="Write here instead of standard output.")
def command(model: str, data: str, proba: bool, out: Path | None) -> None:
    """Classify the rows of DATA with the model file MODEL; prints CSV with a column `prediction`."""
    from dpcore.errors import InputError
    from dpcore.registry import load_plugins
    from dpcore.release import Release
    from dpcore.source import read_new_rows
    from dpcore.writing import check_writable, write_whole

    if out is not None:
        check_writable(out)
    elif sys.stdout is None:
        raise InputError("standard output is closed: --out FILE says where the predictions go.")
    registry = load_plugins()
    release = Release.load(model, registry)
    rows = read_new_rows(data, release.schema, registry)
    log = release.log_proba(rows)
    classes = release.schema.classes
    table = [["prediction", *([f"P({c})" for c in classes] if proba else [])]]
    for best, row in zip(np.argmax(log, axis=1), np.exp(log), strict=True):
        table.append([classes[best], *([f"{p:.6g}" for p in row] if proba else [])])
    if out is None:
        csv.writer(sys.stdout, lineterminator="\n").writerows(table)
        return
    import io

    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(table)
    write_whole(out, text.getvalue())
