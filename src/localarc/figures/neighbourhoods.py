"""Worst neighbourhoods: where the promise fails, or comes closest to failing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.figures.frame import frame, legend, plain, target_line
from localarc.figures.palette import FAINT, INK, colours
from localarc.metrics import Neighbourhood

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
    """The worst places among the inputs on the first two features, numbered, with their risk.

    With one feature, the risk of each place with two standard errors, beside the target.
    """
    points = validation.points(X)
    labels = [*features, *(f"x{j + 1}" for j in range(len(features), points.shape[1]))]
    colour = colours([name])[name]
    if points.shape[1] == 1:
        places = [float(each.centre[0]) for each in worst]
        errors = [2 * each.standard_error for each in worst]
        risks = [each.risk for each in worst]
        axes.errorbar(places, risks, errors, fmt="o", color=colour, label=plain(name), capsize=3)
        target_line(axes, alpha)
        axes.set_ylim(bottom=0.0)
        title = f"Worst neighbourhoods, {name}"
        return legend(frame(axes, title, labels[0], "risk nearby"))
    some = points[np.linspace(0, len(points) - 1, min(len(points), _DOTS)).astype(int)]
    axes.scatter(some[:, 0], some[:, 1], s=4, color=FAINT, alpha=0.35, linewidths=0)
    for rank, each in enumerate(worst, start=1):
        x, y = float(each.centre[0]), float(each.centre[1])
        axes.plot(x, y, "o", color=colour, markersize=15, markeredgecolor="white")
        axes.annotate(str(rank), (x, y), color="white", ha="center", va="center", weight="bold")
    axes.text(
        0.0, -0.2, _key(worst, alpha), transform=axes.transAxes, color=INK, va="top", fontsize=9
    )
    return frame(axes, f"Worst neighbourhoods, {name}", labels[0], labels[1])


def _key(worst: Sequence[Neighbourhood], alpha: float) -> str:
    risks = ",  ".join(f"{rank}: {each.risk:.3f}" for rank, each in enumerate(worst, start=1))
    return f"risk nearby:  {risks}  (target {alpha:g})"
