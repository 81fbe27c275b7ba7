"""The figures of the polyp experiment: the paper's three panels, the memory study, examples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from localarc.figures.bars import clusters
from localarc.figures.findings import by_method
from localarc.figures.frame import frame, legend, target_line
from localarc.figures.settling import settling
from localarc.measures import running_risk
from localarc_lab.experiments.experiment import Results as AnyResults
from localarc_lab.experiments.polyps.model_outputs import Outputs
from localarc_lab.experiments.polyps.settings import Setting
from localarc_lab.experiments.polyps.tables import (
    groups,
    headline,
    in_setting,
    methods,
    unseen_settings,
)
from localarc_lab.experiments.table_rows import held_out, held_out_name, where

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Results = AnyResults[Outputs, Setting]
_NEAR = 0.01


def running_fnr(axes: Axes, results: Results) -> Axes:
    """The round from which the mean loss so far stays near the target: mean over trials."""
    setting = headline(results.rows)
    means = {
        name: np.mean(
            [running_risk(run.arrays["losses"]) for run in results.of_method(name, setting)],
            axis=0,
        )
        for name in methods(results.rows)
    }
    return settling(axes, means, setting.alpha, _NEAR, "round")


def fnr_by_source(axes: Axes, results: Results) -> Axes:
    """Held-out false negatives of the averaged threshold."""
    highest = _bars(axes, results, headline(results.rows), "fnr", methods(results.rows))
    target_line(axes, headline(results.rows).alpha)
    return legend(frame(axes, f"Highest held-out FNR of a source: {highest}", "", "FNR"))


def size_by_source(axes: Axes, results: Results) -> Axes:
    """The share of the image that the masks cover."""
    largest = _bars(axes, results, headline(results.rows), "size", methods(results.rows))
    title = f"Largest mean mask of a source: {largest}"
    return legend(frame(axes, title, "", "share of the image"))


def fnr_on_unseen(axes: Axes, results: Results) -> Axes:
    """The same on images that the network was not trained on."""
    setting = unseen_settings(results.rows)[0]
    highest = _bars(axes, results, setting, "fnr", methods(results.rows))
    target_line(axes, setting.alpha)
    title = f"Highest held-out FNR of a source, unseen images only: {highest}"
    return legend(frame(axes, title, "", "FNR"))


def memory_study(axes: Axes, results: Results) -> Axes:
    """Held-out false negatives by memory."""
    names = methods(results.rows, memory=True)
    coarsest = [name for name in names if name.startswith("Dictionary")][-1:]
    shown = [name for name in names if not name.startswith("Dictionary")] + coarsest
    highest = _bars(axes, results, headline(results.rows), "fnr", shown)
    target_line(axes, headline(results.rows).alpha)
    title = f"Highest held-out FNR of a source, by memory: {highest}"
    return legend(frame(axes, title, "", "FNR"))


def _bars(axes: Axes, results: Results, setting: Setting, value: str, names: list[str]) -> str:
    """Draw bars by source, and return the highest of each method, in words."""
    rows = in_setting(results.rows, setting)
    shown = groups(rows)
    pairs: dict[str, list[tuple[float, float]]] = {}
    for name in names:
        mine = where(rows, method=name, evaluation=held_out(rows, name))
        by_group = {row["group"]: (row[value], row[f"{value}_error"] or 0.0) for row in mine}
        pairs[held_out_name(rows, name)] = [by_group[group] for group in shown]
    clusters(axes, [group.removesuffix("PolypDB") for group in shown], pairs)
    return by_method({name: max(height for height, _ in pairs[name]) for name in pairs})


def has_unseen(results: Results) -> bool:
    """Whether it is known which images the network was trained on."""
    return bool(unseen_settings(results.rows))
