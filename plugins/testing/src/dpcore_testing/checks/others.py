"""Checks of data sets, tables and commands: public facts without rows, and clear refusals."""

from __future__ import annotations

import socket
from typing import Any, NoReturn
from unittest import mock

import click

from dpcore.errors import InputError
from dpcore.schema import Schema
from dpcore_testing.checks.base import Failed, Subject, check, doing, plural
from dpcore_testing.pairs import schemas


@check("dataset")
def has_a_public_schema(subject: Subject) -> str:
    """The schema comes without rows and without a network, and survives its file."""
    found = subject.factory
    with doing("its schema"):
        made = found() if isinstance(found, type) else found
        with mock.patch.object(socket.socket, "connect", _no_network), mock.patch.object(type(made), "frame", _no_rows):
            schema = made.schema()
    if not isinstance(schema, Schema):
        raise Failed(f"schema() gives a {type(schema).__name__}, not a dpcore.Schema.")
    if Schema.from_json(schema.to_json()) != schema:
        raise Failed("the schema's JSON form is another schema.")
    return f"{plural(len(schema.attributes), 'attribute')}, {len(schema.classes)} classes"


def _no_network(*_: Any) -> NoReturn:
    raise Failed("it uses the network.")


def _no_rows(*_: Any) -> NoReturn:
    raise Failed("it reads the rows.")


@check("table")
def opens_by_scheme(subject: Subject) -> str:
    """It names its schemes, and refuses a URI that it cannot open by an InputError that does not show the rest."""
    found = subject.factory
    schemes = getattr(found, "schemes", None)
    if not isinstance(schemes, tuple) or not schemes or not all(_is_scheme(s) for s in schemes):
        raise Failed(f"`schemes` must be a tuple of what stands before ://. Got {schemes!r}.")
    secret = "hunter2"
    for scheme in schemes:
        uri = f"{scheme}://user:{secret}@nothing.invalid/nowhere?table=nothing"
        with doing(f"opening {scheme}://… that is not there"):
            try:
                with mock.patch.object(socket.socket, "connect", _unreachable):
                    found().open(uri, schemas()["mixed"])
            except InputError as error:
                if secret in str(error):
                    raise Failed(f"the refusal of {scheme}://… shows the password in the URI.") from None
            else:
                raise Failed(f"it opens a {scheme}:// table that is not there.")
    return ", ".join(schemes)


def _unreachable(*_: Any) -> NoReturn:
    raise ConnectionRefusedError("nothing can be reached from here")


def _is_scheme(text: Any) -> bool:
    return isinstance(text, str) and text.replace("+", "").isalnum() and text == text.lower()


@check("command")
def explains_itself(subject: Subject) -> str:
    """`--help` works, and so does asking for an option that does not exist."""
    from click.testing import CliRunner

    command: click.Command = subject.factory
    with doing("--help"):
        shown = CliRunner().invoke(command, ["--help"])
    if shown.exit_code != 0 or "Usage" not in shown.output:
        raise Failed(f"--help ends with exit code {shown.exit_code}.")
    with doing("an unknown option"):
        wrong = CliRunner().invoke(command, ["--no-such-option-at-all"])
    if wrong.exit_code != 2:
        raise Failed(f"an unknown option ends with exit code {wrong.exit_code}, not 2.")
    return shown.output.strip().splitlines()[0]
