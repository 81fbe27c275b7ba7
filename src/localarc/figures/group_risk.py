"""Risk per group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from localarc.figures.bars import group_bars
from localarc.figures.findings import by_method
from localarc.figures.frame import frame, legend, target_line
from localarc.running.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def group_risk(axes: Axes, records: Mapping[str, Record]) -> Axes:
    """Draw the mean loss per group with its standard error, and the target.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    records : mapping of str to Record
        Records by name of the method.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from localarc import ARC, replay
    >>> from localarc.streams import heteroscedastic
    >>> stream = heteroscedastic(100, seed=0)
    >>> record = replay(ARC(alpha=0.1), stream.X, stream.curves, stream.groups)
    >>> group_risk(Figure().subplots(), {"ARC": record}).get_ylabel()
    'mean loss'
    """
    target_line(axes, next(iter(records.values())).alpha)
    highest, note = group_bars(axes, records, lambda row: (row.risk, row.standard_error))
    axes.set_ylim(bottom=0.0)
    title = f"Highest risk of a group: {by_method(highest)}{note}"
    return legend(frame(axes, title, "", "mean loss"))
