"""Hats: the places on which AutoLARC keeps its sums."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from localarc.figures.frame import frame
from localarc.figures.palette import INK, METHODS

POINT = np.array([0.62, 0.34])


def draw(path: Path) -> None:
    figure = Figure(figsize=(10.0, 4.0), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[1.5, 1.0])
    _levels(left)
    _simplex(right)
    figure.savefig(path, dpi=160)


def _levels(axes: Axes) -> None:
    """Three levels of hats over one feature, with the two of each that a point is under."""
    grid = np.linspace(0.0, 1.0, 1001)
    x = 0.62
    for level, offset in enumerate((0.02, 0.77, 0.24)):
        width = 0.5**level / 1.25
        bottom = 1.2 * (2 - level)
        nodes = (np.arange(-3, 12) + offset) * width
        for node in nodes:
            hat = np.maximum(0.0, 1.0 - np.abs(grid - node) / width)
            near = abs(x - node) < width
            axes.plot(grid, bottom + hat, color=METHODS["AutoLARC"] if near else "0.8", lw=1.4)
            if near:
                weight = 1.0 - abs(x - node) / width
                axes.plot(x, bottom + weight, "o", color=INK, ms=4)
                axes.annotate(
                    f"{weight:.2f}",
                    (x, bottom + weight),
                    (6, -3),
                    textcoords="offset points",
                    fontsize=9,
                )
        axes.text(-0.02, bottom + 0.4, f"level {level}", ha="right", fontsize=9, color=INK)
    axes.axvline(x, color=INK, lw=0.8, ls=":")
    axes.set_xlim(0.0, 1.0)
    axes.set_yticks([])
    frame(axes, "One feature: two hats per level, weights add up to 1", "feature", "")


def _simplex(axes: Axes) -> None:
    """Kuhn's triangulation of the cells of one level, and the three nodes of a point."""
    for k in range(4):
        axes.plot([k, k], [0, 3], color="0.8", lw=1)
        axes.plot([0, 3], [k, k], color="0.8", lw=1)
    for i in range(3):
        for j in range(3):
            axes.plot([i, i + 1], [j, j + 1], color="0.8", lw=1)
    point = 1.0 + POINT
    for corner, weight in corners(POINT):
        at = 1.0 + corner
        axes.plot(*np.stack([point, at], axis=1), color=METHODS["AutoLARC"], lw=1)
        axes.plot(*at, "o", color=METHODS["AutoLARC"], ms=6 + 16 * weight, alpha=0.7)
        away = 24.0 * (at - point) / np.linalg.norm(at - point) - [10.0, 4.0]
        axes.annotate(f"{weight:.2f}", at, away, textcoords="offset points", fontsize=9)
    axes.plot(*point, "x", color=INK, ms=8)
    axes.set_aspect("equal")
    frame(
        axes, "Two features: three joint hats per level", "feature 1 (cells)", "feature 2 (cells)"
    )


def corners(fractions: Any) -> list[tuple[Any, float]]:
    """The d + 1 corners of the simplex that a point of the unit cube is in, and its weights.

    >>> [weight for _, weight in corners(np.array([0.75, 0.5]))]
    [0.25, 0.25, 0.5]
    """
    order = np.argsort(-fractions)
    sorted_fractions = np.concatenate([[1.0], fractions[order], [0.0]])
    corner = np.zeros(len(fractions))
    found = []
    for k, weight in enumerate(-np.diff(sorted_fractions)):
        found.append((corner.copy(), float(weight)))
        if k < len(fractions):
            corner[order[k]] = 1.0
    return found
