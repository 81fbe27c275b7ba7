"""Threshold map: the threshold as a function of the input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.figures.frame import frame, short
from localarc.figures.palette import FAINT, INK, colours
from localarc.validation import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 60


def threshold_map(
    axes: Axes,
    X: ArrayLike,
    thresholds: ArrayLike,
    features: Sequence[str] = (),
    name: str = "L-ARC",
) -> Axes:
    """Draw the mean threshold over the first two features, or over the only one.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    X : array_like of float, shape (n, d)
        Inputs; features after the second are averaged over.
    thresholds : array_like of float, shape (n,)
        Threshold at each input; infinite ones, of full sets, are left out.
    features : sequence of str, optional
        Names of the features. Default: x1, x2, ...
    name : str, default "L-ARC"
        Name of the method.

    Returns
    -------
    matplotlib.axes.Axes
        The same axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> threshold_map(Figure().subplots(), [0.0, 1.0], [0.5, 0.7], ["hour"]).get_xlabel()
    'hour'
    """
    points, values = validation.points(X), validation.thresholds(thresholds)
    finite = np.isfinite(values)
    if not finite.any():
        raise ValueError("thresholds must have a finite one, got none: all sets are the full one.")
    points, values = points[finite], values[finite]
    labels = [*features, *(f"x{j + 1}" for j in range(len(features), points.shape[1]))]
    if points.shape[1] == 1:
        x, y = _means(points[:, 0], values)
        axes.plot(x, y, color=colours([name])[name], linewidth=1.8)
        return frame(axes, _finding(name, y, labels[:1]), labels[0], "threshold")
    cells = int(np.clip(np.sqrt(len(points)) / 3, 5, 24))
    mesh = axes.hexbin(
        points[:, 0], points[:, 1], C=values, gridsize=cells, cmap="viridis", edgecolors="face"
    )
    bar = axes.figure.colorbar(mesh, ax=axes)
    bar.set_label("threshold", color=INK)
    bar.ax.tick_params(color=FAINT, labelcolor=INK)
    bar.outline.set_visible(False)
    means = np.asarray(mesh.get_array(), dtype=np.float64)
    return frame(axes, _finding(name, means, labels[:2]), labels[0], labels[1])


def _finding(name: str, means: FloatArray, features: Sequence[str]) -> str:
    """Return the range of the thresholds drawn, as the title."""
    by = " and ".join(short(feature, 14) for feature in features)
    return f"{short(name)}: thresholds {means.min():.3g} to {means.max():.3g}, by {by}"


def _means(x: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return means in up to 60 bins with equal numbers of inputs."""
    order = np.argsort(x, kind="stable")
    parts = np.array_split(order, min(_BINS, len(order)))
    return np.array([x[p].mean() for p in parts]), np.array([values[p].mean() for p in parts])
