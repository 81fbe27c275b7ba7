"""Threshold over time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from localarc.figures.findings import by_method
from localarc.figures.frame import frame, legend, plain
from localarc.figures.palette import colours
from localarc.running.record import Record
from localarc.validation import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SEGMENTS = 60


def threshold_over_time(axes: Axes, records: Mapping[str, Record]) -> Axes:
    """Draw the thresholds of each method over time.

    A long stream is divided into up to 60 segments; the figure shows their medians and the range of
    their middle 80 %.

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
    >>> threshold_over_time(Figure().subplots(), {"ARC": record}).get_ylabel()
    'threshold'
    """
    segment, final = 1, {}
    for name, record in records.items():
        segment = max(segment, -(-len(record) // _SEGMENTS))
        rounds, (low, middle, high) = _segments(record.thresholds, -(-len(record) // _SEGMENTS))
        colour, final[name] = colours(records)[name], float(middle[-1])
        axes.plot(rounds, middle, color=colour, linewidth=1.8, label=plain(name))
        if (high > low).any():
            axes.fill_between(rounds, low, high, color=colour, alpha=0.18, linewidth=0)
    axes.set_xlim(1, max(2, *(len(record) for record in records.values())))
    what = f"round (median and middle 80 % of {segment} rounds)" if segment > 1 else "round"
    title = f"Threshold at the end: {by_method(final, '.3g')}"
    return legend(frame(axes, title, what, "threshold"))


def _segments(values: FloatArray, length: int) -> tuple[IntArray, FloatArray]:
    """Return the middle round of each segment, and three quantiles of its values."""
    starts = np.arange(0, len(values), max(1, length))
    parts = np.split(values, starts[1:])
    quantiles = np.array([_quantiles(part[np.isfinite(part)]) for part in parts]).T
    middles = starts + np.array([len(part) for part in parts]) // 2
    return middles + 1, quantiles


def _quantiles(values: FloatArray) -> FloatArray:
    """Return three quantiles, NaN where every threshold was infinite."""
    return np.quantile(values, [0.1, 0.5, 0.9]) if len(values) else np.full(3, np.nan)
