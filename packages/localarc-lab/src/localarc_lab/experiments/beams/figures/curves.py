"""The figures of the beams experiment: curves over rounds and targets."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from localarc.figures.findings import by_method
from localarc.figures.frame import frame, legend, plain
from localarc.figures.palette import colours
from localarc.figures.settling import settling
from localarc.measures import running_risk as mean_so_far
from localarc_lab.experiments.beams.measurements import City
from localarc_lab.experiments.beams.tables import compared, shown, targets
from localarc_lab.experiments.experiment import FigureSpec
from localarc_lab.experiments.experiment import Results as AnyResults
from localarc_lab.experiments.table_rows import one

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Results = AnyResults[City, None]
_NEAR = 0.001
_MARKS = "os^DPvX*"


def running_risk(axes: Axes, results: Results) -> Axes:
    """The user from which the mean loss so far stays near the target: mean over trials."""
    means = {
        name: np.mean(
            [mean_so_far(run.arrays["losses"]) for run in results.of_method(name)], axis=0
        )
        for name in compared(results.rows)
    }
    return settling(axes, means, float(shown(results.rows)), _NEAR, "user")


def set_size(axes: Axes, results: Results) -> Axes:
    """Beams in the online sets at every target, where all methods have the same risk."""
    drawn = _by_target(axes, results, "size")
    title = f"Beams at target {shown(results.rows)}: {by_method(drawn, '.3g')}"
    return legend(frame(axes, title, "target", "beams in the set"))


def relative_size(axes: Axes, results: Results) -> Axes:
    """The same as a share of ARC's, trial by trial."""
    names, settings = compared(results.rows), targets(results.rows)
    at_shown: dict[str, float] = {}
    axes.axhline(1.0, color=colours(names)["ARC"], linewidth=1.4, label="ARC")
    for name, mark in zip(names[1:], cycle(_MARKS[1:]), strict=False):
        shares = np.array(
            [
                [_size(results, name, trial, t) / _size(results, "ARC", trial, t) for t in settings]
                for trial in dict.fromkeys(run.task.trial for run in results.outcomes)
            ]
        )
        error = shares.std(axis=0, ddof=1) / np.sqrt(len(shares)) if len(shares) > 1 else None
        _line(axes, results, name, mark, shares.mean(axis=0), error)
        at_shown[name] = float(shares.mean(axis=0)[settings.index(shown(results.rows))])
    title = f"Beams at target {shown(results.rows)}, ARC = 1: {by_method(at_shown, '.2f')}"
    return legend(frame(axes, title, "target", "beams, as a share of ARC's"))


def has_any(results: Results) -> bool:
    """Whether any method of the main comparison was run."""
    return bool(compared(results.rows))


def has_arc(results: Results) -> bool:
    """Whether ARC and another method to compare with it were run."""
    return compared(results.rows)[:1] == ["ARC"] and len(compared(results.rows)) > 1


def _size(results: Results, method: str, trial: int, setting: str) -> float:
    outcome = results.outcome(method, None, trial)
    rows = [] if outcome is None else outcome.rows
    return float(one(rows, setting=setting, evaluation="online")["size"])


def evenness(axes: Axes, results: Results) -> Axes:
    """How much the online risk differs between cells."""
    drawn = _by_target(axes, results, "cell_std")
    title = f"Unevenness at target {shown(results.rows)}: {by_method(drawn)}"
    return legend(frame(axes, title, "target", "standard deviation over cells"))


def _by_target(axes: Axes, results: Results, value: str) -> dict[str, float]:
    """One line per method, with standard errors over trials; returns values at one target."""
    names = compared(results.rows)
    at_shown: dict[str, float] = {}
    for name, mark in zip(names, cycle(_MARKS), strict=False):
        rows = [
            one(results.rows, method=name, setting=setting, evaluation="online")
            for setting in targets(results.rows)
        ]
        errors = [row[f"{value}_error"] or 0.0 for row in rows]
        _line(axes, results, name, mark, [row[value] for row in rows], errors)
        at_shown[name] = rows[targets(results.rows).index(shown(results.rows))][value]
    axes.set_ylim(bottom=0.0)
    return at_shown


def _line(axes: Axes, results: Results, name: str, mark: str, values: Any, errors: Any) -> None:
    axes.errorbar(
        [float(setting) for setting in targets(results.rows)],
        values,
        errors,
        color=colours(compared(results.rows))[name],
        linewidth=1.4,
        marker=mark,
        markersize=4,
        label=plain(name),
    )


FIGURES = (
    FigureSpec(
        "running-risk",
        f"The user from which the mean loss so far, averaged over trials, stays within {_NEAR:g} "
        "of the target of the maps.",
        running_risk,
        has_any,
    ),
    FigureSpec(
        "set-size",
        "Beams in the online sets at every target, where all methods have the same risk: mean and "
        "standard error over trials.",
        set_size,
        has_any,
    ),
    FigureSpec(
        "relative-size",
        "Set size relative to ARC's: mean and standard error over trials. Below 1, sets are "
        "smaller than ARC's at the same risk.",
        relative_size,
        has_arc,
    ),
    FigureSpec(
        "evenness",
        "Standard deviation of the online risk over cells of 10 m with at least 10 users, at every "
        "target: mean and standard error over trials.",
        evenness,
        has_any,
    ),
)
