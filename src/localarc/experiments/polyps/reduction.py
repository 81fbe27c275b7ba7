"""Features: fewer numbers a picture, and the same neighbours.

The features carry the localization. Their coordinates after a principal component analysis have
very different spreads, and that is the information: rescale them, and every picture is as far from
every other. So there is an orthogonal projection here, and no scaling after it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localarc.validation import FloatArray, IntArray

DIMENSIONS = 64


@dataclass(frozen=True, eq=False)
class Projection:
    """Onto the principal axes of some rows, with `scale` applied before, never after."""

    mean: FloatArray
    scale: FloatArray
    axes: FloatArray

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Coordinates along the axes, (n, d)."""
        return np.asarray((rows - self.mean) / self.scale @ self.axes.T)


def projection(rows: FloatArray, dimensions: int, standardise: bool = False) -> Projection:
    """Principal axes of rows, centred and, if asked, standardised first; fewer if rank is short."""
    mean = rows.mean(axis=0)
    spread = rows.std(axis=0) if standardise else np.ones(rows.shape[1])
    scale = np.where(spread > 0, spread, 1.0)
    _, _, axes = np.linalg.svd((rows - mean) / scale, full_matrices=False)
    largest = np.abs(axes).argmax(axis=1)  # the sign of an axis is free: let this entry be positive
    signs = np.sign(axes[np.arange(len(axes)), largest])
    return Projection(mean, scale, (axes * signs[:, None])[:dimensions])


@dataclass(frozen=True, eq=False)
class UnitBox:
    """Each coordinate from its smallest to its largest value among some rows, to [0, 1]."""

    low: FloatArray
    extent: FloatArray

    @classmethod
    def around(cls, rows: FloatArray) -> UnitBox:
        """The box that just holds these rows."""
        low = rows.min(axis=0)
        extent = rows.max(axis=0) - low
        return cls(low, np.where(extent > 0, extent, 1.0))

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Coordinates in the box; rows outside it come out below 0 or above 1."""
        return np.asarray((rows - self.low) / self.extent)


def neighbour_accuracy(features: FloatArray, labels: IntArray, neighbours: int = 10) -> float:
    """How often the nearest other rows' majority has the row's label: do features tell sources?"""
    square = (features**2).sum(axis=1)
    distance = square[:, None] + square[None] - 2 * features @ features.T
    np.fill_diagonal(distance, np.inf)
    nearest = np.argpartition(distance, neighbours, axis=1)[:, :neighbours]
    votes = (labels[nearest][:, :, None] == np.arange(labels.max() + 1)).sum(axis=1)
    return float((votes.argmax(axis=1) == labels).mean())
