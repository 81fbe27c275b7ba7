"""Options: what is typed after `localarc replay`, and the calibrators that it asks for."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import localarc
from localarc.calibrators.base import BaseCalibrator
from localarc.kernels import Kernel
from localarc.memory import Dictionary, KeepAll, KeepLast, Lattice, Memory
from localarc.rates import Constant, InverseSqrt, Power, Rate

KERNELS: dict[str, Callable[..., Kernel]] = {
    "rbf": localarc.RBF,
    "laplace": localarc.Laplace,
    "matern32": localarc.Matern32,
    "matern52": localarc.Matern52,
    "cauchy": localarc.Cauchy,
    "triangular": localarc.Triangular,
    "rational-quadratic": localarc.RationalQuadratic,
}
_MEMORIES: dict[str, tuple[Callable[..., Memory] | None, type[float]]] = {
    "last": (KeepLast, int),
    "lattice": (Lattice, float),
    "dictionary": (Dictionary, float),
}
RATES = "a number eta for eta / sqrt(t), constant:ETA or power:ETA:EXPONENT"


@dataclass(frozen=True)
class Choice:
    """The calibrators to run, by name, and the kernel that says what a neighbourhood is."""

    calibrators: dict[str, BaseCalibrator]
    kernel: Kernel


def choice(
    compare: bool,
    *,
    alpha: float,
    method: str,
    kernel: str,
    length_scale: float | tuple[float, ...],
    rate: Rate,
    regularization: float,
    loss_bound: float,
    score_range: tuple[float, float] | None,
    memory: Memory | str,
    clip: float | None,
    group: str | None,
    features: tuple[str, ...] | None,
    **_: Any,
) -> Choice:
    """The calibrators that were asked for; with `compare`, ARC beside them."""
    shape = KERNELS[kernel](length_scale)
    common: dict[str, Any] = {"loss_bound": loss_bound, "score_range": score_range}

    def arc() -> localarc.ARC:
        return localarc.ARC(alpha, rate, **common)

    if method != "larc" and (clip is not None or memory != "auto"):
        raise ValueError(f"--clip and --memory are for --method larc: leave them out for {method}.")
    if method == "larc":
        if features is None:
            raise ValueError("--method larc needs --features, the columns of x.")
        extra = common | {"memory": memory, "clip": clip}
        larc = localarc.LARC(alpha, shape, rate, regularization, **extra)
        chosen: dict[str, BaseCalibrator] = {"L-ARC": larc}
    elif method == "mondrian":
        if group is None:
            raise ValueError("--method mondrian needs --group, the column to split rounds by.")
        chosen = {"Mondrian": localarc.Mondrian(arc)}
    else:
        if compare:
            raise ValueError("--compare runs ARC beside another method: leave it out for ARC.")
        chosen = {"ARC": arc()}
    return Choice(chosen | ({"ARC": arc()} if compare else {}), shape)


def _names(_: Any, option: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Names with commas between them."""
    if value is None:
        return None
    return tuple(next(csv.reader([value], skipinitialspace=True), []))


def numbers(_: Any, option: click.Parameter, value: str | None) -> tuple[float, ...] | None:
    """Numbers with commas between them."""
    if value is None:
        return None
    try:
        return tuple(float(part) for part in value.split(","))
    except ValueError as error:
        raise click.BadParameter(f"expected numbers such as 0.5,1 but got {value!r}.") from error


def _length_scale(context: Any, option: click.Parameter, value: str) -> Any:
    lengths = numbers(context, option, value) or ()
    return lengths[0] if len(lengths) == 1 else lengths


def rate(_: Any, option: click.Parameter, value: str) -> Rate:
    """A number, or a kind of rate and its numbers with colons between them."""
    kinds: dict[str, Callable[..., Rate]] = {"constant": Constant, "power": Power}
    kind, _colon, rest = value.strip().partition(":")
    try:
        given = [float(part) for part in (rest if kind in kinds else value).split(":")]
    except ValueError:
        given = []
    if len(given) != (2 if kind == "power" else 1):
        raise click.BadParameter(f"expected {RATES}, e.g. power:0.5:0.7, but got {value!r}.")
    try:
        return kinds.get(kind, InverseSqrt)(*given)
    except ValueError as error:
        raise click.BadParameter(f"{value!r}: {error}") from error


def _memory(_: Any, option: click.Parameter, value: str) -> Memory | str:
    if value in ("auto", "all"):
        return KeepAll() if value == "all" else "auto"
    kind, _colon, number = value.partition(":")
    strategy, read = _MEMORIES.get(kind, (None, float))
    try:
        given = [read(number)] if number or kind == "last" else []
    except ValueError:
        strategy = None
    if strategy is None:
        raise click.BadParameter(
            "expected auto, all, last:1000 (the latest 1000 rounds), lattice:1e-8 or "
            f"dictionary:1e-4, but got {value!r}."
        )
    try:
        return strategy(*given)
    except ValueError as error:
        raise click.BadParameter(f"{value!r}: {error}") from error


def jobs(_: Any, option: click.Parameter, value: int) -> int:
    """How many processes to use."""
    if value == 0:
        raise click.BadParameter("expected at least 1 process, or -1 for every core, but got 0.")
    return value


FEATURES = click.option(
    "--features", required=True, callback=_names, metavar="A,B", help="Columns of x."
)
ROUNDS = [
    click.option("--score", required=True, help="Column of the true outcome's score."),
    click.option("--loss", help="Column of what a miss costs.  [default: every miss costs 1]"),
    click.option(
        "--width",
        help="Column of an interval's width at threshold 0, upper - lower for quantiles; sizes "
        "are this + 2 * threshold.  [default: 0, the width of prediction +- threshold]",
    ),
]
TARGET = [
    click.option("--alpha", type=float, required=True, help="Target: the mean loss you accept."),
]
LIMITS = [
    click.option("--regularization", type=float, default=1e-4, help="Decay of the local part."),
    click.option("--loss-bound", type=float, default=1.0, help="Largest possible loss."),
    click.option(
        "--memory",
        default="auto",
        callback=_memory,
        metavar="KIND",
        help="What to remember: auto, all, last:M, lattice:TOLERANCE or dictionary:TOLERANCE.",
    ),
    click.option("--clip", type=float, help="Largest size of the local part of a threshold."),
]
OUTPUT = [
    click.option("--quiet", is_flag=True, help="Print nothing but notes and errors."),
    click.option("--out", type=click.Path(path_type=Path), required=True, help="Folder to write."),
]
_OPTIONS = [
    click.option(
        "--features",
        callback=_names,
        metavar="A,B",
        help="Columns of x.  [default: the number of the round; --method larc needs columns]",
    ),
    *ROUNDS,
    click.option("--group", help="Column of groups, to report by and for Mondrian to split by."),
    *TARGET,
    click.option(
        "--method",
        type=click.Choice(["larc", "arc", "mondrian"]),
        default="larc",
        help="A threshold for every input, one for all, or one for each group.",
    ),
    click.option(
        "--length-scale",
        default="1.0",
        callback=_length_scale,
        metavar="L",
        help="Squared distance over which a mistake is felt; one number, or one per feature.",
    ),
    click.option(
        "--kernel",
        type=click.Choice(list(KERNELS)),
        default="rbf",
        metavar="NAME",
        help=f"How a mistake fades with distance: {', '.join(KERNELS)}.",
    ),
    click.option(
        "--rate",
        default="1.0",
        callback=rate,
        metavar="R",
        help=f"Size of the steps: {RATES}.",
    ),
    *LIMITS,
    click.option(
        "--score-range",
        callback=numbers,
        metavar="LO,HI",
        help="Range of all possible scores, for bounds that hold in advance.",
    ),
    click.option("--compare", is_flag=True, help="Run ARC beside the method."),
    click.option(
        "--format",
        "table",
        type=click.Choice(["csv", "parquet"]),
        default="csv",
        help="Kind of table to write the record as.",
    ),
    *OUTPUT,
]


def replay_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of `localarc replay`, in the order in which help shows them."""
    return with_options(_OPTIONS)(command)


def with_options(options: list[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command options, in the order in which help shows them."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
