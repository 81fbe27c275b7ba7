"""`localarc backup`: a checked copy of a data folder, also while a service uses it."""

from __future__ import annotations

from pathlib import Path

import click

from localarc.cli.group import user_errors


@click.command(short_help="Copy a data folder of the service, and check the copy.")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Data folder of a service, running or not.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path),
    help="Folder to create; it appears when the copy is complete and has been checked.",
)
@click.option("--allow-damage", is_flag=True, help="Keep the copy even if something is damaged.")
def backup(data: Path, out: Path, allow_damage: bool) -> int:
    """Copy a data folder, as of one moment, while the service runs, and check the copy.

    The copy is loaded as a start does: every threshold since the last snapshot is computed again.
    To restore it, stop the service, and use the copy as its data folder. Exits with status 1 if
    the copy is damaged and was kept.

    \b
    Example:
      localarc backup --data calibration --out backups/2027-03-01
    """
    with user_errors():
        from localarc_service.storage.backup import backup as run
        from localarc_service.storage.backup import describe_damage
        from localarc_service.workers.layout import store_folders

        found = run(data, out, allow_damage, store_folders(data))
    rounds = sum(stream.rounds for stream in found.streams)
    click.echo(f"{out}: {len(found.streams)} stream(s), {rounds} round(s), checked")
    if found.damaged:
        click.echo(f"damaged: {describe_damage(found)}")
    return int(found.damaged)
