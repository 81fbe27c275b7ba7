"""Intervals over time: outcomes and intervals, misses marked, and the rolling coverage beneath."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from localarc.figures.canvas import new_figure
from localarc.figures.frame import TITLE, legend, plain
from localarc.figures.interval_panels import draw_intervals, draw_rolling, value_limits
from localarc.figures.interval_rounds import Ends, Rounds, Run, read_rounds, read_runs
from localarc.figures.palette import colours
from localarc.figures.picture import Picture

_WIDTH, _HEIGHT_ABOVE, _HEIGHT_BELOW = 8.5, 2.3, 2.1


def intervals_over_time(
    y: ArrayLike,
    intervals: Ends | Mapping[str, Ends],
    time: Sequence[Any] | NDArray[Any] | None = None,
    *,
    coverage: float = 0.9,
    window: int | None = None,
    last: int = 300,
    unit: str = "outcome",
) -> Picture:
    """Draw outcomes and their intervals, misses marked, and the rolling coverage beneath.

    Each method has a panel with its latest intervals. All share the panel of rolling coverage, in
    which a grey band shows how far chance takes a window of independent outcomes from the target:
    two standard errors. The title states the coverage that was found.

    Parameters
    ----------
    y : array_like of float, shape (n,)
        Outcome of each round, in chronological order; NaN while it is pending.
    intervals : Intervals, pair of array_like, or mapping of str to these
        The lower and upper end of each round's interval, or these by name of the method, for up
        to four methods. The name determines the colour. Ends may be infinite.
    time : sequence of n numbers or dates, optional
        When each round happened. Default: the number of the round.
    coverage : float, default 0.9
        Target: the share of outcomes that intervals should contain.
    window : int, optional
        Known outcomes that the rolling coverage averages over. Default: a tenth, from 20 to 500.
    last : int, default 300
        How many rounds, from the end, the panels of intervals show.
    unit : str, default "outcome"
        What y is, such as "demand, MW".

    Returns
    -------
    Picture
        The figure and its alternative text, with `save(path)`.

    Examples
    --------
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> ends = np.full(500, -1.6), np.full(500, 1.6)
    >>> print(intervals_over_time(y, {"fixed": ends}).text)
    fixed: 91.4 % of 500 outcomes covered (target 90 %), ...
    """
    rounds = read_rounds(y, time, coverage, window, last, unit)
    runs = read_runs(intervals, rounds)
    colour = colours([run.name for run in runs])
    heights = [*[_HEIGHT_ABOVE] * len(runs), _HEIGHT_BELOW]
    figure = new_figure(_WIDTH, sum(heights))
    *above, below = figure.subplots(len(heights), height_ratios=heights)
    for axes, run in zip(above, runs, strict=True):
        draw_intervals(axes, run, rounds, colour[run.name], value_limits(runs, rounds))
    legend(above[0])
    draw_rolling(below, runs, rounds, colour, "round" if time is None else "")
    title = fill(plain(_finding(runs, rounds), 400), 74)
    figure.suptitle(title, x=0.01, ha="left", **TITLE | {"fontsize": 12.5})
    return Picture(figure, _alternative_text(runs, rounds))


def _finding(runs: Sequence[Run], rounds: Rounds) -> str:
    """Return what the figure shows, as its title: the lowest coverages of several methods."""
    target, window = f"target {100 * rounds.coverage:g} %", rounds.window
    if len(runs) > 1:
        lowest = ", ".join(f"{run.name} {_lowest(run, rounds)}" for run in runs)
        return f"Lowest coverage of {window} outcomes in a row ({target}): {lowest}"
    share = f"{100 * runs[0].share(rounds):.1f} % of {rounds.known.sum():,} outcomes covered"
    least = f"at least {_lowest(runs[0], rounds)} of any {window} in a row"
    return f"{runs[0].name}: {share} ({target}), {least}"


def _lowest(run: Run, rounds: Rounds) -> str:
    return f"{100 * np.nanmin(run.rolling(rounds)):.1f} %"


def _alternative_text(runs: Sequence[Run], rounds: Rounds) -> str:
    """Return the numbers that a reader takes from the figure."""
    numbers = (
        f"{run.name}: {100 * run.share(rounds):.1f} % covered, mean width {run.width:.3g}."
        for run in runs
    )
    what = "Outcomes over time with their intervals, and the rolling coverage."
    return " ".join([f"{_finding(runs, rounds)}.", *numbers, what])
