"""`localarc replay`: calibrate the rounds of a table, and report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from localarc.cli import options
from localarc.cli.group import refusing

NO_SIZES = "sizes are left out, since a score is negative: give --width to have them"
_OWN = ("record.csv", "record.parquet", "summary.json", "report.html")


@click.command(name="replay", short_help="Calibrate the rounds of a table, and report.")
@click.argument("file", type=click.Path(path_type=Path))
@options.replay_options
def replay_command(
    file: Path, out: Path, table: str, quiet: bool, compare: bool, **given: Any
) -> None:
    """Replay FILE, a CSV or Parquet table with one round a row, in the order of time.

    Writes record.csv (threshold, loss and set size of each round), summary.json and report.html
    into the folder OUT. The size of a set is the width of `prediction +- threshold`, or of what
    --width says; it is left out where a score is negative and no width is given.

    Scale features first if their units differ: the kernel measures distance across all of them.

    \b
    Example:
      localarc replay scores.csv --features hour,demand --score residual --group season \\
        --alpha 0.1 --method larc --length-scale 0.5 --compare --out results
    """
    from localarc.cli.console import warnings_as_notes

    with refusing():
        from localarc.reporting.files import check_apart, check_table, staged, write_results
        from localarc.streams.tables import read_table

        check_table(table)
        check_apart(file, out, _OWN)
        choice = options.choice(compare, **given)
        columns = {name: given[name] for name in ("features", "score", "loss", "width", "group")}
        with staged(out, _OWN) as place, warnings_as_notes():
            stream = read_table(file, **columns, loss_bound=given["loss_bound"])
            if stream.curves.widths is None:
                click.echo(f"note: {NO_SIZES}.", err=True)
            runs = replayed(stream, choice.calibrators, quiet)
            assessments = write_results(place, stream, runs, choice.kernel, table)
    tell(assessments, [out / f"record.{table}", out / "summary.json", out / "report.html"], quiet)


def replayed(stream: Any, calibrators: dict[str, Any], quiet: bool) -> list[Any]:
    """Every calibrator over the stream, with a progress bar where somebody is looking."""
    from localarc import replay
    from localarc.cli.console import progress_bar
    from localarc.reporting.assessment import Run

    total = len(stream) * len(calibrators)
    with progress_bar("replaying", total, quiet) as progress:
        return [
            Run(name, each, replay(each, stream.X, stream.curves, stream.groups, progress))
            for name, each in calibrators.items()
        ]


def tell(assessments: list[Any], paths: list[Path], quiet: bool) -> None:
    """Print what came of it, and where it was written."""
    if quiet:
        return
    from localarc.cli.console import print_tables

    print_tables(assessments)
    for path in paths:
        click.echo(f"wrote {path}")
