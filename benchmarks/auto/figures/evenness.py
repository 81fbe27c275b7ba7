"""Evenness: the risk of the worst neighbourhood against the size of sets."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from benchmarks.auto.evenness import streams_to_use, trades
from localarc.figures.frame import frame
from localarc.figures.palette import FAINT, METHODS


def draw(path: Path) -> None:
    found = trades(streams_to_use())
    figure = Figure(figsize=(6.0, 4.2), layout="constrained")
    axes = figure.subplots()
    colour = METHODS["AutoLARC"]
    axes.errorbar(
        [trade.size for trade in found],
        [trade.excess for trade in found],
        [trade.error for trade in found],
        fmt="o-",
        color=colour,
        ecolor=FAINT,
    )
    for trade in found:
        axes.annotate(
            f"{trade.evenness:g}",
            (trade.size, trade.excess),
            (6, 6),
            textcoords="offset points",
            fontweight="bold" if trade.evenness == 1.0 else "normal",
        )
    axes.set_ylim(0.0)
    frame(
        axes,
        f"Evenness {found[0].evenness:g} to {found[-1].evenness:g}: worst risk "
        f"{found[0].excess:.0%} to {found[-1].excess:.0%} above target",
        "mean set size, ARC = 1; bars: standard errors",
        "worst neighbourhood above target",
    )
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:.0%}")
    figure.savefig(path, dpi=160)
