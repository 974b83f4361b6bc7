"""The command line: a group whose verbs are loaded on demand, and the one place where errors become text.

Exit codes: 0 done, 1 a check failed, 2 the input or usage was wrong, 3 the budget refused, 70 a bug,
130 interrupted. A verb may return its exit code.

Help is Click's own: rich-click alone costs more processor time than `dpcore --help` may take.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

import click

from dpcore import __version__
from dpcore.errors import DpcoreError, PluginError

if TYPE_CHECKING:
    from dpcore.registry import Registry

# verb -> where its command is, and its line in the help: `--help` imports none of them
VERBS = {
    "list-plugins": ("dpcore.cli.list_plugins:command", "List every component, and every plugin at fault."),
    "describe": ("dpcore.cli.describe:command", "Show a component's parameters, guarantee and sources."),
    "schema": ("dpcore.cli.schema:command", "Draft and check schemas."),
    "plan": ("dpcore.cli.plan:command", "Show what a fit would ask, cost and add; reads no rows."),
    "fit": ("dpcore.cli.fit:command", "Release a classifier from private rows."),
    "predict": ("dpcore.cli.predict:command", "Classify rows with a released model."),
    "evaluate": ("dpcore.cli.evaluate:command", "Cross-validate a classifier at several epsilons."),
}


class Verbs(click.Group):
    """A group that imports a verb when it is asked for, and plugins only for verbs that are not its own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The verbs of the core, then those of plugins."""
        return [*VERBS, *(name for name, _ in _plugin_verbs())]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        """The verb's command.

        Raises:
            PluginError: if there is no such verb (with the nearest), or its plugin is broken.
        """
        if cmd_name in VERBS:
            module, _, attribute = VERBS[cmd_name][0].partition(":")
            found = getattr(importlib.import_module(module), attribute)
        else:
            found = _registry().get("command", cmd_name)
        if not isinstance(found, click.Command):
            raise PluginError(f"the verb {cmd_name!r} is a {type(found).__name__}, not a click.Command.")
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write both lists of verbs, from static text alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in VERBS.items()])
        if plugin_verbs := _plugin_verbs():
            with formatter.section("Commands of plugins"):
                formatter.write_dl(plugin_verbs)


def _registry() -> Registry:
    from dpcore.registry import load_plugins

    return load_plugins()


def _plugin_verbs() -> list[tuple[str, str]]:
    """Names and summaries; help must appear even where the plugins cannot be listed."""
    try:
        registry = _registry()
    except DpcoreError as error:
        click.echo(f"dpcore: {error}", err=True)
        return []
    return [(name, registry.component("command", name).summary) for name in registry.names("command")]


@click.group(
    cls=Verbs,
    invoke_without_command=True,
    subcommand_metavar="COMMAND [ARGS]...",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="dpcore", message="%(prog)s %(version)s")
@click.pass_context
def group(ctx: click.Context) -> None:
    """Release classifiers from private rows with a stated privacy guarantee.

    'dpcore COMMAND --help' explains one command.
    """
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(args: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; no exception leaves it.

    Args:
        args: the words after `dpcore`; those of the process if None.
    """
    if "_DPCORE_COMPLETE" in os.environ:  # the shell asks for completions, which Click prints
        group.main(prog_name="dpcore")
    try:
        result = _run(sys.argv[1:] if args is None else list(args))
        sys.stdout.flush()
        return result if isinstance(result, int) and not isinstance(result, bool) else 0
    except SystemExit as stop:
        return _fail(stop.code, 1) if isinstance(stop.code, str) else stop.code or 0
    except BrokenPipeError:
        return _closed_pipe()
    except click.ClickException as error:
        return _usage(error)
    except (Exception, KeyboardInterrupt) as error:
        return _report(error)


def _run(args: list[str]) -> object:
    # Not `group.main`, which takes the end of a truncated file for Ctrl-D, and a closed pipe for exit code 1.
    try:
        with group.make_context("dpcore", args) as ctx:
            return group.invoke(ctx)
    except click.exceptions.Exit as end:
        return end.exit_code


def _report(error: BaseException) -> int:
    if isinstance(error, (click.Abort, KeyboardInterrupt)):
        return _fail("interrupted", 130)
    if isinstance(error, DpcoreError):
        return _fail(str(error), error.exit_code)
    if isinstance(error, OSError) and error.strerror is not None:
        return _fail(f"{error.filename}: {error.strerror}" if error.filename else error.strerror, 2)
    return _internal(error)


def _fail(message: str, code: int) -> int:
    click.echo(f"dpcore: {' '.join(message.split())}", err=True)
    return code


def _closed_pipe() -> int:
    # The interpreter flushes stdout once more at exit; that must not fail a second time.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


def _usage(error: click.ClickException) -> int:
    ctx = getattr(error, "ctx", None)
    if type(error).__name__ == "NoArgsIsHelpError" and ctx is not None:  # not in Click 8.1
        click.echo(ctx.get_help(), err=True)
        return 2
    hint = f" See '{ctx.command_path} --help'." if ctx is not None else ""
    return _fail(error.format_message() + hint, 2)


def _internal(error: BaseException) -> int:
    """Report a bug by type and place only: an exception's message can hold a row's value."""
    if os.environ.get("DPCORE_DEBUG") == "1":
        import traceback

        traceback.print_exception(error)
        return 70
    place = _place(error.__traceback__)
    name = type(error).__name__
    return _fail(f"internal error: {name} in {place}; set DPCORE_DEBUG=1 to see the whole.", 70)


def _place(trace: TracebackType | None) -> str:
    """Module and line of the innermost frame that is dpcore's by name, else of the innermost."""
    names: list[str] = []
    ours: list[str] = []
    while trace is not None:
        frame = trace.tb_frame
        name = str(frame.f_globals.get("__name__", "?"))
        names.append(f"{name}, line {trace.tb_lineno}")
        if name.startswith("dpcore") and frame.f_code not in (main.__code__, _run.__code__):
            ours.append(names[-1])
        trace = trace.tb_next
    return (ours or names or ["an unknown place"])[-1]
