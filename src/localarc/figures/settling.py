"""Settling: the round from which each method's mean loss stays near the target."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.figures.frame import frame, plain
from localarc.figures.palette import FAINT, colours
from localarc.validation import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def settling(
    axes: Axes, running: Mapping[str, ArrayLike], alpha: float, within: float, round_name: str
) -> Axes:
    """Draw from which round on the mean loss of each method stays within a distance of the target.

    Curves of many methods that all reach the target lie on one another; their settling times
    differ visibly. A method that has not settled by the last round is hollow.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    running : mapping of str to array_like of float, shape (n,)
        The mean loss up to each round, by name of the method; see `measures.running_risk`.
    alpha : float
        Target risk.
    within : float
        The distance from the target that counts as near.
    round_name : str
        What a round is, for the axis, such as "half-hour".

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> means = {"ARC": [1.0, 0.5, 0.1], "AutoLARC": [1.0, 0.11, 0.09]}
    >>> settling(Figure((10, 4)).subplots(), means, 0.1, 0.02, "round").get_title(loc="left")
    'From round 3 on, every mean loss is within 0.02 of the target 0.1'
    """
    curves = {name: validation.numbers(name, values) for name, values in running.items()}
    first = {name: _settled(values, alpha, within) for name, values in curves.items()}
    colour = colours(curves)
    last = max(len(values) for values in curves.values())
    for height, (name, at) in enumerate(first.items()):
        settled = at <= len(curves[name])
        face = colour[name] if settled else "white"
        axes.plot([at, last], [height, height], color=colour[name], linewidth=1.2, alpha=0.4)
        axes.plot(at, height, "o", color=colour[name], markerfacecolor=face, markersize=7)
    axes.set_yticks(range(len(first)), [plain(name) for name in first])
    axes.set_ylim(len(first) - 0.5, -0.5)
    axes.set_xscale("log")
    axes.set_xlim(1, 1.3 * last)
    axes.grid(axis="x", color=FAINT, alpha=0.3, linewidth=0.6)
    frame(axes, _finding(first, last, alpha, within, round_name), f"{round_name} (log scale)", "")
    return axes


def _settled(values: FloatArray, alpha: float, within: float) -> int:
    """Return the first round, counted from 1, after which no mean is farther away."""
    far = np.flatnonzero(np.abs(values - alpha) > within * (1.0 + 1e-12))
    return int(far[-1]) + 2 if len(far) else 1


def _finding(first: Mapping[str, int], last: int, alpha: float, within: float, what: str) -> str:
    near = f"within {within:g} of the target {alpha:g}"
    if max(first.values()) <= last:
        return f"From {what} {max(first.values()):,} on, every mean loss is {near}"
    settled = sum(at <= last for at in first.values())
    return f"{settled} of {len(first)} mean losses are {near} after {last:,} rounds"
