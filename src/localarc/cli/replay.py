"""`localarc replay`: replay a CSV or Parquet file and write a report."""

from __future__ import annotations

from pathlib import Path

import click

from localarc.cli import options
from localarc.cli.group import user_errors
from localarc.cli.runs import print_results, run_all
from localarc.memory import Memory
from localarc.rates import Rate

NO_SIZES = "set sizes are omitted because some scores are negative; pass --width to include them"
_OUTPUT_FILES = ("record.csv", "record.parquet", "summary.json", "report.html")
_OPTIONS = [
    click.option(
        "--features",
        callback=options.names,
        metavar="A,B",
        help="Columns of the input.  [default: the number of the round; required by --method larc]",
    ),
    *options.ROUNDS,
    click.option("--group", help="Column with the group, for results per group and for Mondrian."),
    *options.TARGET,
    click.option(
        "--method",
        type=click.Choice(["larc", "arc", "mondrian"]),
        default="larc",
        help="L-ARC: a threshold function of the input. ARC: one threshold. Mondrian: one "
        "threshold per group.",
    ),
    click.option(
        "--length-scale",
        default="1.0",
        callback=options.length_scale,
        metavar="L",
        help="Length scale of the kernel, in the units of the features; one number, or one per "
        "feature.",
    ),
    click.option(
        "--kernel",
        type=click.Choice(list(options.KERNELS)),
        default="rbf",
        metavar="NAME",
        help=f"Kernel: {', '.join(options.KERNELS)}.",
    ),
    click.option(
        "--rate",
        default="1.0",
        callback=options.rate,
        metavar="R",
        help=f"Learning rate: {options.RATE_SYNTAX}.",
    ),
    *options.LIMITS,
    click.option(
        "--score-range",
        callback=options.numbers,
        metavar="LO,HI",
        help="Smallest and largest possible score, for bounds that hold in advance.",
    ),
    click.option("--compare", is_flag=True, help="Also run ARC, for comparison."),
    click.option(
        "--format",
        "table",
        type=click.Choice(["csv", "parquet"]),
        default="csv",
        help="File format of the record.",
    ),
    *options.OUTPUT,
]


@click.command(name="replay", short_help="Replay a CSV or Parquet file and write a report.")
@click.argument("file", type=click.Path(path_type=Path))
@options.with_options(_OPTIONS)
def replay_command(
    file: Path,
    features: tuple[str, ...] | None,
    score: str,
    loss: str | None,
    width: str | None,
    group: str | None,
    alpha: float,
    method: str,
    length_scale: float | tuple[float, ...],
    kernel: str,
    rate: Rate,
    regularization: float,
    loss_bound: float,
    memory: Memory | str,
    clip: float | None,
    score_range: tuple[float, ...] | None,
    compare: bool,
    table: str,
    quiet: bool,
    out: Path,
) -> None:
    """Replay FILE, a CSV or Parquet file with one row per round, in chronological order.

    Writes record.csv (threshold, loss and set size of each round), summary.json and report.html
    to the folder OUT. The set size is the width of `prediction +- threshold`, or follows from
    --width; it is omitted if some scores are negative and --width is not given.

    Scale the features first if their units differ: the kernel measures distance across all of
    them.

    \b
    Example:
      localarc replay scores.csv --features hour,demand --score residual --group season \\
        --alpha 0.1 --method larc --length-scale 0.5 --compare --out results
    """
    from localarc.cli.console import warnings_as_notes

    with user_errors():
        from localarc.cli.methods import build_methods
        from localarc.reporting.files import (
            check_input_survives,
            check_table_format,
            staged,
            write_results,
        )
        from localarc.streams import read_table

        check_table_format(table)
        check_input_survives(file, out, _OUTPUT_FILES)
        methods = build_methods(
            method=method,
            compare=compare,
            alpha=alpha,
            kernel=kernel,
            length_scale=length_scale,
            rate=rate,
            regularization=regularization,
            loss_bound=loss_bound,
            score_range=score_range,
            memory=memory,
            clip=clip,
            has_groups=group is not None,
            has_features=features is not None,
        )
        with staged(out, _OUTPUT_FILES) as folder, warnings_as_notes():
            stream = read_table(file, features, score, loss, group, loss_bound, width)
            if stream.curves.widths is None:
                click.echo(f"note: {NO_SIZES}.", err=True)
            runs = run_all(stream, methods.calibrators, quiet)
            assessments = write_results(folder, stream, runs, methods.kernel, table)
    written = (f"record.{table}", "summary.json", "report.html")
    print_results(assessments, [out / name for name in written], quiet)
