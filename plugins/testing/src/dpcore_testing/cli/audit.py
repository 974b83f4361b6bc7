"""`dpcore audit`: how much privacy a component can be seen to lose, beside what it charges."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from dpcore.cli.options import number, pairs
from dpcore.cli.output import note, print_json, print_table, progress

if TYPE_CHECKING:
    from dpcore.registry import Registry
    from dpcore.schema import Schema
    from dpcore_testing.audit import Report
    from dpcore_testing.trials import Finding

_ADJACENCIES = ("both", "add-remove", "replace-one")


@click.command("audit")
@click.argument("name", required=False)
@click.option("--kind", help="The kind, where a name stands for several.")
@click.option("--all", "everything", is_flag=True, help="Audit every learner, mechanism and rule that is installed.")
@click.option("--published", "papers", is_flag=True, help="What published procedures claim, and what they spend.")
@click.option(
    "--adjacency",
    type=click.Choice(_ADJACENCIES),
    default="both",
    show_default=True,
    help="Which tables are neighbours.",
)
@click.option("--epsilon", help="The budget of the fits that are audited.  [default: 1; 0.1 with --published]")
@click.option("--delta", default="0", show_default=True, help="delta of (epsilon, delta); 0 for pure epsilon.")
@click.option("--set", "settings", multiple=True, metavar="KEY=VALUE", help="A parameter of the component.")
@click.option("--schema", help="Audit on tables of this schema (a file or a data set's name).")
@click.option("--black-box", is_flag=True, help="Fit many times and look at the models only: statistical, finds less.")
@click.option(
    "--estimator", metavar="MODULE:CLASS", help="A foreign classifier with fit and predict; needs --black-box."
)
@click.option(
    "--trials", type=click.IntRange(min=100), default=10_000, show_default=True, help="Fits a side, black-box."
)
@click.option("--seconds", default="4", show_default=True, help="How long to search for worse tables.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of outputs and search.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(  # noqa: PLR0917
    name: str | None,
    kind: str | None,
    everything: bool,
    papers: bool,
    adjacency: str,
    epsilon: str | None,
    delta: str,
    settings: tuple[str, ...],
    schema: str | None,
    black_box: bool,
    estimator: str | None,
    trials: int,
    seconds: str,
    seed: int,
    as_json: bool,
) -> int:
    """Look for more privacy loss than NAME charges.

    NAME is a learner, a mechanism or a sensitivity rule, or the folder of a package that brings some. It runs on pairs
    of neighbouring tables with the same noisy answers, and the log-ratio of their densities is added up. The exit code
    is 1 if the loss exceeds what was charged (LEAKS), or if the two runs differ in anything but that (diverged).
    """
    if sum((name is not None, everything, papers, estimator is not None)) != 1:
        raise click.UsageError("give one of NAME, --all, --published and --estimator.")
    if estimator is not None and not black_box:
        raise click.UsageError("--estimator needs --black-box: a foreign classifier can only be watched from outside.")
    if black_box and (everything or papers):
        raise click.UsageError("--black-box is for one NAME or --estimator.")
    asked = None if epsilon is None else _positive("--epsilon", epsilon)
    until = _positive("--seconds", seconds)
    _known_kind(kind)
    if "hypothesis" not in sys.modules:  # which would leave a folder of its own where the user works
        os.environ.setdefault("HYPOTHESIS_STORAGE_DIRECTORY", os.devnull)
    if papers:
        return _published(asked, seed, as_json)
    options = {
        "adjacency": adjacency,
        "epsilon": asked or 1.0,
        "delta": _delta(delta),
        "seconds": until,
        "seed": seed,
    }
    if black_box:
        del options["seconds"]
        watched = _watched(name, estimator, settings, schema, {**options, "trials": trials}, asked)
        return _show_watched(watched, as_json)
    found = list(_everything(options) if everything else _named(str(name), kind, settings, schema, options))
    if as_json:
        print_json([report.to_json() for report in found])
    else:
        _print(found)
    return int(any(report.verdict != "ok" for report in found))


def _known_kind(kind: str | None) -> None:
    from dpcore.errors import InputError
    from dpcore_testing.subject import AUDITED

    if kind not in (None, *AUDITED):
        raise InputError(f"--kind must be {', '.join(AUDITED[:-1])} or {AUDITED[-1]}. Got {kind!r}.")


def _delta(text: str) -> float:
    from dpcore.privacy import check_budget

    return check_budget(1.0, number("--delta", text))[1]


def _positive(option: str, text: str) -> float:
    from dpcore.errors import InputError

    value = number(option, text)
    if not 0 < value < float("inf"):
        raise InputError(f"{option} must be a finite number greater than 0. Got {text!r}.")
    return value


def _named(
    name: str, kind: str | None, settings: tuple[str, ...], schema: str | None, options: dict[str, Any]
) -> Iterator[Report]:
    from dpcore.errors import PluginError
    from dpcore.parameters import parse
    from dpcore_testing.audit import NothingToAudit, audit
    from dpcore_testing.subject import AUDITED
    from dpcore_testing.target import located

    with located(name) as (registry, components, broken):
        if broken:
            raise PluginError(f"{broken[0].name} of {broken[0].dist} is {broken[0].status}: {broken[0].detail}")
        chosen = [(k, n) for k, n in components if k in AUDITED and kind in (None, k)]
        if not chosen:
            kinds = ", ".join(dict.fromkeys(k for k, _ in components))
            raise PluginError(f"an audit is for a {', '.join(AUDITED[:-1])} or {AUDITED[-1]}; {name!r} is a {kinds}.")
        public = _schema(schema, registry)
        for one_kind, one in chosen:
            values = parse(registry.get(one_kind, one), pairs("--set", settings))
            try:
                yield from audit(one, kind=one_kind, parameters=values, registry=registry, schema=public, **options)
            except NothingToAudit as reason:
                if len(chosen) == 1:
                    raise
                note(str(reason))


def _watched(  # noqa: PLR0917
    name: str | None,
    estimator: str | None,
    settings: tuple[str, ...],
    schema: str | None,
    options: dict[str, Any],
    asked: float | None,
) -> list[Finding]:
    from dpcore.errors import PluginError
    from dpcore_testing.fits import audit_learner

    if estimator is not None:
        from dpcore_testing.foreign import audit_estimator
        from dpcore_testing.loading import load, parse

        # what is claimed is the estimator's own parameter, where nothing else is said
        claims = {"epsilon": asked, "delta": options.pop("delta") or None}
        made = load(estimator)
        return audit_estimator(made, parameters=parse(made, pairs("--set", settings)), **{**options, **claims})
    from dpcore.parameters import parse as parse_parameters
    from dpcore_testing.target import located

    with located(str(name)) as (registry, components, _):
        learners = [n for k, n in components if k == "classifier"]
        if len(learners) != 1:
            raise PluginError(f"--black-box is for one classifier; {name!r} has {len(learners)}.")
        values = parse_parameters(registry.get("classifier", learners[0]), pairs("--set", settings))
        public = _schema(schema, registry)
        return audit_learner(learners[0], parameters=values, schema=public, registry=registry, **options)


def _show_watched(found: list[Finding], as_json: bool) -> int:
    if as_json:
        print_json([one.to_json() for one in found])
    else:
        columns = ("COMPONENT", "ADJACENCY", "CHARGED", "DELTA", "AT LEAST", "VERDICT", "PAIRS", "TRIALS")
        rows = [(f.title, f.adjacency, f.charged, f.delta, f.loss, f.verdict, f.pairs, f.trials) for f in found]
        print_table(columns, rows)
        for f in found:
            shown = f"{f.what}: {f.detail}" if f.verdict == "diverged" else f"the event was {f.event or 'none'}"
            click.echo(f"{f.title}, {f.adjacency}: {shown}, on {f.words} ({f.case}). Confidence {f.confidence:g}.")
    return int(any(one.verdict != "ok" for one in found))


def _schema(name: str | None, registry: Registry) -> Schema | None:
    from dpcore.source import find_schema

    return None if name is None else find_schema(None, name, registry)


def _everything(options: dict[str, Any]) -> Iterator[Report]:
    from dpcore.registry import load_plugins
    from dpcore_testing.audit import audit
    from dpcore_testing.subject import subjects

    registry = load_plugins()
    found = list(subjects(registry))
    with progress("audit", total=len(found)) as advance:
        for kind, name, values in found:
            yield from audit(name, kind=kind, parameters=values, registry=registry, **options)
            advance()


def _print(found: list[Report]) -> None:
    columns = ("COMPONENT", "ADJACENCY", "EPSILON", "DELTA", "CHARGED", "WITNESSED", "VERDICT", "PAIRS", "TRANSCRIPTS")
    rows = [
        (r.title, r.adjacency, r.epsilon, r.delta, r.charged, r.loss, r.verdict, r.pairs, r.transcripts) for r in found
    ]
    print_table(columns, rows)
    for r in found:
        if r.verdict == "diverged":
            click.echo(f"{r.title}, {r.adjacency}: diverged in {r.what}: {r.detail} On {r.words}.")
        elif r.words:
            click.echo(f"{r.title}, {r.adjacency}: the worst loss was on {r.words} ({r.case}). Seed {r.seed}.")


def _published(epsilon: float | None, seed: int, as_json: bool) -> int:
    from dpcore.registry import load_plugins
    from dpcore_testing.published import EPSILON, published

    found = list(published(load_plugins(), epsilon=epsilon or EPSILON, seed=seed))
    if as_json:
        print_json([one.to_json() for one in found])
        return 0
    columns = ("LEARNER", "AS PUBLISHED", "DATA", "ADJACENCY", "CLAIMED", "DERIVED", "WITNESSED")
    rows = [(p.learner, p.settings, p.data, p.adjacency, p.claimed, p.derived, p.witnessed) for p in found]
    print_table(columns, rows)
    return 0
