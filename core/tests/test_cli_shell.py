"""The command line's shell: verbs on demand, errors as one line with their exit codes, output for pipes."""

from __future__ import annotations

import io
import json
import math
import os
import re
import subprocess
import sys
import types
from collections.abc import Callable

import click
import numpy as np
import pytest

import dpcore
from dpcore import cli
from dpcore.cli import main, output
from dpcore.errors import BudgetError, DpcoreError, InputError, SchemaError


def _raise(error: BaseException) -> Callable[[], None]:
    def verb() -> None:
        raise error

    return verb


@pytest.fixture
def verb(monkeypatch):
    """Installs a function as the verb `planted` of the core, in a module whose name begins with dpcore."""

    def install(function: Callable[[], object]) -> None:
        module = types.ModuleType("dpcore_planted_verb")
        module.command = click.command("planted")(function)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setitem(cli.VERBS, "planted", (f"{module.__name__}:command", "A planted verb."))

    monkeypatch.delenv("DPCORE_DEBUG", raising=False)
    return install


def test_the_version_is_the_packages(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"dpcore {dpcore.__version__}\n"


@pytest.mark.parametrize("args", [[], ["--help"], ["-h"]])
def test_help_lists_every_verb_with_its_line(args, capsys):
    assert main(args) == 0
    out = capsys.readouterr().out
    assert all(name in out and text in out for name, (_, text) in cli.VERBS.items())


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (InputError("the file\nis empty"), 2, "the file is empty"),
        (SchemaError("no class"), 2, "no class"),
        (BudgetError("nothing left"), 3, "nothing left"),
        (DpcoreError("wrong"), 2, "wrong"),
        (FileNotFoundError(2, "No such file or directory", "a.csv"), 2, "a.csv: No such file or directory"),
        (OSError(28, "No space left on device"), 2, "No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.Abort(), 130, "interrupted"),
        (click.UsageError("bad use"), 2, "bad use See 'dpcore planted --help'."),
        (click.ClickException("bad file"), 2, "bad file"),
        (SystemExit("stopped"), 1, "stopped"),
    ],
)
def test_an_expected_error_is_one_line_and_its_exit_code(verb, capsys, error, code, message):
    verb(_raise(error))
    assert main(["planted"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.strip() == f"dpcore: {message}"


@pytest.mark.parametrize("kind", [ValueError, EOFError, ZeroDivisionError, OSError, MemoryError])
def test_an_unexpected_error_says_where_but_never_what_it_held(verb, capsys, kind):
    verb(_raise(kind("secret row 4711")))
    assert main(["planted"]) == 70
    err = capsys.readouterr().err.strip()
    assert re.match(rf"dpcore: internal error: {kind.__name__} in \S*test_cli_shell, line \d+; set", err)
    assert err.endswith("set DPCORE_DEBUG=1 to see the whole.")
    assert "4711" not in err


def test_debugging_shows_the_whole_traceback(verb, capsys, monkeypatch):
    verb(_raise(ValueError("the value")))
    monkeypatch.setenv("DPCORE_DEBUG", "1")
    assert main(["planted"]) == 70
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert "the value" in err


@pytest.mark.parametrize(("result", "code"), [(None, 0), (0, 0), (1, 1), (True, 0), ("text", 0), ([1], 0)])
def test_a_verb_may_return_its_exit_code(verb, result, code):
    verb(lambda: result)
    assert main(["planted"]) == code


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["fti"], "no command is called 'fti'; nearest: fit"),
        (["list-plugin"], "no command is called 'list-plugin'; nearest: list-plugins"),
        (["--frob"], "No such option"),
        (["list-plugins", "--frob"], "See 'dpcore list-plugins --help'."),
        (
            ["list-plugins", "--kind", "shape"],
            "'shape' is not one of 'mechanism', 'sensitivity', 'classifier'",
        ),
        (["list-plugins", "extra"], "unexpected extra argument (extra)"),
        (["describe"], "Missing argument 'NAME'."),
        (["describe", "x", "--json", "--bibtex"], "--json and --bibtex exclude each other."),
    ],
)
def test_wrong_usage_is_one_clear_line(args, message, capsys):
    assert main(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_verb_that_is_no_command_is_an_error(verb, monkeypatch, capsys):
    monkeypatch.setitem(cli.VERBS, "planted", ("json:dumps", "Not a command."))
    assert main(["planted"]) == 2
    assert "the verb 'planted' is a function, not a click.Command." in capsys.readouterr().err


def test_a_wrong_disable_list_stops_verbs_but_not_help(monkeypatch, capsys):
    monkeypatch.setenv("DPCORE_DISABLE", "no-such-plugin-4711")
    assert main(["--help"]) == 0
    out, err = capsys.readouterr()
    assert "list-plugins" in out
    assert "no-such-plugin-4711" in err
    assert main(["list-plugins"]) == 2


@pytest.mark.parametrize("size", [1, 1_000_000])
def test_a_closed_pipe_is_quiet(size):
    code = f"import dpcore.cli as c, click; c.group.callback = lambda: click.echo('x' * {size})\n"
    code += "import sys; sys.exit(c.main([]))"
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


def test_json_is_strict_json_even_for_infinite_and_numpy_numbers(capsys):
    output.print_json({"a": math.inf, 1: [np.float64("nan"), np.int64(3), np.array([1.5, math.inf])], "ö": "ε"})
    out = capsys.readouterr().out
    assert json.loads(out) == {"a": None, "1": [None, 3, [1.5, None]], "ö": "ε"}
    assert "ε" in out


def test_json_is_ascii_where_the_stream_cannot_carry_more(monkeypatch):
    stream = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", stream)
    output.print_json(["ε"])
    stream.flush()
    assert json.loads(stream.buffer.getvalue()) == ["ε"]


def test_a_piped_table_is_aligned_and_complete(capsys):
    long = "x" * 300
    output.print_table(["NAME", "N", "MEAN"], [["a", 5, 0.123456789], [f"{long}\nz", None, 10.0]], title="T")
    title, head, first, second = capsys.readouterr().out.splitlines()
    assert title == "T"
    assert second.startswith(f"{long} z")
    assert len(head) == len(first) == len(second)
    assert first.endswith("5  0.123457")


def test_an_empty_table_has_its_headings(capsys):
    output.print_table(["NAME", "N"], [])
    assert capsys.readouterr().out == "NAME  N\n"


def test_a_table_on_a_terminal_keeps_words_that_look_like_markup(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    output.print_table(["NAME", "N"], [["[bold]loud[/bold]", 1]])
    assert "[bold]loud[/bold]" in capsys.readouterr().out


def test_progress_is_silent_without_a_terminal(capsys):
    with output.progress("working", total=3) as advance:
        advance()
        advance(2)
    assert capsys.readouterr() == ("", "")


def test_progress_shows_on_a_terminal_and_never_on_stdout(monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with output.progress("working") as advance:
        advance()
    assert capsys.readouterr().out == ""


def test_notes_and_warnings_go_to_stderr(capsys):
    output.note("this")
    output.warn("that")
    assert capsys.readouterr() == ("", "dpcore: this\ndpcore: warning: that\n")
