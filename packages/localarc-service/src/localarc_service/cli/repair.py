"""`localarc repair`: decide about damaged streams of a data folder that no service uses."""

from __future__ import annotations

from pathlib import Path

import click

from localarc.cli.group import BadInput, user_errors


@click.command(short_help="Accept or drop damaged streams of the service.")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Data folder of a service that is not running.",
)
@click.option("--accept", multiple=True, metavar="STREAM", help="Continue from what can be read.")
@click.option("--accept-all", is_flag=True, help="Accept all streams of which something is left.")
@click.option("--drop", multiple=True, metavar="STREAM", help="Delete what is left of a stream.")
def repair(data: Path, accept: tuple[str, ...], accept_all: bool, drop: tuple[str, ...]) -> None:
    """Decide about streams in quarantine: their stored data is damaged or incomplete.

    `localarc serve --check FOLDER` lists them. Copy the folder first: this cannot be undone. A
    running service does the same with POST /v1/streams/STREAM/recovery.

    \b
    Example:
      localarc repair --data calibration --accept demand --drop returns
    """
    with user_errors():
        import sqlite3

        from localarc_client.wire.workers import owner_of
        from localarc_service.server import FolderLock
        from localarc_service.storage.repair import repair as run
        from localarc_service.workers.layout import store_folders

        if not (accept or accept_all or drop):
            raise ValueError("there is nothing to do: pass --accept, --accept-all or --drop.")
        lock = FolderLock(data)
        try:
            folders = store_folders(data)

            def of(names: tuple[str, ...], index: int) -> list[str]:
                return [name for name in names if owner_of(name, len(folders)) == index]

            done = [
                each
                for index, folder in enumerate(folders)
                for each in run(folder, of(accept, index), of(drop, index), accept_all)
            ]
        except sqlite3.Error as error:
            raise BadInput(f"the data folder {data} cannot be used: {error}.") from error
        finally:
            lock.release()
    for each in done:
        what = "dropped" if each.seq is None else f"accepted, continues after event {each.seq}"
        click.echo(f"{each.stream}: {what}")
