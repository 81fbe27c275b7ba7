"""The figures of the polyp experiment: the paper's three panels, the memory study, examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localarc.experiments.experiment import Results as AnyResults
from localarc.experiments.polyps.model_outputs import Outputs
from localarc.experiments.polyps.settings import Setting
from localarc.experiments.polyps.tables import groups, headline, in_setting, methods, unseen
from localarc.experiments.table_rows import held_out, held_out_name, where
from localarc.figures.bars import clusters
from localarc.figures.frame import frame, legend, plain, target_line
from localarc.figures.palette import colours
from localarc.figures.running_risk import shown_rounds
from localarc.metrics import running_risk

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Results = AnyResults[Outputs, Setting]


def running_fnr(axes: Axes, results: Results) -> Axes:
    """The mean loss so far, averaged over trials."""
    names = methods(results.rows)
    for name in names:
        runs = [
            running_risk(run.arrays["losses"])
            for run in results.of_method(name, headline(results.rows))
        ]
        mean = np.mean(runs, axis=0)
        rounds = shown_rounds(len(mean))
        colour = colours(names)[name]
        axes.plot(rounds, mean[rounds - 1], color=colour, linewidth=1.5, label=plain(name))
    target_line(axes, headline(results.rows).alpha)
    axes.set_ylim(0.0, 1.5 * headline(results.rows).alpha)
    axes.set_xlim(left=1)
    return legend(frame(axes, "Long-run false negatives", "round", "FNR so far"))


def fnr_by_source(axes: Axes, results: Results) -> Axes:
    """Held-out false negatives of the averaged threshold."""
    _bars(axes, results, headline(results.rows), "fnr", methods(results.rows))
    target_line(axes, headline(results.rows).alpha)
    return legend(frame(axes, "Held-out false negatives by source", "", "FNR"))


def size_by_source(axes: Axes, results: Results) -> Axes:
    """The share of the image that the masks cover."""
    _bars(axes, results, headline(results.rows), "size", methods(results.rows))
    return legend(frame(axes, "Mask size by source", "", "share of the image"))


def fnr_on_unseen(axes: Axes, results: Results) -> Axes:
    """The same on images that the network was not trained on."""
    setting = unseen(results.rows)[0]
    _bars(axes, results, setting, "fnr", methods(results.rows))
    target_line(axes, setting.alpha)
    return legend(frame(axes, "Held-out false negatives, unseen images only", "", "FNR"))


def memory_study(axes: Axes, results: Results) -> Axes:
    """Held-out false negatives by memory."""
    names = methods(results.rows, memory=True)
    coarsest = [name for name in names if name.startswith("Dictionary")][-1:]
    shown = [name for name in names if not name.startswith("Dictionary")] + coarsest
    _bars(axes, results, headline(results.rows), "fnr", shown)
    target_line(axes, headline(results.rows).alpha)
    return legend(frame(axes, "Held-out false negatives by memory", "", "FNR"))


def _bars(axes: Axes, results: Results, setting: Setting, value: str, names: list[str]) -> None:
    rows = in_setting(results.rows, setting)
    shown = groups(rows)
    pairs: dict[str, list[tuple[float, float]]] = {}
    for name in names:
        mine = where(rows, method=name, evaluation=held_out(rows, name))
        by_group = {row["group"]: (row[value], row[f"{value}_error"] or 0.0) for row in mine}
        pairs[held_out_name(rows, name)] = [by_group[group] for group in shown]
    clusters(axes, [group.removesuffix("PolypDB") for group in shown], pairs)


def has_unseen(results: Results) -> bool:
    """Whether it is known which images the network was trained on."""
    return bool(unseen(results.rows))
