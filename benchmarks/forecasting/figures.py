"""Draw the figure of docs/forecasting.md: `python -m benchmarks.forecasting.figures`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.dates import ConciseDateFormatter
from matplotlib.figure import Figure

from benchmarks import machine
from benchmarks.forecasting import coverage, streams
from localarc.figures.findings import by_method
from localarc.figures.frame import frame, legend
from localarc.figures.palette import INK, METHODS, colours
from localarc.forecasting import Bands

HOURS = 8000  # of Elec2, about a year: enough to see how bands differ
LEVELS = (0.5, 0.8, 0.95)


def draw(path: Path) -> None:
    history = streams.elec2()[: HOURS * streams.HORIZON]
    figure = Figure(figsize=(11.0, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[3, 2])
    _fans(left, Bands(coverage=LEVELS).replay(history))
    _by_hour(right, history)
    figure.savefig(path, dpi=160)


def _fans(axes: Axes, table: Any) -> None:
    """The bands of the last four forecasts from midnight, and what came."""
    cutoffs = table.cutoff[table.cutoff.dt.hour == 0].unique()[-4:]
    colour = METHODS["AutoLARC"]
    for number, cutoff in enumerate(cutoffs):
        fan = table[table.cutoff == cutoff]
        for level, shade in zip(sorted(LEVELS, reverse=True), (0.15, 0.25, 0.4), strict=True):
            name = f"{100 * level:g}"
            label = f"{name} %" if number == 0 else None
            ends = fan[f"lo-{name}"], fan[f"hi-{name}"]
            axes.fill_between(fan.ds, *ends, color=colour, alpha=shade, lw=0, label=label)
        axes.axvline(cutoff, color="0.7", lw=0.8, ls=":")
    shown = table[(table.ds >= cutoffs[0]) & (table.ds <= cutoffs[-1] + pd.Timedelta(days=1))]
    truth = shown.drop_duplicates("ds").sort_values("ds")
    axes.plot(truth.ds, truth.y, color=INK, lw=1.3, label="outcome")
    short = ConciseDateFormatter(axes.xaxis.get_major_locator())  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(short)
    drawn = table[table.cutoff.isin(cutoffs)]
    inside = drawn.y.between(drawn["lo-95"], drawn["hi-95"])
    title = f"{inside.sum()} of {len(drawn)} hours inside the 95 % band; forecasts from midnight"
    frame(axes, title, "", "demand (Elec2)")
    legend(axes)


def _by_hour(axes: Axes, history: Any) -> None:
    """Misses of a 90 % band by hour, beside a rolling quantile per step."""
    table = Bands(coverage=0.9).replay(history)
    score = (table.y - table.yhat).abs()
    table = table.assign(score=score, theirs=coverage.rolling(table, score))
    table = table.assign(ours=table["hi-90"] - table.yhat)[table.theirs.notna()]
    worst: dict[str, float] = {}
    for column, label, colour in (
        ("theirs", "rolling quantile", colours(["Rolling quantile"])["Rolling quantile"]),
        ("ours", "Bands", METHODS["AutoLARC"]),
    ):
        missed = (table.score > table[column]).groupby(table.ds.dt.hour).mean()
        worst[label] = 100.0 * float(missed.max())
        axes.plot(missed.index, 100.0 * missed, color=colour, marker="o", ms=3, label=label)
    axes.axhline(10.0, color=INK, lw=0.8, ls="--", label="target")
    axes.set_ylim(bottom=0.0)
    title = f"Most misses of an hour, %: {by_method(worst, '.1f')}"
    frame(axes, title, "hour", "misses in %")
    legend(axes)


if __name__ == "__main__":
    folder = machine.ROOT / "docs" / "forecasting"
    folder.mkdir(exist_ok=True)
    draw(folder / "bands.png")
    print(folder / "bands.png")
