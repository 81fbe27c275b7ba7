"""`localarc rebalance`: copy a data folder for another number of workers."""

from __future__ import annotations

from pathlib import Path

import click

from localarc.cli.group import BadInput, user_errors


@click.command(short_help="Copy a data folder of the service for more or fewer workers.")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    help="Data folder of a service that is not running.",
)
@click.option(
    "--to",
    required=True,
    type=click.Path(path_type=Path),
    help="New data folder; it must not exist.",
)
@click.option(
    "--workers", required=True, type=click.IntRange(1, 64), help="Number of workers of the new one."
)
def rebalance(data: Path, to: Path, workers: int) -> None:
    """Copy all streams into a new data folder, for `localarc serve --workers`.

    The old folder keeps its streams. Start a service on one of the two only: each would have
    losses that the other lacks.

    \b
    Example:
      localarc rebalance --data calibration --to calibration-4 --workers 4
    """
    with user_errors():
        import sqlite3

        from localarc_service.workers.rebalance import rebalance as run

        try:
            count = run(data, to, workers)
        except sqlite3.Error as error:
            raise BadInput(f"the data folder {data} cannot be used: {error}.") from error
    click.echo(f"{count} stream(s) copied to {to}, for {workers} worker(s)")
