"""Set size per group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from localarc.figures.bars import group_bars
from localarc.figures.findings import by_method
from localarc.figures.frame import frame, legend
from localarc.running.record import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def group_size(axes: Axes, records: Mapping[str, Record]) -> Axes:
    """Draw the mean set size per group with its standard error.

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
    >>> group_size(Figure().subplots(), {"ARC": record}).get_ylabel()
    'mean set size'
    """
    _, note = group_bars(axes, records, lambda row: (row.size, row.size_standard_error))
    axes.set_ylim(bottom=0.0)
    means = {name: record.mean_size for name, record in records.items()}
    left_out = {name: record.unbounded for name, record in records.items() if record.unbounded}
    note += f"; unbounded rounds: {by_method(left_out, ',')}" if left_out else ""
    title = f"Mean set size: {by_method(means, '.3g')}{note}"
    return legend(frame(axes, title, "", "mean set size"))
