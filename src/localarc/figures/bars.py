"""Grouped bar charts: one cluster per group, one bar per method."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from localarc.figures.frame import plain
from localarc.figures.palette import INK, colours
from localarc.measures import GroupRisk, group_risk
from localarc.running.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_GROUPS = 12
"""Number of groups that fit; if there are more, those with the highest risk are shown."""


def group_bars(
    axes: Axes, records: Mapping[str, Record], value: Callable[[GroupRisk], tuple[float, float]]
) -> tuple[dict[str, float], str]:
    """Draw a value and its standard error per group, from the lowest to the highest risk.

    Returns the highest value of each method, and a note if groups were omitted.
    """
    rows = {name: _rows(record) for name, record in records.items()}
    groups = list(dict.fromkeys(group for by_group in rows.values() for group in by_group))
    groups.sort(key=lambda g: max(by[g].risk for by in rows.values() if g in by))
    shown = groups[-MAX_GROUPS:]
    pairs = {
        name: [value(by_group[g]) if g in by_group else (np.nan, np.nan) for g in shown]
        for name, by_group in rows.items()
    }
    clusters(axes, shown, pairs)
    highest = {name: max(value(row)[0] for row in by.values()) for name, by in rows.items()}
    omitted = len(groups) - len(shown)
    return highest, f" ({omitted} groups with lower risk omitted)" if omitted else ""


def clusters(
    axes: Axes, groups: Sequence[str], pairs: Mapping[str, Sequence[tuple[float, float]]]
) -> None:
    """Draw one cluster per group from (height, error) pairs in the order of groups."""
    width = 0.8 / len(pairs)
    for i, (name, values) in enumerate(pairs.items()):
        heights, errors = np.array(values).T
        axes.bar(
            np.arange(len(groups)) + (i - (len(pairs) - 1) / 2) * width,
            heights,
            width * 0.92,
            yerr=np.nan_to_num(errors),
            color=colours(pairs)[name],
            ecolor=INK,
            error_kw={"elinewidth": 1.0, "capsize": min(2.5, 12 * width)},
            label=plain(name),
        )
    labels = [plain(group, 16) for group in groups]
    axes.set_xticks(np.arange(len(groups)), labels)
    if sum(map(len, labels)) > 36:
        axes.tick_params(axis="x", labelrotation=35)
        for label in axes.get_xticklabels():
            label.set(ha="right", rotation_mode="anchor")


def _rows(record: Record) -> dict[str, GroupRisk]:
    """Return risks by group; all rounds are one group if the record has none."""
    groups = record.groups or ("all rounds",) * len(record)
    return {str(row.group): row for row in group_risk(record.losses, groups, record.sizes)}
