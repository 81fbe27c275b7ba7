"""Neighbourhoods with the highest risk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.figures.frame import frame, legend, plain, short, target_line
from localarc.figures.palette import FAINT, INK, colours
from localarc.measures import Neighbourhood

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DOTS = 1500


def neighbourhoods(
    axes: Axes,
    X: ArrayLike,
    worst: Sequence[Neighbourhood],
    alpha: float,
    features: Sequence[str] = (),
    name: str = "L-ARC",
) -> Axes:
    """Draw the worst neighbourhoods among the inputs, numbered, with their risks.

    The figure shows the first two features; with one feature, it shows the risk of each
    neighbourhood with two standard errors.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    X : array_like of float, shape (n, d)
        Input of each round.
    worst : sequence of Neighbourhood
        From `measures.worst_neighbourhoods`.
    alpha : float
        Target risk.
    features : sequence of str, optional
        Names of the features. Default: x1, x2, ...
    name : str, default "L-ARC"
        Name of the method, which determines the colour.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> place = Neighbourhood(np.array([0.9, 0.5]), 0.2, 0.01, 100.0)
    >>> neighbourhoods(Figure().subplots(), [[0.1, 0.2], [0.9, 0.5]], [place], 0.1).get_xlabel()
    'x1'
    """
    points = validation.points(X)
    labels = [*features, *(f"x{j + 1}" for j in range(len(features), points.shape[1]))]
    colour = colours([name])[name]
    if points.shape[1] == 1:
        centres = [float(place.centre[0]) for place in worst]
        errors = [2 * place.standard_error for place in worst]
        risks = [place.risk for place in worst]
        axes.errorbar(centres, risks, errors, fmt="o", color=colour, label=plain(name), capsize=3)
        target_line(axes, alpha)
        axes.set_ylim(bottom=0.0)
        return legend(frame(axes, _finding(name, worst, alpha), labels[0], "risk"))
    some = points[np.linspace(0, len(points) - 1, min(len(points), _DOTS)).astype(int)]
    axes.scatter(some[:, 0], some[:, 1], s=4, color=FAINT, alpha=0.35, linewidths=0)
    for rank, place in enumerate(worst, start=1):
        x, y = float(place.centre[0]), float(place.centre[1])
        axes.plot(x, y, "o", color=colour, markersize=15, markeredgecolor="white")
        axes.annotate(str(rank), (x, y), color="white", ha="center", va="center", weight="bold")
    axes.text(
        0.0, -0.2, _key(worst, alpha), transform=axes.transAxes, color=INK, va="top", fontsize=9
    )
    return frame(axes, _finding(name, worst, alpha), labels[0], labels[1])


def _finding(name: str, worst: Sequence[Neighbourhood], alpha: float) -> str:
    """Return the risk of the worst neighbourhood, as the title."""
    risk = max((place.risk for place in worst), default=float("nan"))
    return f"{short(name)}: risk {risk:.3f} in the worst neighbourhood (target {alpha:g})"


def _key(worst: Sequence[Neighbourhood], alpha: float) -> str:
    """Return the risks by number."""
    risks = ",  ".join(f"{rank}: {place.risk:.3f}" for rank, place in enumerate(worst, start=1))
    return f"risk:  {risks}  (target {alpha:g})"
