"""Options that several commands share, and the functions that parse their values."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from localarc.memory import Dictionary, KeepAll, KeepLast, Lattice, Memory
from localarc.rates import Constant, InverseSqrt, Power, Rate

_MEMORIES: dict[str, tuple[Callable[..., Memory] | None, type[float]]] = {
    "last": (KeepLast, int),
    "lattice": (Lattice, float),
    "dictionary": (Dictionary, float),
}
RATE_SYNTAX = "a number eta for eta / sqrt(t), constant:ETA or power:ETA:EXPONENT"

Option = Callable[[Callable[..., None]], Callable[..., None]]


def names(_: click.Context, option: click.Parameter, value: str | None) -> tuple[str, ...] | None:
    """Parse names separated by commas; a name with a comma is quoted, as in CSV."""
    if value is None:
        return None
    parts = tuple(next(csv.reader([value], skipinitialspace=True), []))
    if not parts:
        raise click.BadParameter(f"expected names such as a,b but got {value!r}.")
    return parts


def numbers(
    _: click.Context, option: click.Parameter, value: str | None
) -> tuple[float, ...] | None:
    """Parse numbers separated by commas."""
    if value is None:
        return None
    try:
        return tuple(float(part) for part in value.split(","))
    except ValueError as error:
        raise click.BadParameter(f"expected numbers such as 0.5,1 but got {value!r}.") from error


def length_scale(
    context: click.Context, option: click.Parameter, value: str | None
) -> float | tuple[float, ...] | None:
    """Parse one length scale, or one per feature."""
    lengths = numbers(context, option, value)
    return lengths[0] if lengths is not None and len(lengths) == 1 else lengths


def limits(
    context: click.Context, option: click.Parameter, value: str | None
) -> tuple[float | None, float | None] | None:
    """Parse a floor and a ceiling; an empty one is none."""
    if value is None:
        return None
    parts = [part.strip() for part in value.split(",")]
    if len(parts) != 2 or not any(parts):
        raise click.BadParameter(f"expected a floor and a ceiling such as 0,30 but got {value!r}.")
    floor, ceiling = (
        (numbers(context, option, part) or (None,))[0] if part else None for part in parts
    )
    return floor, ceiling


def optional_rate(
    context: click.Context, option: click.Parameter, value: str | None
) -> Rate | None:
    """Parse a rate, if one is given."""
    return None if value is None else rate(context, option, value)


def rate(_: click.Context, option: click.Parameter, value: str) -> Rate:
    """Parse a number, or a kind of rate and its numbers separated by colons."""
    kinds: dict[str, Callable[..., Rate]] = {"constant": Constant, "power": Power}
    kind, _colon, rest = value.strip().partition(":")
    try:
        given = [float(part) for part in (rest if kind in kinds else value).split(":")]
    except ValueError:
        given = []
    if len(given) != (2 if kind == "power" else 1):
        raise click.BadParameter(f"expected {RATE_SYNTAX}, e.g. power:0.5:0.7, but got {value!r}.")
    try:
        return kinds.get(kind, InverseSqrt)(*given)
    except ValueError as error:
        raise click.BadParameter(f"{value!r}: {error}") from error


def memory(_: click.Context, option: click.Parameter, value: str) -> Memory | str:
    """Parse a memory and its number separated by a colon."""
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


def check_processes(_: click.Context, option: click.Parameter, value: int) -> int:
    """Check a number of processes."""
    if value == 0:
        raise click.BadParameter("expected at least 1 process, or -1 for every core, but got 0.")
    return value


def processes(default: int) -> Option:
    """Return the option of the number of processes."""
    text = "Number of processes; -1 uses every core. Only the times depend on it."
    return click.option("--jobs", type=int, default=default, callback=check_processes, help=text)


ROUNDS: list[Option] = [
    click.option("--score", required=True, help="Column with the score of the true outcome."),
    click.option(
        "--loss", help="Column with the loss of a miss.  [default: the loss of a miss is 1]"
    ),
    click.option(
        "--width",
        help="Column with the width of the interval at threshold 0, such as upper - lower for "
        "quantiles; set sizes are width + 2 * threshold.  [default: 0, for prediction +- "
        "threshold]",
    ),
]
TARGET: list[Option] = [
    click.option(
        "--alpha", type=float, required=True, help="Target risk: the mean loss you accept."
    ),
]
LIMITS: list[Option] = [
    click.option(
        "--regularization",
        type=float,
        help="Regularization (lambda): how fast the local part decays.  [default: 0.0001]",
    ),
    click.option("--loss-bound", type=float, default=1.0, help="Largest possible loss."),
    click.option(
        "--memory",
        default="auto",
        callback=memory,
        metavar="KIND",
        help="Memory: auto, all, last:M, lattice:TOLERANCE or dictionary:TOLERANCE.",
    ),
    click.option(
        "--clip", type=float, help="Largest absolute value of the local part of a threshold."
    ),
]
QUIET: Option = click.option("--quiet", is_flag=True, help="Suppress normal output.")
OUTPUT: list[Option] = [
    QUIET,
    click.option("--out", type=click.Path(path_type=Path), required=True, help="Output folder."),
]


def with_options(options: Sequence[Option]) -> Option:
    """Return a decorator that adds options, in the order in which --help lists them."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate
