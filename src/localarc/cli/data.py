"""`localarc data`: list, fetch, find and check data sets."""

from __future__ import annotations

import click

from localarc.cli.group import LocalarcGroup, user_errors


@click.group(cls=LocalarcGroup, short_help="List, fetch, find and check data sets.")
def data() -> None:
    """Data sets that experiments use; LOCALARC_DATA names a folder that is looked at first."""


@data.command(name="list")
def list_command() -> None:
    """Every data set, its terms, and whether it is here."""
    from localarc.experiments.data import DATASETS, find

    for dataset in DATASETS.values():
        here = find(dataset.name)
        click.echo(f"{dataset.name}: {dataset.title}")
        click.echo(f"  terms: {dataset.licence}")
        click.echo(
            f"  {'here: ' + str(here) if here else 'not here: localarc data get ' + dataset.name}"
        )


@data.command()
@click.argument("name")
def get(name: str) -> None:
    """Fetch NAME into the cache, unless it is here, and check it."""
    with user_errors():
        from localarc.experiments.data import get as get_dataset

        click.echo(f"{name} is in {get_dataset(name)}")


@data.command()
@click.argument("name")
def where(name: str) -> None:
    """Print the folder that holds NAME."""
    with user_errors():
        from localarc.experiments.data import DataError, find

        found = find(name)
        if found is None:
            raise DataError(f"{name} is not here. Fetch it: localarc data get {name}")
        click.echo(found)


@data.command()
@click.argument("name")
def verify(name: str) -> None:
    """Check the files of NAME against their SHA-256."""
    with user_errors():
        from localarc.experiments.data import verify as verify_dataset

        for file in verify_dataset(name):
            click.echo(f"{file}: good")
