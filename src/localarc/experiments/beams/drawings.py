"""The figures of the beams experiment: curves over rounds and targets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localarc.experiments.beams.measure import setting_name
from localarc.experiments.beams.methods import SHOWN, TARGETS
from localarc.experiments.beams.tables import compared, of
from localarc.experiments.experiment import Results
from localarc.figures.frame import frame, legend, plain, target_line
from localarc.figures.palette import colours
from localarc.figures.running_risk import shown_rounds
from localarc.metrics import running_risk as mean_so_far

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MARKS = "os^"


def running_risk(axes: Axes, results: Results) -> Axes:
    """The mean loss so far, averaged over trials, with its standard error."""
    names = compared(results.rows)
    target_line(axes, SHOWN)
    for name in names:
        runs = np.array(
            [
                mean_so_far(each.arrays["losses"])
                for each in results.outcomes
                if each.task.method == name
            ]
        )
        rounds = shown_rounds(runs.shape[1])
        mean, colour = runs.mean(axis=0)[rounds - 1], colours(names)[name]
        axes.plot(rounds, mean, color=colour, linewidth=1.5, label=plain(name))
        if len(runs) > 1:
            error = runs.std(axis=0, ddof=1)[rounds - 1] / np.sqrt(len(runs))
            axes.fill_between(rounds, mean - error, mean + error, color=colour, alpha=0.2, lw=0)
    axes.set_ylim(0.0, 2.0 * SHOWN)
    return legend(frame(axes, "Long-run risk", "user", "mean relative regret so far"))


def set_size(axes: Axes, results: Results) -> Axes:
    """Beams in the sets at every target: online, where all methods have the same risk."""
    _by_target(axes, results, "size", "online", "-")
    _by_target(axes, results, "size", "average", ":")
    axes.set_ylim(bottom=0.0)
    axes.plot([], [], ":", color="#1d2027", label="averaged, held out")
    return legend(frame(axes, "Set size against target, online", "target", "beams in the set"))


def evenness(axes: Axes, results: Results) -> Axes:
    """How much the online risk differs from place to place."""
    _by_target(axes, results, "cell_std", "online", "-")
    axes.set_ylim(bottom=0.0)
    label = "standard deviation over cells"
    return legend(frame(axes, "Unevenness of the online risk", "target", label))


def _by_target(axes: Axes, results: Results, value: str, evaluation: str, style: str) -> None:
    """A line for each method, with standard errors over trials."""
    names = compared(results.rows)
    for name, mark in zip(names, _MARKS, strict=False):
        rows = [
            of(results.rows, method=name, setting=setting_name(target), evaluation=evaluation)[0]
            for target in TARGETS
        ]
        axes.errorbar(
            TARGETS,
            [row[value] for row in rows],
            [row[f"{value}_error"] or 0.0 for row in rows],
            color=colours(names)[name],
            linestyle=style,
            linewidth=1.4,
            marker=mark if style == "-" else None,
            markersize=4,
            label=plain(name) if style == "-" else None,
        )
