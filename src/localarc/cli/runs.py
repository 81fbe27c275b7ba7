"""Running calibrators over a stream, and printing the results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from localarc.calibrators.base import BaseCalibrator
    from localarc.reporting.assessment import Assessment, Run
    from localarc.streams import Stream


def run_all(stream: Stream, calibrators: Mapping[str, BaseCalibrator], quiet: bool) -> list[Run]:
    """Replay the stream with every calibrator, with a progress bar on a terminal."""
    from localarc import replay
    from localarc.cli.console import progress_bar
    from localarc.reporting.assessment import Run

    total = len(stream) * len(calibrators)
    with progress_bar("replaying", total, quiet) as progress:
        return [
            Run(
                name,
                calibrator,
                replay(calibrator, stream.X, stream.curves, stream.groups, progress),
            )
            for name, calibrator in calibrators.items()
        ]


def print_results(assessments: Sequence[Assessment], paths: Sequence[Path], quiet: bool) -> None:
    """Print the tables of all runs, and the files that were written."""
    if quiet:
        return
    from localarc.cli.console import print_tables

    print_tables(assessments)
    for path in paths:
        click.echo(f"wrote {path}")
