"""Methods by set size and risk in the worst neighbourhood, which belong together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from localarc.figures.frame import frame, plain, short
from localarc.figures.palette import INK, colours

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABEL_HEIGHT = 0.045  # of the axes, per label


def method_trade_off(
    axes: Axes, points: Mapping[str, tuple[float, float, float]], alpha: float, y: str
) -> Axes:
    """Draw every method as a point with an error bar and its name beside it.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    points : mapping of str to (float, float, float)
        Mean set size, risk and standard error of the risk, by name of the method.
    alpha : float
        The target.
    y : str
        What the risk is, such as "risk in the worst neighbourhood".

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> points = {"ARC": (5.9, 0.31, 0.04), "AutoLARC": (6.2, 0.11, 0.02)}
    >>> method_trade_off(Figure().subplots(), points, 0.1, "worst risk").get_xlabel()
    'mean set size; bars: two standard errors'
    """
    colour = colours(points)
    for name, (size, risk, error) in points.items():
        axes.errorbar(size, risk, 2.0 * error, fmt="o", color=colour[name], ms=6, lw=1.2)
    sizes = [size for size, _, _ in points.values()]
    span = (max(sizes) - min(sizes)) or abs(max(sizes)) or 1.0
    left, right = min(sizes) - 0.08 * span, max(sizes) + 0.1 * span
    axes.set_xlim(left, max(sizes) + 0.55 * span)
    axes.set_xticks([tick for tick in axes.get_xticks() if left <= tick <= right])
    axes.plot([left, right], [alpha, alpha], color=INK, linestyle="--", linewidth=1.2)
    axes.text(left, alpha, f" target {alpha:g}", color=INK, fontsize=8, va="bottom")
    top = max([alpha, *(risk + 2.0 * error for _, risk, error in points.values())])
    axes.set_ylim(0.0, 1.08 * top)
    _labels(axes, points, colour, right, 1.08 * top)
    best = min(points, key=lambda name: points[name][1])
    title = f"Lowest risk: {short(best)} {points[best][1]:.3f}, mean set size {points[best][0]:.3g}"
    return frame(axes, title, "mean set size; bars: two standard errors", y)


def _labels(
    axes: Axes,
    points: Mapping[str, tuple[float, float, float]],
    colour: Mapping[str, str],
    x: float,
    top: float,
) -> None:
    """Write names in a column on the right, in the order of risks, with lines to their points."""
    order = sorted(points, key=lambda name: points[name][1])
    step = top * min(_LABEL_HEIGHT, 1.0 / len(order))
    heights: list[float] = []
    for name in order:
        wanted = points[name][1]
        heights.append(max(wanted, heights[-1] + step if heights else 0.0))
    excess = max(heights[-1] - top + step / 2.0, 0.0)
    for i in reversed(range(len(heights))):  # push back what ran over the top
        limit = heights[i + 1] - step if i + 1 < len(heights) else heights[i] - excess
        heights[i] = min(heights[i], limit)
    for name, height in zip(order, heights, strict=True):
        size, risk, _ = points[name]
        axes.plot([size, x], [risk, height], color=colour[name], lw=0.5, alpha=0.5)
        axes.text(x, height, f" {plain(name, 32)}", color=INK, fontsize=8, va="center")
