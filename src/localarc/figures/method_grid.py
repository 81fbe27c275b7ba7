"""Methods by streams: one number in each cell, on a colour that says how far it is from ideal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from localarc.figures.frame import frame, plain
from localarc.figures.palette import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOW, _MIDDLE, _HIGH = "#0077bb", "#ffffff", "#cc3311"
_NONE = "#e4e6ea"
_DARK = 0.65  # of the range, from which text is white


def method_grid(
    axes: Axes,
    values: Mapping[str, Mapping[str, float]],
    title: str,
    ideal: float,
    span: float,
) -> Axes:
    """Draw a table of numbers, blue below the ideal and red above it.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    values : mapping of str to mapping of str to float
        A row for each method: numbers by stream. Missing and unknown numbers are grey.
    title : str
        What the numbers are.
    ideal : float
        The number that is white.
    span : float
        The distance from the ideal at which colours are fullest.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> values = {"ARC": {"flights": 1.2}, "AutoLARC": {"flights": 0.1}}
    >>> axes = method_grid(Figure().subplots(), values, "excess", ideal=0.0, span=2.0)
    >>> [label.get_text() for label in axes.get_yticklabels()]
    ['ARC', 'AutoLARC']
    """
    from matplotlib.colors import LinearSegmentedColormap

    streams = list(dict.fromkeys(stream for row in values.values() for stream in row))
    numbers = np.array([[row.get(s, math.nan) for s in streams] for row in values.values()])
    away = np.clip((numbers - ideal) / span, -1.0, 1.0)
    shades = LinearSegmentedColormap.from_list("away", [_LOW, _MIDDLE, _HIGH]).with_extremes(
        bad=_NONE
    )
    axes.imshow(away, cmap=shades, vmin=-1.0, vmax=1.0, aspect="auto")
    for (i, j), number in np.ndenumerate(numbers):
        colour = "white" if abs(away[i, j]) > _DARK else INK
        axes.text(j, i, _text(number), ha="center", va="center", fontsize=8, color=colour)
    _label(axes, list(values), streams)
    return frame(axes, title, "", "")


def _label(axes: Axes, methods: Sequence[str], streams: Sequence[str]) -> None:
    axes.set_xticks(range(len(streams)), [plain(s) for s in streams], rotation=60, ha="right")
    axes.set_yticks(range(len(methods)), [plain(method, 32) for method in methods])
    axes.tick_params(labelsize=9, length=0)


def _text(number: float) -> str:
    """A number in as many characters as fit a cell.

    >>> _text(0.3456), _text(12.3), _text(4e6), _text(math.nan)
    ('0.35', '12', '>999', '')
    """
    if math.isnan(number):
        return ""
    if abs(number) >= 999.5:
        return ">999"
    return f"{number:.2f}" if abs(number) < 9.995 else f"{number:.0f}"
