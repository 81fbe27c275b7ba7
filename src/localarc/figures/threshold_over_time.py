"""Threshold over time: where it settles, and how it follows a change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from localarc.figures.frame import frame, legend, plain
from localarc.figures.palette import colours
from localarc.record import Record
from localarc.validation import FloatArray, IntArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PIECES = 60


def threshold_over_time(axes: Axes, records: Mapping[str, Record]) -> Axes:
    """The thresholds of each method; of a long stream, the median and middle 80 % of pieces."""
    piece = 1
    for name, record in records.items():
        piece = max(piece, -(-len(record) // _PIECES))
        rounds, (low, middle, high) = _pieces(record.thresholds, -(-len(record) // _PIECES))
        colour = colours(records)[name]
        axes.plot(rounds, middle, color=colour, linewidth=1.8, label=plain(name))
        if (high > low).any():
            axes.fill_between(rounds, low, high, color=colour, alpha=0.18, linewidth=0)
    axes.set_xlim(1, max(2, *(len(record) for record in records.values())))
    what = f"round (median and middle 80 % of each {piece})" if piece > 1 else "round"
    return legend(frame(axes, "Threshold over time", what, "threshold"))


def _pieces(values: FloatArray, length: int) -> tuple[IntArray, FloatArray]:
    """The middle round of each piece of so many rounds, and three quantiles of its values."""
    starts = np.arange(0, len(values), max(1, length))
    parts = np.split(values, starts[1:])
    quantiles = np.array([np.quantile(part, [0.1, 0.5, 0.9]) for part in parts]).T
    middles = starts + np.array([len(part) for part in parts]) // 2
    return middles + 1, quantiles
