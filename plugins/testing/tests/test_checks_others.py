"""The checks of data sets, tables and commands fail what would surprise who uses them, and pass ours."""

from __future__ import annotations

import socket
from typing import Any, ClassVar

import attrs
import click
import pytest

from dpcore import Component, Nominal, Numeric, Schema, load_plugins
from dpcore.dataset import Dataset
from dpcore.discovery import Provided, discover
from dpcore.distributions import Plugin
from dpcore.errors import InputError
from dpcore.registry import Registry, Row
from dpcore.table import TableOpener
from dpcore_testing import checks
from dpcore_testing.checks import Subject

REGISTRY = load_plugins()
OURS = [(row.kind, row.name) for row in REGISTRY.rows() if row.kind in ("dataset", "table", "command", "ledger")]
SCHEMA = Schema([Numeric("age", 0, 100)], Nominal("class", ["no", "yes"]))


@pytest.mark.parametrize(("kind", "name"), OURS)
def test_ours_pass_every_check(kind: str, name: str) -> None:
    results = list(checks.run(checks.subject(REGISTRY, kind, name)))
    assert [r for r in results if r.status != "ok"] == []


# -- data sets ---------------------------------------------------------------------------------------------------------


class Ages(Dataset):
    """Sound: the schema is public, and the rows are elsewhere."""

    name = "ages"
    summary = "Ages of people"

    def schema(self) -> Any:
        return SCHEMA

    def frame(self) -> Any:
        raise InputError("there are no rows.")


class FromTheRows(Ages):
    def schema(self) -> Any:
        return Schema([Numeric("age", 0, float(self.frame().age.max()))], SCHEMA.target)


class FromTheNetwork(Ages):
    def schema(self) -> Any:
        with socket.socket() as out:
            out.connect(("schemas.invalid", 443))
        return SCHEMA


class Plain(Ages):
    def schema(self) -> Any:
        return SCHEMA.to_json()


def test_a_data_set_must_have_a_schema_without_rows(judge, fails) -> None:
    assert judge("has-a-public-schema", Ages).message == "1 attribute, 2 classes"
    assert "it reads the rows" in fails("has-a-public-schema", FromTheRows)
    assert "it uses the network" in fails("has-a-public-schema", FromTheNetwork)
    assert "schema() gives a dict, not a dpcore.Schema" in fails("has-a-public-schema", Plain)


# -- tables ------------------------------------------------------------------------------------------------------------


class Elsewhere(TableOpener):
    """Sound: it says that it cannot reach the rows, and not with which password."""

    schemes: ClassVar[Any] = ("elsewhere", "elsewhere+tls")

    def open(self, uri: str, schema: Schema) -> Any:
        try:
            socket.create_connection(("127.0.0.1", 9), timeout=1)
        except OSError as error:
            raise InputError(f"cannot reach {uri.split(':', maxsplit=1)[0]}://…: {error}.") from None


class OneScheme(Elsewhere):
    schemes = "elsewhere"


class Shouts(Elsewhere):
    schemes = ("ELSEWHERE",)


class ShowsThePassword(Elsewhere):
    def open(self, uri: str, schema: Schema) -> Any:
        raise InputError(f"cannot open {uri}.")


class Raises(Elsewhere):
    def open(self, uri: str, schema: Schema) -> Any:
        raise ConnectionError("refused")


class OpensAnything(Elsewhere):
    def open(self, uri: str, schema: Schema) -> Any:
        return None


@pytest.mark.parametrize(
    ("cls", "words"),
    [
        (OneScheme, "`schemes` must be a tuple of what stands before ://. Got 'elsewhere'"),
        (Shouts, "`schemes` must be a tuple"),
        (ShowsThePassword, "the refusal of elsewhere://… shows the password in the URI"),
        (Raises, "opening elsewhere://… that is not there: ConnectionError: refused"),
        (OpensAnything, "it opens a elsewhere:// table that is not there"),
    ],
)
def test_a_table_must_refuse_what_it_cannot_open(judge, fails, cls: type, words: str) -> None:
    assert judge("opens-by-scheme", Elsewhere).message == "elsewhere, elsewhere+tls"
    assert words in fails("opens-by-scheme", cls)


# -- commands ----------------------------------------------------------------------------------------------------------


@click.command()
def sound() -> None:
    """Do nothing, and say so."""


@click.command(add_help_option=False)
def mute() -> None:
    """Do nothing, and explain nothing."""


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("anything", nargs=-1)
def swallows(anything: tuple[str, ...]) -> None:
    """Take whatever is typed for a name."""


def of_command(command: click.Command) -> Subject:
    """A command of this module as the checks take it."""
    component = Component("verb", "Something to type", f"{__name__}:{command.name}")
    installed, faults = discover()
    registry = Registry([*installed, Provided(Plugin("test", "test-plugin", "1"), "command", component)], faults)
    return Subject(registry, Row("verb", "command", "test-plugin", "1", "ok", component.summary))


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (sound, ""),
        (mute, "--help ends with exit code 2"),
        (swallows, "an unknown option ends with exit code 0, not 2"),
    ],
)
def test_a_command_must_explain_itself_and_refuse_what_it_does_not_know(command: click.Command, words: str) -> None:
    (result,) = checks.run(of_command(command), ["explains-itself"])
    assert result.status == ("failed" if words else "ok")
    assert words in result.message


def test_a_ready_data_set_does_as_well_as_its_class(listed) -> None:
    subject = listed(Ages)
    subject.registry._objects["dataset", "test-plugin", "ages"] = Ages()
    assert [r.status for r in checks.run(attrs.evolve(subject, memory={}), ["loads", "has-a-public-schema"])] == [
        "ok",
        "ok",
    ]
