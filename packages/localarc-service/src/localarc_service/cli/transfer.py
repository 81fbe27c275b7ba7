"""`localarc export` and `localarc import`: move streams of the service between stores."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from localarc.cli.group import BadInput, user_errors
from localarc_service.cli.store_options import database_options

if TYPE_CHECKING:
    from localarc_service.storage.postgres.connection import Address
    from localarc_service.streams.stream import Stream

_SHOWN = 20  # streams that a command lists
_DATA = click.Path(path_type=Path, file_okay=False)


@click.command("export", short_help="Write streams of the service to a file.")
@click.argument("streams", nargs=-1, metavar="[STREAM]...")
@click.option("--data", type=_DATA, help="Data folder of a service, running or not.")
@database_options
@click.option(
    "--out", required=True, type=click.Path(path_type=Path, dir_okay=False), help="File to write."
)
@click.option(
    "--parquet",
    is_flag=True,
    help="Write the calibrators of streams with one configuration to a Parquet table.",
)
def export_command(
    streams: tuple[str, ...],
    data: Path | None,
    store: str | None,
    store_schema: str,
    out: Path,
    parquet: bool,
) -> None:
    """Write all streams of a store, or those named, to one file for `localarc import`.

    It has everything about them: calibrators, pending predictions, histories. The service may run.
    With --parquet it has their calibrators alone, one row per stream, for panels, keyed jobs and
    Spark.

    \b
    Examples:
      localarc export --data calibration --out streams.zip demand returns
      localarc export --data calibration --parquet --out keys.parquet
    """
    with user_errors():
        from localarc_service.storage.transfer import export_streams, read_database, read_folders
        from localarc_service.workers.layout import store_folders

        place = _place(data, store, store_schema)
        if isinstance(place, Path):
            found = read_folders(store_folders(place))
        else:
            found = read_database(place)
        done = export_streams(found, out, streams, as_table=parquet)
    _report(done, f"to {out}")


@click.command("import", short_help="Read streams of the service from a file.")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@click.argument("streams", nargs=-1, metavar="[STREAM]...")
@click.option(
    "--data",
    type=_DATA,
    help="Data folder of a service that is not running; created if it does not exist.",
)
@database_options
@click.option("--replace", is_flag=True, help="Replace streams that are there.")
@click.option(
    "--rename",
    multiple=True,
    metavar="OLD=NEW",
    help="Give a stream another name; may be repeated.",
)
@click.option(
    "--workers",
    type=click.IntRange(1, 64),
    help="Workers of the service that a new folder or schema is for.  [default: 1]",
)
def import_command(
    file: Path,
    streams: tuple[str, ...],
    data: Path | None,
    store: str | None,
    store_schema: str,
    replace: bool,
    rename: tuple[str, ...],
    workers: int | None,
) -> None:
    """Store the streams of a file that `localarc export` wrote, or those named: all or none.

    They continue where they were, bit for bit. The file may come from an older release. The Parquet
    table of a panel, a keyed job or Spark is imported too: a stream for each key. Where several
    workers share the streams, each gets its own, all or none; if the command is interrupted in
    between, repeat it with --replace.

    \b
    Examples:
      localarc import streams.zip --data other-calibration
      localarc import keys.parquet --data calibration
    """
    with user_errors():
        from localarc_service.storage.transfer import import_streams
        from localarc_service.workers.offline import opened

        place, renamed = _place(data, store, store_schema), dict(map(_names, rename))
        with opened(place, workers) as target:
            try:
                done = import_streams(target, file, streams, replace, renamed)
            except target.errors as error:
                raise BadInput(f"{target.place} cannot be used: {error}.") from error
    _report(done, f"into {data or 'the database'}")


def _names(text: str) -> tuple[str, str]:
    """The old and the new name in `OLD=NEW`."""
    from localarc_client.wire.fields import STREAM_NAME_PATTERN

    old, equals, new = text.partition("=")
    if not equals or not re.search(STREAM_NAME_PATTERN, new):
        raise ValueError(
            f"--rename must be OLD=NEW, with a name of at most 64 letters, digits and ._-, got "
            f"{text!r}."
        )
    return old, new


def _place(data: Path | None, store: str | None, schema: str) -> Path | Address:
    """The folder or the database, of which there must be one."""
    from localarc_service.storage.opening import postgres_address

    if store is not None and data is None:
        return postgres_address(store, schema)
    if data is None:
        raise ValueError("--data or --store is required: the folder or the database.")
    return data  # LOCALARC_STORE may be set for the service


def _report(streams: list[Stream], where: str) -> None:
    for stream in streams[:_SHOWN]:
        state = stream.state
        counts = f"event {state.seq}, {state.rounds} rounds, {len(state.pending)} pending"
        click.echo(f"{stream.name}: {counts}")
    if len(streams) > _SHOWN:
        click.echo(f"... and {len(streams) - _SHOWN} more")
    click.echo(f"{len(streams)} stream(s) {where}")
