"""`localarc serve`: online risk control over HTTP, with durable storage."""

from __future__ import annotations

from pathlib import Path

import click

from localarc.cli.group import user_errors


@click.command(short_help="Start the HTTP service.")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, file_okay=False),
    help="Data folder; created if it does not exist.",
)
@click.option("--host", default="127.0.0.1", help="Address to listen on.")
@click.option(
    "--port",
    default=8090,
    type=click.IntRange(0, 65535),
    help="Port to listen on; 0 selects a free port and prints it.",
)
@click.option(
    "--health-port",
    type=click.IntRange(0, 65535),
    help="Port for /livez and /readyz alone, whose connections are counted apart.",
)
@click.option(
    "--token-file",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File with lines such as `write TOKEN`; scopes are read, write and admin.",
)
@click.option(
    "--max-streams", default=256, type=click.IntRange(1), help="Maximum number of streams."
)
@click.option(
    "--max-pending",
    default=10_000,
    type=click.IntRange(1),
    help="Maximum number of pending predictions per stream.",
)
@click.option(
    "--max-connections",
    default=2048,
    type=click.IntRange(1),
    help="Maximum number of open connections.",
)
@click.option(
    "--max-connections-per-address",
    default=512,
    type=click.IntRange(1),
    help="Maximum number of open connections of one address; behind a proxy, raise it.",
)
@click.option(
    "--log-events",
    default=50_000,
    type=click.IntRange(1),
    help="Maximum number of events in the log before they are compacted into snapshots.",
)
@click.option(
    "--without-sync",
    is_flag=True,
    hidden=True,
    help="Do not wait for the disk. For benchmarks only: a power failure loses data.",
)
def serve(
    data: Path,
    host: str,
    port: int,
    health_port: int | None,
    token_file: Path | None,
    max_streams: int,
    max_pending: int,
    max_connections: int,
    max_connections_per_address: int,
    log_events: int,
    without_sync: bool,
) -> None:
    """Start the HTTP service: clients request thresholds and report losses.

    Every change is on disk before the response is sent. Stop the service with Ctrl-C or SIGTERM.
    After a crash, start it again on the same folder: nothing that was acknowledged is lost.

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

        limits = Limits(
            streams=max_streams,
            pending=max_pending,
            connections=max_connections,
            connections_per_address=max_connections_per_address,
            log_events=log_events,
        )
        synchronous = "OFF" if without_sync else "FULL"
        run(Options(data, host, port, health_port, token_file, limits, synchronous))
