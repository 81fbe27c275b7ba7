"""Set size by group: what the promise costs, and whom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from localarc.figures.bars import group_bars
from localarc.figures.frame import frame, legend
from localarc.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def group_size(axes: Axes, records: Mapping[str, Record]) -> Axes:
    """The mean set size of each group with its standard error."""
    left_out = group_bars(axes, records, lambda row: (row.size, row.size_standard_error))
    axes.set_ylim(bottom=0.0)
    title = "Set size by group" + (f" (highest risk, {left_out} left out)" if left_out else "")
    return legend(frame(axes, title, "", "mean set size"))
