"""`localarc keyed`: jobs over keyed events, one calibrator per key, on one machine."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from localarc.cli import options
from localarc.cli.group import user_errors

if TYPE_CHECKING:
    from localarc.many.panel.streams import Prototype

_COLUMNS: list[options.Option] = [
    click.option(
        "--key",
        required=True,
        callback=options.names,
        metavar="A,B",
        help="Column of the key; several make a composite key.",
    ),
    click.option("--score", help="Column of the score. Pass either --score or --loss."),
    click.option("--loss", help="Column of a known loss, between 0 and 1."),
    click.option("--features", callback=options.names, metavar="A,B", help="Columns of the input."),
    click.option("--order", help="Column that numbers the events of each key 1, 2, 3, ..."),
    click.option("--time", help="Column of the time of each event, in place of --order."),
    click.option("--kind", help='Column with "ask" or "learn", where losses come late.'),
    click.option(
        "--id", help="Column that an ask and its outcome share; with --time, breaks ties."
    ),
    click.option("--width", help="Column of the width of the interval at threshold 0."),
]
_METHOD: list[options.Option] = [
    *options.TARGET,
    click.option(
        "--method",
        type=click.Choice(["arc", "larc", "auto"]),
        default="arc",
        help="ARC: one threshold per key. L-ARC and AutoLARC: a threshold function of the input.",
    ),
    click.option(
        "--length-scale",
        callback=options.length_scale,
        metavar="L",
        help="Length scale of L-ARC's RBF kernel, one number or one per feature.  [default: 1.0]",
    ),
    click.option(
        "--rate",
        callback=options.optional_rate,
        metavar="R",
        help=f"Learning rate of ARC and L-ARC: {options.RATE_SYNTAX}.  [default: 1.0]",
    ),
]
_JOB: list[options.Option] = [
    click.option("--delay", type=float, metavar="SECONDS", help="How late rows may come."),
    click.option(
        "--ttl", type=float, metavar="SECONDS", help="How long a key is kept without events."
    ),
    click.option("--max-pending", type=int, help="How many asks of a key can be pending."),
    click.option("--last", is_flag=True, help="With --time: no more will come, so no row waits."),
    click.option("--shards", type=int, default=2, help="Parts of the keys; fixed for the folder."),
    click.option(
        "--jobs",
        type=int,
        default=-1,
        callback=options.check_processes,
        help="Processes; -1: all cores.",
    ),
    click.option(
        "--bad-rows",
        type=click.Choice(["fail", "reject"]),
        default="fail",
        help="Whether a bad row ends the job, or is written with the violated rule.",
    ),
    click.option(
        "--initial",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Parquet table of keys to start from, such as one that `localarc export` wrote.",
    ),
    *options.OUTPUT,
]


@click.group(short_help="Calibrate keyed events, one calibrator per key.")
def keyed() -> None:
    """Jobs over keyed events, which resume where they stopped."""


@keyed.command(name="files", short_help="Learn files of events.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@options.with_options([*_COLUMNS, *_METHOD, *_JOB])
def keyed_files(files: tuple[Path, ...], quiet: bool, **given: Any) -> None:
    """Learn FILES of events (Parquet, CSV, NDJSON), in this order.

    OUT/rows gets the rows with thresholds and losses, OUT/state the state. Run it again with more
    files: those that were learned are not read again, also after a crash.

    \b
    Example:
      localarc keyed files day1.parquet day2.parquet --key customer --score residual \\
        --alpha 0.1 --out job
    """
    from localarc.many import run_files

    with user_errors():
        done = run_files(files, **_arguments(given))
    if not quiet:
        click.echo(f"{done} files learned; rows are in {given['out'] / 'rows'}.")


@keyed.command(name="topic", short_help="Learn the messages of a Kafka-compatible topic.")
@click.argument("topic")
@click.option("--servers", required=True, metavar="HOST:PORT", help="Brokers to ask first.")
@options.with_options([*_COLUMNS, *_METHOD, *_JOB])
def keyed_topic(topic: str, servers: str, quiet: bool, **given: Any) -> None:
    """Learn the messages of TOPIC, JSON objects, up to its end.

    Offsets are stored with the state in OUT. Run it again for new messages, also after a crash.

    \b
    Example:
      localarc keyed topic scores --servers localhost:9092 --key customer --score residual \\
        --alpha 0.1 --out job
    """
    from localarc.many import run_topic

    with user_errors():
        done = run_topic(topic, servers=servers, **_arguments(given))
    if not quiet:
        click.echo(f"{done} messages learned; rows are in {given['out'] / 'rows'}.")


def _arguments(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a job, from the values of options."""
    from localarc.many import Columns, Limits

    names = "key", "score", "loss", "order", "time", "kind", "id", "width"
    columns = Columns(features=given["features"] or (), **{name: given[name] for name in names})
    delay, ttl = (
        None if given[name] is None else timedelta(seconds=given[name]) for name in ("delay", "ttl")
    )
    limits = Limits(delay=delay, ttl=ttl, max_pending=given["max_pending"])
    same = {name: given[name] for name in ("last", "shards", "jobs", "bad_rows", "initial")}
    made = {"columns": columns, "calibrator": _calibrator(given), "limits": limits}
    return {"folder": given["out"], **made, **same}


def _calibrator(given: dict[str, Any]) -> Prototype:
    """The calibrator that the options describe."""
    from localarc import ARC, LARC, RBF, AutoLARC

    alpha, rate = given["alpha"], 1.0 if given["rate"] is None else given["rate"]
    if given["length_scale"] is not None and given["method"] != "larc":
        raise click.UsageError("--length-scale is an option of --method larc.")
    if given["method"] == "auto":
        if given["rate"] is not None:
            raise click.UsageError("--rate is an option of --method arc and larc.")
        return AutoLARC(alpha)
    if given["method"] == "arc":
        return ARC(alpha, rate)
    scale = 1.0 if given["length_scale"] is None else given["length_scale"]
    return LARC(alpha, RBF(scale), rate)
