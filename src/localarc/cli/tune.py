"""`localarc tune`: choose kernel and rate on the rounds of a table, and judge on its tail."""

from __future__ import annotations

import csv
import shlex
from pathlib import Path
from typing import Any

import click

from localarc.cli import options
from localarc.cli.group import refusing
from localarc.cli.replay import NO_SIZES
from localarc.rates import InverseSqrt, Rate

_OWN = ("tuning.csv", "trade-off.png")


def _kernels(_: Any, option: click.Parameter, value: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in value.split(","))
    unknown = [name for name in names if name not in options.KERNELS]
    if unknown:
        known = ", ".join(options.KERNELS)
        raise click.BadParameter(f"expected names among {known}, but got {unknown[0]!r}.")
    return names


def _rates(context: Any, option: click.Parameter, value: str) -> dict[str, Rate]:
    """Rates by what is typed for them after `localarc replay --rate`."""
    made = {part.strip(): options.rate(context, option, part) for part in value.split(",")}
    return {
        _text(each.eta) if isinstance(each, InverseSqrt) else text: each
        for text, each in made.items()
    }


_OPTIONS = [
    options.FEATURES,
    *options.ROUNDS,
    *options.TARGET,
    click.option(
        "--length-scales",
        required=True,
        callback=options.numbers,
        metavar="L,L",
        help="Length scales to choose from: squared distances over which a mistake is felt.",
    ),
    click.option(
        "--rates",
        default="1.0",
        callback=_rates,
        metavar="R,R",
        help=f"Rates to choose from: each {options.RATES}.",
    ),
    click.option(
        "--kernels",
        default="rbf",
        callback=_kernels,
        metavar="NAMES",
        help=f"Kernels to choose from: {', '.join(options.KERNELS)}.",
    ),
    click.option(
        "--neighbourhood",
        type=float,
        metavar="L",
        help="Length scale of the places that are compared.  [default: the middle one]",
    ),
    click.option(
        "--held-out", type=float, default=0.25, help="Share of the rounds, the last ones, to judge."
    ),
    *options.LIMITS,
    click.option(
        "--jobs",
        type=int,
        default=1,
        callback=options.jobs,
        help="Processes; -1 uses every core.",
    ),
    *options.OUTPUT,
]


@click.command(name="tune", short_help="Choose kernel and rate on a table, and judge on its tail.")
@click.argument("file", type=click.Path(path_type=Path))
@options.with_options(_OPTIONS)
def tune_command(
    file: Path,
    out: Path,
    neighbourhood: float | None,
    held_out: float,
    jobs: int,
    quiet: bool,
    **given: Any,
) -> None:
    """Choose kernel and rate for FILE, a table as `localarc replay` reads it.

    ARC and every combination of kernel, length scale and rate go through the first rounds. Of those
    whose worst neighbourhood is best, up to a standard error, the one with the smallest sets is
    chosen, and judged on the last rounds, held out. Writes tuning.csv and trade-off.png into OUT.

    The size of a set is the width of `prediction +- threshold`, or of what --width says. Where a
    score is negative and no width is given there are no sizes: then the one whose worst
    neighbourhood is best is chosen, and trade-off.png is left out.

    \b
    Example:
      localarc tune scores.csv --features hour,demand --score residual --alpha 0.1 \\
        --length-scales 0.1,0.3,1,3 --rates 0.5,1,2 --out tuning
    """
    from localarc.cli.console import print_rows, warnings_as_notes

    with refusing():
        from localarc._tune import CAUTION, tune
        from localarc.reporting.files import check_apart, staged
        from localarc.streams.tables import read_table

        scales = sorted(given["length_scales"])
        middle = scales[len(scales) // 2] if neighbourhood is None else neighbourhood
        names = ("features", "score", "loss", "width", "loss_bound")
        columns = {name: given[name] for name in names}
        check_apart(file, out, _OWN)
        with staged(out, _OWN) as place, warnings_as_notes():
            candidates = _candidates(**given)
            stream = read_table(file, **columns)
            sized = stream.curves.widths is not None
            if not sized:
                how = "the choice is by the risk of the worst neighbourhood alone"
                click.echo(f"note: {NO_SIZES}; {how}.", err=True)
            places = options.KERNELS[given["kernels"][0]](middle)
            tuning = tune(
                stream.X, stream.curves, list(candidates.values()), places, held_out, jobs
            )
            head, rows = _table(tuning, list(candidates))
            _write(place, head, rows, tuning)
            if sized:
                _draw(place, tuning)
    if not quiet:
        name = list(candidates)[tuning.chosen]
        print_rows(f"The first {tuning.evaluations[0].rounds:,} rounds, to choose on", head, rows)
        _tell_chosen(name, given)
        _tell_held_out(tuning)
        click.echo(f"neighbourhoods are those of {places!r}")
        if tuning.held_out is not None:
            click.echo(CAUTION)
        for written in _OWN if sized else _OWN[:1]:
            click.echo(f"wrote {out / written}")


def _candidates(
    *,
    alpha: float,
    kernels: tuple[str, ...],
    length_scales: tuple[float, ...],
    rates: dict[str, Rate],
    regularization: float,
    loss_bound: float,
    memory: Any,
    clip: float | None,
    **_: Any,
) -> dict[tuple[str, str, str], Any]:
    """ARC with every rate, then every combination, by kernel, length scale and rate."""
    from localarc import ARC, LARC

    made: dict[tuple[str, str, str], Any] = {}
    for typed, rate in rates.items():
        made["none (ARC)", "-", typed] = ARC(alpha, rate, loss_bound=loss_bound)
    for kernel in kernels:
        for length_scale in length_scales:
            for typed, rate in rates.items():
                made[kernel, _text(length_scale), typed] = LARC(
                    alpha,
                    options.KERNELS[kernel](length_scale),
                    rate,
                    regularization,
                    loss_bound=loss_bound,
                    memory=memory,
                    clip=clip,
                )
    return made


def _text(value: float) -> str:
    """A number with all its digits."""
    return repr(value).removesuffix(".0")


def _table(tuning: Any, names: list[tuple[str, str, str]]) -> tuple[list[str], list[list[str]]]:
    from localarc.reporting.format import number, plus_minus

    head = ["kernel", "length scale", "rate", "risk", "worst neighbourhood", "mean size", "chosen"]
    rows = [
        [
            *name,
            f"{each.risk:.4f}",
            plus_minus(each.worst, each.worst_error),
            number(each.size),
            "*" if i == tuning.chosen else "",
        ]
        for i, (name, each) in enumerate(zip(names, tuning.evaluations, strict=True))
    ]
    return head, rows


def _write(place: Path, head: list[str], rows: list[list[str]], tuning: Any) -> None:
    with (place / "tuning.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*head[:3], "risk", "worst", "worst_error", "size", "chosen"])
        for i, (row, each) in enumerate(zip(rows, tuning.evaluations, strict=True)):
            found = each.risk, each.worst, each.worst_error, each.size
            writer.writerow([*row[:3], *found, int(i == tuning.chosen)])


def _draw(place: Path, tuning: Any) -> None:
    from matplotlib.figure import Figure

    from localarc.figures import trade_off

    figure = Figure(figsize=(8.0, 5.2), layout="constrained")
    trade_off(figure.subplots(), tuning)
    figure.savefig(place / "trade-off.png", dpi=160)


def _tell_held_out(tuning: Any) -> None:
    from localarc.reporting.format import number, plus_minus

    judged = tuning.held_out
    if judged is None:
        return
    worst = plus_minus(judged.worst, judged.worst_error)
    click.echo(
        f"the last {judged.rounds:,} rounds, held out: risk {judged.risk:.4f} for a target of "
        f"{judged.alpha:g}, worst neighbourhood {worst}, mean size {number(judged.size)}"
    )


def _tell_chosen(name: tuple[str, str, str], given: dict[str, Any]) -> None:
    """The chosen one as options of `localarc replay`, and whether the grid ended too early."""
    kernel, length_scale, rate = name
    words = ["--rate", rate, "--method", "arc"]
    if length_scale != "-":
        words = ["--rate", rate, "--kernel", kernel, "--length-scale", length_scale]
    click.echo(f"chosen, as options of localarc replay: {shlex.join(words)}")
    etas = [each.eta for each in given["rates"].values() if isinstance(each, InverseSqrt)]
    for what, value, offered in (
        ("length scale", length_scale, given["length_scales"]),
        ("rate", rate, etas),
    ):
        for end, extreme, more in ((min, "smallest", "smaller"), (max, "largest", "larger")):
            if len(set(offered)) > 1 and value == _text(end(offered)):
                click.echo(f"note: the {extreme} {what} was chosen, offer {more} ones.", err=True)
