"""`localarc export` and `localarc import`: move streams of the service between stores."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localarc.cli.group import BadInput, user_errors

if TYPE_CHECKING:
    from localarc.service.storage.interface import Store
    from localarc.service.streams.stream import Stream


@click.command("export", short_help="Write streams of the service to a file.")
@click.argument("streams", nargs=-1, metavar="[STREAM]...")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Data folder of a service, running or not.",
)
@click.option(
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="File to write.",
)
def export_command(streams: tuple[str, ...], data: Path, out: Path) -> None:
    """Write all streams of a data folder, or those named, to one file for `localarc import`.

    It has everything about them: calibrators, pending predictions, histories. The service may run.

    \b
    Example:
      localarc export --data calibration --out streams.zip demand returns
    """
    with user_errors():
        from localarc.service.storage.transfer import export_streams

        with _copy_of(data) as store:
            done = export_streams(store, out, streams)
    _report(done, f"to {out}")


@click.command("import", short_help="Read streams of the service from a file.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.argument("streams", nargs=-1, metavar="[STREAM]...")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Data folder of a service that is not running; created if it does not exist.",
)
@click.option("--replace", is_flag=True, help="Replace streams that are there.")
def import_command(file: Path, streams: tuple[str, ...], data: Path, replace: bool) -> None:
    """Store the streams of a file that `localarc export` wrote, or those named: all or none.

    They continue where they were, bit for bit. The file may come from an older release.

    \b
    Example:
      localarc import streams.zip --data other-calibration
    """
    with user_errors():
        from localarc.service.storage.transfer import import_streams

        with _own(data) as store:
            done = import_streams(store, file, streams, replace)
    _report(done, f"into {data}")


@contextlib.contextmanager
def _copy_of(folder: Path) -> Iterator[Store]:
    """A store with a copy of a folder that a service may be using."""
    from localarc.service.storage.backup import copy
    from localarc.service.storage.store import EventStore

    with tempfile.TemporaryDirectory(prefix="localarc-export-") as place:
        copy(folder, Path(place))
        with contextlib.closing(EventStore(Path(place))) as store:
            yield store


@contextlib.contextmanager
def _own(folder: Path) -> Iterator[Store]:
    """The store in a folder that no service uses."""
    import os
    import sqlite3

    from localarc.service.server import FolderLock
    from localarc.service.storage.store import EventStore
    from localarc.service.workers import layout

    os.umask(0o077)  # only the owner can read the data folder
    folder.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(folder)
    try:
        layout.require_single(folder)
        with contextlib.closing(EventStore(folder)) as store:
            yield store
    except sqlite3.Error as error:
        raise BadInput(f"the data folder {folder} cannot be used: {error}.") from error
    finally:
        lock.release()


def _report(streams: list[Stream], where: str) -> None:
    for stream in streams:
        state = stream.state
        counts = f"event {state.seq}, {state.rounds} rounds, {len(state.pending)} pending"
        click.echo(f"{stream.name}: {counts}")
    click.echo(f"{len(streams)} stream(s) {where}")
