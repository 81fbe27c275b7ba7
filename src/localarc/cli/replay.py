"""`localarc replay`: replay a CSV or Parquet file and write a report."""

from __future__ import annotations

from pathlib import Path

import click

from localarc.cli import options
from localarc.cli.group import user_errors
from localarc.cli.runs import print_results, run_all
from localarc.kernels import KERNELS
from localarc.memory import Memory
from localarc.rates import Rate

NO_SIZES = "set sizes are omitted because some scores are negative; pass --width to include them"
_OUTPUT_FILES = ("record.csv", "record.parquet", "summary.json", "report.html")
_OPTIONS: list[options.Option] = [
    click.option(
        "--features",
        callback=options.names,
        metavar="A,B",
        help="Columns of the input, in any units.  [default: none; required by --method larc]",
    ),
    *options.ROUNDS,
    click.option(
        "--group",
        help="Column with the group: results per group, and a guarantee for each with AutoLARC and "
        "Mondrian.",
    ),
    *options.TARGET,
    click.option(
        "--method",
        type=click.Choice(["auto", "larc", "arc", "mondrian"]),
        help="AutoLARC: thresholds for every place and group, nothing to tune. L-ARC: the paper's "
        "threshold function of the input. ARC: one threshold. Mondrian: one threshold per group.  "
        "[default: larc if --kernel or --length-scale is given, else auto]",
    ),
    click.option(
        "--length-scale",
        callback=options.length_scale,
        metavar="L",
        help="Length scale of the kernel, in the units of the features; one number, or one per "
        "feature.  [default: 1.0]",
    ),
    click.option(
        "--kernel",
        type=click.Choice(list(KERNELS)),
        metavar="NAME",
        help=f"Kernel of L-ARC: {', '.join(KERNELS)}. For other methods it defines the "
        "neighbourhoods of the report.  [default: rbf]",
    ),
    click.option(
        "--rate",
        callback=options.optional_rate,
        metavar="R",
        help=f"Learning rate of L-ARC, ARC and Mondrian: {options.RATE_SYNTAX}.  [default: 1.0]",
    ),
    *options.LIMITS,
    click.option(
        "--score-range",
        callback=options.numbers,
        metavar="LO,HI",
        help="Smallest and largest possible score, for bounds of L-ARC, ARC and Mondrian that "
        "hold in advance.",
    ),
    click.option(
        "--limits",
        callback=options.limits,
        metavar="LO,HI",
        help="Floor and ceiling of AutoLARC's thresholds, in the units of the score; either may be "
        "empty.",
    ),
    click.option(
        "--promise",
        type=click.Choice(["both", "at most"]),
        help="Whether AutoLARC keeps the risk near the target, or only from exceeding it.  "
        "[default: both]",
    ),
    click.option(
        "--evenness",
        type=float,
        help="How strongly AutoLARC evens out risks, at the price of larger sets.  [default: 1.0]",
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
    method: str | None,
    length_scale: float | tuple[float, ...] | None,
    kernel: str | None,
    rate: Rate | None,
    regularization: float | None,
    loss_bound: float,
    memory: Memory | str,
    clip: float | None,
    score_range: tuple[float, ...] | None,
    limits: tuple[float | None, float | None] | None,
    promise: str | None,
    evenness: float | None,
    compare: bool,
    table: str,
    quiet: bool,
    out: Path,
) -> None:
    """Replay FILE, a CSV or Parquet file with one row per round, in chronological order.

    Writes record.csv (threshold, loss and set size of each round), summary.json and report.html
    to the folder OUT. The set size is the width of `prediction +- threshold`, or follows from
    --width; it is omitted if some scores are negative and --width is not given.

    Without a kernel the method is AutoLARC, which has nothing to tune: units of features and
    scores do not matter. L-ARC's kernel measures distance across all features, so scale them
    first, or give one length scale per feature.

    \b
    Examples:
      localarc replay scores.csv --features hour,demand --score residual --group season \\
        --alpha 0.1 --compare --out results
      localarc replay scores.csv --features hour,demand --score residual --alpha 0.1 \\
        --kernel rbf --length-scale 2,500 --rate 30 --out results
    """
    from localarc.cli.console import warnings_as_notes

    with user_errors():
        from localarc.cli.methods import MethodOptions
        from localarc.reporting.files import (
            check_input_survives,
            check_table_format,
            staged,
            write_results,
        )
        from localarc.streams import read_table

        check_table_format(table)
        check_input_survives(file, out, _OUTPUT_FILES)
        methods = MethodOptions(
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
            limits=limits,
            promise=promise,
            evenness=evenness,
            has_groups=group is not None,
            has_features=features is not None,
        )
        main = methods.main()
        with staged(out, _OUTPUT_FILES) as folder, warnings_as_notes():
            stream = read_table(file, features or (), score, loss, group, loss_bound, width)
            if stream.curves.widths is None:
                click.echo(f"note: {NO_SIZES}.", err=True)
            runs = run_all(stream, methods.all(main, stream), quiet)
            assessments = write_results(folder, stream, runs, methods.neighbourhood(), table)
    written = (f"record.{table}", "summary.json", "report.html")
    print_results(assessments, [out / name for name in written], quiet)
