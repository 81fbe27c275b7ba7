"""Risk by group: who pays for the average?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from localarc.figures.bars import group_bars
from localarc.figures.frame import frame, legend, target_line
from localarc.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def group_risk(axes: Axes, records: Mapping[str, Record]) -> Axes:
    """The mean loss of each group with its standard error, beside the target."""
    target_line(axes, next(iter(records.values())).alpha)
    left_out = group_bars(axes, records, lambda row: (row.risk, row.standard_error))
    axes.set_ylim(bottom=0.0)
    title = "Risk by group" + (f" (the worst, {left_out} left out)" if left_out else "")
    return legend(frame(axes, title, "", "mean loss"))
