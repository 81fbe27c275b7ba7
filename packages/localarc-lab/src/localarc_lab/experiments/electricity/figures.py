"""The figures of the electricity experiment: the paper's two panels, and two more."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from localarc.figures.bars import clusters
from localarc.figures.findings import by_method
from localarc.figures.frame import frame, legend, target_line
from localarc.figures.palette import FAINT, INK, colours
from localarc.figures.settling import settling
from localarc.measures import running_risk
from localarc_lab.experiments.electricity.data import DAYS, Demand
from localarc_lab.experiments.electricity.measurements import SPLITS, target
from localarc_lab.experiments.experiment import Results as AnyResults
from localarc_lab.experiments.experiment import Row
from localarc_lab.experiments.table_rows import held_out, held_out_name, methods, one, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Results = AnyResults[Demand, str]
_MAIN = "ARC", "L-ARC l=1", "AutoLARC", "Mondrian"
_NEAR = 0.005
_MONTH = np.datetime64("1997-01-06"), np.datetime64("1997-02-03")


def running_coverage(axes: Axes, results: Results) -> Axes:
    """The round from which the miscoverage so far stays near the target, by method."""
    runs = [run for run in results.outcomes if run.task.setting == "alternating"]
    means = {run.task.method: running_risk(run.arrays["online"]) for run in runs}
    return settling(axes, means, target(results.plan), _NEAR, "round")


def miscoverage(axes: Axes, results: Results) -> Axes:
    """Held-out miscoverage, marginal and by kind of day."""
    rows = where(results.rows, split="alternating")
    groups = ["all", "weekday", "weekend"]
    pairs = {
        held_out_name(rows, method): [
            _pair(one(rows, method=method, evaluation=held_out(rows, method), group=g))
            for g in groups
        ]
        for method in methods(rows)
    }
    target_line(axes, target(results.plan))
    clusters(axes, groups, pairs)
    highest = {name: max(risk for risk, _ in values) for name, values in pairs.items()}
    title = f"Highest held-out miscoverage of a row: {by_method(highest)}"
    return legend(frame(axes, title, "", "miscoverage"))


def days(axes: Axes, results: Results) -> Axes:
    """Online miscoverage by day of the week: the main methods, where they were run."""
    rows = where(results.rows, split="alternating")
    shown = [m for m in methods(rows) if m in _MAIN] or methods(rows)[:3]
    pairs = {
        method: [_pair(one(rows, method=method, evaluation="online", group=day)) for day in DAYS]
        for method in shown
    }
    target_line(axes, target(results.plan))
    clusters(axes, DAYS, pairs)
    highest = {name: max(risk for risk, _ in values) for name, values in pairs.items()}
    title = f"Highest online miscoverage of a day: {by_method(highest)}"
    return legend(frame(axes, title, "", "miscoverage"))


def _pair(row: Row) -> tuple[float, float]:
    """The risk, and half the width of the interval of the difference from ARC."""
    if row["difference_to_arc"] is None:
        return row["risk"], 0.0
    return row["risk"], (row["difference_high"] - row["difference_low"]) / 2


def month(axes: Axes, results: Results) -> Axes:
    """Demand with its intervals for four weeks: L-ARC's filled, the others' as lines."""
    calibration, _ = SPLITS["alternating"](results.data)
    start, stop = _MONTH
    shown = (calibration.times >= start) & (calibration.times < stop)
    if not shown.any():  # a quick run ends earlier: show its last four weeks
        shown = np.arange(len(calibration)) >= len(calibration) - 28 * 24
    times = calibration.times[shown]
    for weekend in _runs(calibration.weekend[shown]):
        axes.axvspan(times[weekend[0]], times[weekend[1]], color=FAINT, alpha=0.15, lw=0)
    forecast = calibration.forecast[shown]
    outcomes, widths = calibration.demand[shown], {}
    for method, filled in (("L-ARC l=1", True), ("ARC", False), ("AutoLARC", False)):
        outcome = results.outcome(method, "alternating")
        if outcome is not None:
            width = outcome.arrays["thresholds"][shown]
            widths[method] = 2.0 * float(width.mean())
            _interval(axes, times, forecast - width, forecast + width, method, filled)
    axes.plot(times, outcomes, color=INK, linewidth=0.9, label="demand")
    _weekly_ticks(axes)
    title = f"Mean width in four weeks: {by_method(widths, '.3g')} (weekends grey)"
    return legend(frame(axes, title, "", "demand"))


def _interval(axes: Axes, times: Any, low: Any, high: Any, method: str, filled: bool) -> None:
    colour = colours([method])[method]
    if filled:
        axes.fill_between(times, low, high, color=colour, alpha=0.3, lw=0, label=method)
        return
    axes.plot(times, low, color=colour, linewidth=0.9, label=method)
    axes.plot(times, high, color=colour, linewidth=0.9)


def _runs(flags: Any) -> list[tuple[int, int]]:
    """First and last index of each run of True."""
    padded = np.concatenate(([False], flags, [False])).astype(int)
    edges = np.flatnonzero(np.diff(padded))
    return [(int(a), int(b) - 1) for a, b in edges.reshape(-1, 2)]


def _weekly_ticks(axes: Axes) -> None:
    from matplotlib.dates import DateFormatter, WeekdayLocator

    axes.xaxis.set_major_locator(WeekdayLocator(byweekday=0))  # type: ignore[no-untyped-call]
    axes.xaxis.set_major_formatter(DateFormatter("%a %d %b %Y"))  # type: ignore[no-untyped-call]
    axes.tick_params(axis="x", labelsize=8)
