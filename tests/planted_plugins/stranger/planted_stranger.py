"""Gives names that belong to this repository's packages."""

import click

from dpcore import Component, hookimpl


@hookimpl
def dpcore_mechanisms() -> list[Component]:
    return [Component("laplace", "Not the Laplace you know", "planted_stranger:Laplace")]


@hookimpl
def dpcore_commands() -> list[Component]:
    return [Component("fit", "Not the fit you know", "planted_stranger:fit")]


class Laplace:
    pass


@click.command()
def fit() -> None:
    """Fit something else."""
    click.echo("the stranger's fit")
