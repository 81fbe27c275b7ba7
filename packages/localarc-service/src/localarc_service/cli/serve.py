"""`localarc serve`: online risk control over HTTP, with durable storage."""

from __future__ import annotations

import os
from pathlib import Path

import click

from localarc.cli.group import user_errors
from localarc_service.cli.log_options import log_options
from localarc_service.cli.store_options import database_options
from localarc_service.logs import LogOptions


@click.command(short_help="Start the HTTP service.")
@click.option(
    "--data",
    type=click.Path(path_type=Path, file_okay=False),
    help="Data folder; created if it does not exist. Required without --store. With --store, only "
    "compiled loops are kept in it.",
)
@database_options
@click.option(
    "--check",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    metavar="FOLDER",
    help="Say what is in a data folder and what is damaged, change nothing, and exit.",
)
@click.option(
    "--workers",
    default=1,
    type=click.IntRange(1, 64),
    help="Processes that share the streams, each with a folder of its own below the data folder, "
    "or a schema of its own in the database.",
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
    help="File with lines such as `write TOKEN`, which `localarc token` makes; read again when it "
    "changes, and on SIGHUP.",
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
    "--max-memory",
    type=click.IntRange(1),
    metavar="MIB",
    help="Maximum memory of all streams together, as estimated. [default: half of the machine's]",
)
@click.option(
    "--expiry-grace",
    default=300.0,
    type=click.FloatRange(0.0),
    help="Seconds after a start in which no older prediction expires.",
)
@click.option(
    "--log-events",
    default=50_000,
    type=click.IntRange(1),
    help="Maximum number of events in the log before they are compacted into snapshots.",
)
@click.option(
    "--stream-metrics",
    default=0,
    type=click.IntRange(0, 100_000),
    help="Streams and groups with metrics of their own in /metrics, which then contains names.",
)
@click.option(
    "--webhook",
    help="URL to send changes of health to, signed with the secret in LOCALARC_WEBHOOK_SECRET.",
)
@click.option(
    "--webhook-secret-file",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="File with the secret of the webhook, instead of the environment variable.",
)
@log_options
@click.option(
    "--without-sync",
    is_flag=True,
    hidden=True,
    help="Do not wait for the disk. For benchmarks only: a power failure loses data.",
)
def serve(
    data: Path | None,
    store: str | None,
    store_schema: str,
    check: Path | None,
    workers: int,
    host: str,
    port: int,
    health_port: int | None,
    token_file: Path | None,
    max_streams: int,
    max_pending: int,
    max_connections: int,
    max_connections_per_address: int,
    max_memory: int | None,
    expiry_grace: float,
    log_events: int,
    stream_metrics: int,
    webhook: str | None,
    webhook_secret_file: Path | None,
    without_sync: bool,
    logs: LogOptions,
) -> int:
    """Start the HTTP service: clients request thresholds and report losses.

    Every change is on disk before the response is sent. Stop the service with Ctrl-C or SIGTERM.
    After a crash, start it again on the same folder: nothing that was acknowledged is lost.
    With --store, a second process on the same database stands by, and takes over.
    --check exits with status 1 if something is damaged.

    \b
    Example:
      localarc serve --data calibration
      localarc serve --check calibration
      localarc serve --store postgresql://localarc@db.internal/localarc
    """
    with user_errors():
        if check is not None:
            return _check(check)
        if data is None and store is None:
            raise ValueError(
                "--data or --store is required: the folder or the database that keeps the streams."
            )
        from localarc_service.limits import Limits, half_of_memory
        from localarc_service.server import Options
        from localarc_service.server import serve as run
        from localarc_service.storage.opening import postgres_address
        from localarc_service.webhook import Target
        from localarc_service.workers.supervisor import serve as run_workers

        limits = Limits(
            streams=max_streams,
            pending=max_pending,
            connections=max_connections,
            connections_per_address=max_connections_per_address,
            log_events=log_events,
            memory_bytes=half_of_memory() if max_memory is None else max_memory * 2**20,
            expiry_grace=expiry_grace,
        )
        synchronous = "OFF" if without_sync else "FULL"
        database = None if store is None else postgres_address(store, store_schema)
        target = None
        if webhook is not None:
            target = Target.checked(webhook, _webhook_secret(webhook_secret_file))
        elif webhook_secret_file is not None:
            raise ValueError("--webhook-secret-file requires --webhook URL.")
        (run if workers == 1 else run_workers)(
            Options(
                data=data,
                database=database,
                host=host,
                port=port,
                health_port=health_port,
                token_file=token_file,
                limits=limits,
                synchronous=synchronous,
                stream_metrics=stream_metrics,
                webhook=target,
                logs=logs,
                workers=workers,
            )
        )
    return 0


def _webhook_secret(path: Path | None) -> str:
    """The secret, from a file or the environment: a command line is visible to everyone."""
    if path is not None:
        return path.read_text(encoding="utf-8").strip()
    secret = os.environ.get("LOCALARC_WEBHOOK_SECRET", "").strip()
    if not secret:
        raise ValueError(
            "the webhook requires a secret: set LOCALARC_WEBHOOK_SECRET, or pass "
            "--webhook-secret-file. `openssl rand -hex 32` generates one."
        )
    return secret


def _check(folder: Path) -> int:
    """Print what is in a folder; returns the exit status."""
    from localarc_service.storage.check import check, join
    from localarc_service.workers.layout import store_folders

    found = join([check(each) for each in store_folders(folder)])
    for stream in found.streams:
        seq = "-" if stream.seq is None else stream.seq
        counts = f"event {seq}, {stream.rounds} rounds, {stream.pending} pending"
        click.echo(f"{stream.name}: {stream.problem or 'ok'} ({counts})")
    for line in [*found.problems, *found.notes]:
        click.echo(line)
    damaged = sum(bool(stream.problem) for stream in found.streams)
    click.echo(
        f"{len(found.streams)} stream(s), {damaged} damaged; {found.events} event(s) in the log"
    )
    return int(found.damaged)
