"""The figures of the beams experiment: curves over rounds and targets."""

from __future__ import annotations

from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np

from localarc.experiments.beams.measurements import City
from localarc.experiments.beams.tables import compared, shown, targets
from localarc.experiments.experiment import FigureSpec
from localarc.experiments.experiment import Results as AnyResults
from localarc.experiments.table_rows import one
from localarc.figures.frame import frame, legend, plain, target_line
from localarc.figures.palette import colours
from localarc.figures.running_risk import shown_rounds
from localarc.metrics import running_risk as mean_so_far

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Results = AnyResults[City, None]
_MARKS = "os^DPvX*"


def running_risk(axes: Axes, results: Results) -> Axes:
    """The mean loss so far, averaged over trials, with its standard error."""
    names = compared(results.rows)
    target = float(shown(results.rows))
    target_line(axes, target)
    for name in names:
        runs = np.array([mean_so_far(run.arrays["losses"]) for run in results.of_method(name)])
        rounds = shown_rounds(runs.shape[1])
        mean, colour = runs.mean(axis=0)[rounds - 1], colours(names)[name]
        axes.plot(rounds, mean, color=colour, linewidth=1.5, label=plain(name))
        if len(runs) > 1:
            error = runs.std(axis=0, ddof=1)[rounds - 1] / np.sqrt(len(runs))
            axes.fill_between(rounds, mean - error, mean + error, color=colour, alpha=0.2, lw=0)
    axes.set_ylim(0.9 * target, 1.1 * target)
    return legend(frame(axes, "Long-run risk", "user", "mean relative regret so far"))


def set_size(axes: Axes, results: Results) -> Axes:
    """Beams in the online sets at every target, where all methods have the same risk."""
    _by_target(axes, results, "size")
    return legend(frame(axes, "Set size against target, online", "target", "beams in the set"))


def relative_size(axes: Axes, results: Results) -> Axes:
    """The same as a share of ARC's, trial by trial."""
    names, settings = compared(results.rows), targets(results.rows)
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
    label = "beams, as a share of ARC's"
    return legend(frame(axes, "Set size compared with ARC, online", "target", label))


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
    _by_target(axes, results, "cell_std")
    label = "standard deviation over cells"
    return legend(frame(axes, "Unevenness of the online risk", "target", label))


def _by_target(axes: Axes, results: Results, value: str) -> None:
    """One line per method, with standard errors over trials."""
    names = compared(results.rows)
    for name, mark in zip(names, cycle(_MARKS), strict=False):
        rows = [
            one(results.rows, method=name, setting=setting, evaluation="online")
            for setting in targets(results.rows)
        ]
        errors = [row[f"{value}_error"] or 0.0 for row in rows]
        _line(axes, results, name, mark, [row[value] for row in rows], errors)
    axes.set_ylim(bottom=0.0)


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
        "Long-run risk at the target of the maps: mean and standard error over trials.",
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
