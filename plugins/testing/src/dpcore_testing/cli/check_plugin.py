"""`dpcore check-plugin`: every check that a plugin must pass, one line each."""

from __future__ import annotations

import math
import os
import sys
from collections import Counter
from typing import TYPE_CHECKING

import click

from dpcore.cli.output import print_json, print_table, progress

if TYPE_CHECKING:
    from dpcore_testing.checks import Result

STATUSES = ("ok", "failed", "skipped")


@click.command("check-plugin")
@click.argument("what", metavar="NAME|PATH|DIST", required=False)
@click.option("--only", multiple=True, metavar="CHECK", help="Run this check only; may be repeated.")
@click.option(
    "--seconds", type=click.FloatRange(min=0), default=2.0, show_default=True, help="How long an audit may search."
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Decides every random draw.")
@click.option("--list", "listed", is_flag=True, help="Print what the checks claim, and check nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(  # noqa: PLR0917
    what: str | None, only: tuple[str, ...], seconds: float, seed: int, listed: bool, as_json: bool
) -> int:
    """Run every check that a plugin must pass.

    It checks a component by name, all components of an installed distribution, or the folder of a project that is not
    installed (./my-plugin). The exit code is 1 if a check fails.

    Statistical checks fail a sound plugin with probability 1e-6 each; the same seed gives the same results, apart
    from how far an audit gets in its time.
    """
    if (what is None) != listed:
        raise click.UsageError("give NAME, PATH or DIST, or --list.")
    if what is None:
        _print_checks(as_json)
        return 0
    if not math.isfinite(seconds):
        raise click.BadParameter(f"{seconds} is not a finite number.", param_hint="'--seconds'")
    if "hypothesis" not in sys.modules:  # which would leave a folder of its own where the user works
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.devnull)
    # read when SciPy is imported; without it scikit-learn skips one of its checks
    os.environ.setdefault("SCIPY_ARRAY_API", "1")
    from dpcore_testing.checks import count, known, run_all
    from dpcore_testing.target import located

    known(only)
    with located(what) as found, progress(f"checking {what}", total=count(found, only)) as advance:
        results = []
        for result in run_all(found, only=only, seed=seed, seconds=seconds):
            results.append(result)
            advance()
    counts = Counter(result.status for result in results)
    if as_json:
        totals = {status: counts[status] for status in STATUSES}
        print_json({"seed": seed, "results": [result.to_json() for result in results], "counts": totals})
    else:
        _print(results)
        click.echo(", ".join(f"{counts[status]} {status}" for status in STATUSES))
    return int(counts["failed"] > 0)


def _print_checks(as_json: bool) -> None:
    from dpcore_testing.checks import CHECKS

    if as_json:
        print_json([{"check": c.name, "kinds": c.kinds, "claim": c.summary} for c in CHECKS])
        return
    rows = [(c.name, ", ".join(c.kinds), c.summary) for c in CHECKS]
    print_table(("CHECK", "KINDS", "CLAIM"), rows)


def _print(results: list[Result]) -> None:
    rows = [(r.component, r.kind, r.check, r.status, r.message) for r in results]
    print_table(("COMPONENT", "KIND", "CHECK", "STATUS", "WHAT WAS SEEN"), rows)
