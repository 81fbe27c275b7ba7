"""`localarc serve`: calibration over HTTP, from a folder that survives the process."""

from __future__ import annotations

from pathlib import Path

import click

from localarc.cli.group import user_errors


@click.command(short_help="Serve calibration over HTTP.")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="The folder that holds the log; made if it is not there.",
)
@click.option("--host", default="127.0.0.1", help="The address to listen on.")
@click.option(
    "--port",
    default=8090,
    type=click.IntRange(0, 65535),
    help="The port to listen on; 0 takes a free one and prints it.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Lines such as `write TOKEN`; scopes are read, write and admin.",
)
@click.option("--max-streams", default=256, type=click.IntRange(1), help="How many streams.")
@click.option(
    "--max-pending",
    default=10_000,
    type=click.IntRange(1),
    help="How many predictions of a stream may await their loss.",
)
@click.option(
    "--log-events",
    default=50_000,
    type=click.IntRange(1),
    help="How many events the log keeps before snapshots replace the oldest.",
)
@click.option(
    "--without-sync",
    is_flag=True,
    hidden=True,
    help="Do not wait for the disk. For measurements: a power cut loses answers.",
)
def serve(
    data: Path,
    host: str,
    port: int,
    token_file: Path | None,
    max_streams: int,
    max_pending: int,
    log_events: int,
    without_sync: bool,
) -> None:
    """Serve calibration over HTTP: a threshold now, its loss when it is known.

    Every event is on disk before it is answered. Stop it with Ctrl-C or SIGTERM; after a crash,
    start it again on the same folder and nothing that was answered is lost.

    \b
    Example:
      localarc serve --data calibration
    """
    with user_errors():
        try:
            from localarc.service.limits import Limits
            from localarc.service.server import Options
            from localarc.service.server import serve as run
        except ModuleNotFoundError as error:
            raise ImportError(
                f"{error.name} is not installed: pip install 'localarc[service]'"
            ) from error

        limits = Limits(streams=max_streams, pending=max_pending, log_events=log_events)
        synchronous = "OFF" if without_sync else "FULL"
        run(Options(data, host, port, token_file, limits, synchronous))
