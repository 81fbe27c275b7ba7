"""`localarc data`: list, download, locate and verify data sets."""

from __future__ import annotations

import click

from localarc.cli.group import LocalarcGroup, user_errors


@click.group(cls=LocalarcGroup, short_help="List, download, locate and verify data sets.")
def data() -> None:
    """Manage the data sets of the experiments. LOCALARC_DATA names a folder to search first."""


@data.command(name="list")
def list_command() -> None:
    """List the data sets with their licences and locations."""
    from localarc_lab.data import DATASETS, find

    for dataset in DATASETS.values():
        folder = find(dataset.name)
        click.echo(f"{dataset.name}: {dataset.title}")
        click.echo(f"  licence: {dataset.licence}")
        missing = f"not downloaded: localarc data get {dataset.name}"
        click.echo(f"  {f'folder: {folder}' if folder else missing}")


@data.command()
@click.argument("name")
def get(name: str) -> None:
    """Download NAME to the cache, unless it is present, and verify it."""
    with user_errors():
        from localarc_lab.data import get as get_dataset

        click.echo(f"{name} is in {get_dataset(name)}")


@data.command()
@click.argument("name")
def where(name: str) -> None:
    """Print the folder of NAME."""
    with user_errors():
        from localarc_lab.data import DataError, find

        found = find(name)
        if found is None:
            raise DataError(f"{name} is not downloaded. Download it with: localarc data get {name}")
        click.echo(found)


@data.command()
@click.argument("name")
def verify(name: str) -> None:
    """Verify the files of NAME against their SHA-256."""
    with user_errors():
        from localarc_lab.data import verify as verify_dataset

        for file in verify_dataset(name):
            click.echo(f"{file}: OK")
