"""`localarc tune`: select a kernel and rate, and evaluate on held-out rounds."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from localarc.cli import options
from localarc.cli.group import user_errors
from localarc.cli.replay import NO_SIZES
from localarc.kernels import KERNELS
from localarc.memory import Memory
from localarc.rates import Constant, InverseSqrt, Rate
from localarc.tables.csv import write_csv

if TYPE_CHECKING:
    from localarc.calibrators.base import BaseCalibrator
    from localarc.curves import Curves
    from localarc.running.from_data import Lengths
    from localarc.running.tune import Evaluation, Tuning
    from localarc.streams import Stream
    from localarc.validation import FloatArray

_OUTPUT_FILES = ("tuning.csv", "trade-off.png")
_REGULARIZATION = 1e-4  # the default of `localarc replay`

Name = tuple[str, str, str]
"""A candidate: kernel, length scale and rate, as `localarc replay` accepts them."""


def _kernels(context: click.Context, option: click.Parameter, value: str) -> tuple[str, ...]:
    """Parse names of kernels."""
    chosen = options.names(context, option, value) or ()
    unknown = [name for name in chosen if name not in KERNELS]
    if unknown:
        known = ", ".join(KERNELS)
        raise click.BadParameter(f"expected names among {known}, but got {unknown[0]!r}.")
    return chosen


def _rates(
    context: click.Context, option: click.Parameter, value: str | None
) -> dict[str, Rate] | None:
    """Parse rates, by the text that `localarc replay --rate` accepts for them."""
    if value is None:
        return None
    parsed = {part.strip(): options.rate(context, option, part) for part in value.split(",")}
    return {
        _text(rate.eta) if isinstance(rate, InverseSqrt) else text: rate
        for text, rate in parsed.items()
    }


_OPTIONS: list[options.Option] = [
    click.option(
        "--features",
        required=True,
        callback=options.names,
        metavar="A,B",
        help="Columns of the input.",
    ),
    *options.ROUNDS,
    *options.TARGET,
    click.option(
        "--length-scales",
        callback=options.numbers,
        metavar="L,L",
        help="Candidate length scales of the kernel, in the units of the features.  [default: from "
        "the spread of the features]",
    ),
    click.option(
        "--rates",
        callback=_rates,
        metavar="R,R",
        help=f"Candidate learning rates, each {options.RATE_SYNTAX}.  [default: decreasing and "
        "constant ones, from the spread of the scores]",
    ),
    click.option(
        "--kernels",
        default="rbf",
        callback=_kernels,
        metavar="NAMES",
        help=f"Candidate kernels: {', '.join(KERNELS)}.",
    ),
    click.option(
        "--neighbourhood",
        type=float,
        metavar="L",
        help="Length scale of the neighbourhoods to compare.  [default: several, from the spread "
        "of the features]",
    ),
    click.option(
        "--held-out",
        type=float,
        default=0.25,
        help="Fraction of rounds held out, from the end.",
    ),
    click.option(
        "--regularization",
        type=float,
        help="Regularization (lambda): how fast the local part decays.  [default: 0.0001, divided "
        "by the spread of the scores if --rates is not given]",
    ),
    *options.LIMITS[1:],
    options.processes(1),
    *options.OUTPUT,
]


@click.command(name="tune", short_help="Select a kernel and rate, and evaluate on held-out rounds.")
@click.argument("file", type=click.Path(path_type=Path))
@options.with_options(_OPTIONS)
def tune_command(
    file: Path,
    features: tuple[str, ...],
    score: str,
    loss: str | None,
    width: str | None,
    alpha: float,
    length_scales: tuple[float, ...] | None,
    rates: dict[str, Rate] | None,
    kernels: tuple[str, ...],
    neighbourhood: float | None,
    held_out: float,
    regularization: float | None,
    loss_bound: float,
    memory: Memory | str,
    clip: float | None,
    jobs: int,
    quiet: bool,
    out: Path,
) -> None:
    """Select a kernel and rate for FILE, a table as `localarc replay` reads it.

    Runs ARC and every combination of kernel, length scale and rate over the first rounds. Among
    the candidates whose worst neighbourhood is within one standard error of the best, selects the
    one with the smallest pinball loss, and evaluates it on the last rounds, which were held out;
    beside it AutoLARC, the default of `localarc replay`, which has nothing to tune. Notes if the
    target is not met, and if ARC is selected. Writes tuning.csv and trade-off.png to the folder
    OUT.

    Length scales, rates and neighbourhoods that are not given follow the data, with three digits.

    The set size is the width of `prediction +- threshold`, or follows from --width. If some scores
    are negative and --width is not given, sizes are unknown, and trade-off.png is not written.

    \b
    Example:
      localarc tune scores.csv --features hour,demand --score residual --alpha 0.1 --out tuning
    """
    from localarc.cli.console import print_rows, warnings_as_notes

    with user_errors():
        from localarc.reporting.files import check_input_survives, staged
        from localarc.running.tune import tune
        from localarc.running.tune.selection import rounds_for_selection
        from localarc.streams import read_table

        check_input_survives(file, out, _OUTPUT_FILES)
        with staged(out, _OUTPUT_FILES) as folder, warnings_as_notes():
            stream = read_table(file, features, score, loss, None, loss_bound, width)
            has_sizes = stream.curves.widths is not None
            if not has_sizes:
                click.echo(f"note: {NO_SIZES}.", err=True)
            first = slice(0, rounds_for_selection(len(stream), held_out))
            known = stream.X[first], stream.curves.take(first)
            grid = _grid(*known, alpha, length_scales, rates, regularization)
            candidates = _candidates(alpha, kernels, grid, loss_bound, memory, clip)
            places = None if neighbourhood is None else KERNELS[kernels[0]](neighbourhood)
            tuning = tune(
                stream.X, stream.curves, list(candidates.values()), places, held_out, jobs
            )
            untuned = _without_tuning(stream, alpha, loss_bound, tuning)
            header, rows = _table(tuning, list(candidates))
            _write_table(folder / "tuning.csv", header, rows, tuning)
            if has_sizes:
                _draw(folder / "trade-off.png", tuning)
    if quiet:
        return
    selected = list(candidates)[tuning.selected]
    print_rows(f"Candidates over the first {tuning.evaluations[0].rounds:,} rounds", header, rows)
    click.echo(f"selected, as options of localarc replay: {_as_options(selected, grid)}")
    _warn_grid_edge(selected, length_scales or (), rates or {})
    _print_results(tuning, untuned)
    for name in _OUTPUT_FILES:
        if (out / name).exists():
            click.echo(f"wrote {out / name}")


class _Grid(NamedTuple):
    """Length scales and rates to combine, and the regularization of all candidates."""

    length_scales: Sequence[Lengths]
    rates: Mapping[str, Rate]
    regularization: float


def _grid(
    X: FloatArray,
    curves: Curves,
    alpha: float,
    length_scales: tuple[float, ...] | None,
    rates: dict[str, Rate] | None,
    regularization: float | None,
) -> _Grid:
    """Return what was given, and the rest from the data."""
    from localarc.running import from_data

    lengths = length_scales or [_rounded(each) for each in from_data.length_scales(X)]
    if rates is not None:
        return _Grid(lengths, rates, _REGULARIZATION if regularization is None else regularization)
    if regularization is None:
        regularization = _three_digits(from_data.regularization(curves, alpha))
    found = [type(rate)(_three_digits(rate.eta)) for rate in from_data.rates(curves, alpha)]
    return _Grid(lengths, {_rate_text(rate): rate for rate in found}, regularization)


def _candidates(
    alpha: float,
    kernels: Sequence[str],
    grid: _Grid,
    loss_bound: float,
    memory: Memory | str,
    clip: float | None,
) -> dict[Name, BaseCalibrator]:
    """Build ARC with every rate, then L-ARC with every kernel, length scale and rate."""
    from localarc import ARC, LARC

    candidates: dict[Name, BaseCalibrator] = {
        ("none (ARC)", "-", text): ARC(alpha, rate, loss_bound=loss_bound)
        for text, rate in grid.rates.items()
    }
    for kernel, lengths in itertools.product(kernels, grid.length_scales):
        for text, rate in grid.rates.items():
            candidates[kernel, _lengths_text(lengths), text] = LARC(
                alpha,
                KERNELS[kernel](lengths),
                rate,
                grid.regularization,
                loss_bound=loss_bound,
                memory=memory,
                clip=clip,
            )
    return candidates


def _three_digits(value: float) -> float:
    """Return a number from the data with three digits, which can be read and typed."""
    return float(f"{value:.3g}")


def _rounded(lengths: Lengths) -> Lengths:
    """Return one length scale, or one per feature, with three digits."""
    if isinstance(lengths, tuple):
        return tuple(map(_three_digits, lengths))
    return _three_digits(lengths)


def _text(value: float) -> str:
    """Return a number with all its digits."""
    return repr(value).removesuffix(".0")


def _lengths_text(lengths: Lengths) -> str:
    """Return one length scale, or one per feature, as `localarc replay` accepts them."""
    return ",".join(map(_text, lengths)) if isinstance(lengths, tuple) else _text(lengths)


def _rate_text(rate: Rate) -> str:
    """Return a rate from the data as `localarc replay` accepts it."""
    return f"constant:{_text(rate(1))}" if isinstance(rate, Constant) else _text(rate(1))


def _table(tuning: Tuning, candidates: Sequence[Name]) -> tuple[list[str], list[list[str]]]:
    """Return the header and the rows of the table of candidates."""
    from localarc.measures import PINBALL, RISK, SIZE
    from localarc.measures.text import plus_minus

    known = ["kernel", "length scale", "rate"]
    header = [*known, RISK.title, "worst neighbourhood", SIZE.title, PINBALL.title, "selected"]
    rows = [
        [
            *name,
            RISK.text(result.risk),
            plus_minus(result.worst, result.worst_error),
            SIZE.text(result.size),
            PINBALL.text(result.pinball),
            "*" if i == tuning.selected else "",
        ]
        for i, (name, result) in enumerate(zip(candidates, tuning.evaluations, strict=True))
    ]
    return header, rows


def _write_table(
    path: Path, header: Sequence[str], rows: Sequence[Sequence[str]], tuning: Tuning
) -> None:
    """Write the candidates with all digits."""
    measured = ("risk", "worst", "worst_error", "size", "pinball")
    columns: dict[str, list[object]] = {
        name: [row[i] for row in rows] for i, name in enumerate(header[:3])
    }
    columns |= {name: [getattr(each, name) for each in tuning.evaluations] for name in measured}
    selected = [int(i == tuning.selected) for i in range(len(rows))]
    write_csv(path, columns | {"selected": selected})


def _draw(path: Path, tuning: Tuning) -> None:
    """Draw the trade-off between set size and worst-neighbourhood risk."""
    from localarc.figures import trade_off
    from localarc.figures.canvas import save_picture

    save_picture(path, (8.0, 5.2), lambda figure: trade_off(figure.subplots(), tuning))


def _without_tuning(
    stream: Stream, alpha: float, loss_bound: float, tuning: Tuning
) -> Evaluation | None:
    """Evaluate AutoLARC on the same held-out rounds, in the same neighbourhoods."""
    from localarc import AutoLARC
    from localarc.running.tune.evaluation import evaluate

    if tuning.held_out is None:
        return None
    start = len(stream) - tuning.held_out.rounds
    calibrator = AutoLARC(alpha, loss_bound=loss_bound)
    return evaluate(calibrator, stream.X, stream.curves, tuning.neighbourhoods, start)


def _print_results(tuning: Tuning, untuned: Evaluation | None) -> None:
    """Print the evaluations on the held-out rounds, and how to read them."""
    from localarc.running.tune import CAUTION

    result = tuning.held_out
    if result is not None:
        click.echo(f"the last {result.rounds:,} rounds, held out: {result}")
    click.echo(tuning.verdict)
    if untuned is not None:
        click.echo(f"AutoLARC on the same rounds, with nothing tuned: {untuned}")
    click.echo(f"neighbourhoods: {', '.join(map(repr, tuning.neighbourhoods))}")
    if result is not None:
        click.echo(CAUTION)


def _as_options(selected: Name, grid: _Grid) -> str:
    """Return a candidate as options of `localarc replay`."""
    kernel, length_scale, rate = selected
    if length_scale == "-":
        return shlex.join(["--rate", rate, "--method", "arc"])
    chosen = ["--rate", rate, "--kernel", kernel, "--length-scale", length_scale]
    if grid.regularization != _REGULARIZATION:
        chosen += ["--regularization", _text(grid.regularization)]
    return shlex.join(chosen)


def _warn_grid_edge(
    selected: Name, length_scales: Sequence[float], rates: Mapping[str, Rate]
) -> None:
    """Suggest a wider grid if the selected candidate lies at an end of it."""
    _, length_scale, rate = selected
    etas = [candidate.eta for candidate in rates.values() if isinstance(candidate, InverseSqrt)]
    for what, value, grid in (("length scale", length_scale, length_scales), ("rate", rate, etas)):
        for end, extreme, direction in (
            (min, "smallest", "downwards"),
            (max, "largest", "upwards"),
        ):
            if len(set(grid)) > 1 and value == _text(end(grid)):
                click.echo(
                    f"note: the {extreme} {what} was selected; consider extending the grid "
                    f"{direction}.",
                    err=True,
                )
