"""Dimension reduction of features, which preserves distances between pictures.

Localization depends on the features. Their principal components have very different spreads, and
these carry the information: after rescaling, all pictures are about equally far from each other. So
the projection is orthogonal, and nothing is scaled after it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from localarc.validation import FloatArray, IntArray

DIMENSIONS = 64


@dataclass(frozen=True, eq=False)
class Projection:
    """A projection onto principal axes, with `scale` applied before, never after."""

    mean: FloatArray
    scale: FloatArray
    axes: FloatArray

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return coordinates along the axes, (n, d)."""
        return np.asarray((rows - self.mean) / self.scale @ self.axes.T)


def projection(rows: FloatArray, dimensions: int, standardise: bool = False) -> Projection:
    """Fit principal axes to centred rows, optionally standardised; at most as many as the rank."""
    mean = rows.mean(axis=0)
    spread = rows.std(axis=0) if standardise else np.ones(rows.shape[1])
    scale = np.where(spread > 0, spread, 1.0)
    _, _, axes = np.linalg.svd((rows - mean) / scale, full_matrices=False)
    largest = np.abs(axes).argmax(
        axis=1
    )  # the sign of an axis is arbitrary: make this entry positive
    signs = np.sign(axes[np.arange(len(axes)), largest])
    return Projection(mean, scale, (axes * signs[:, None])[:dimensions])


@dataclass(frozen=True, eq=False)
class UnitBox:
    """Min-max scaling: maps the range of each coordinate among some rows to [0, 1]."""

    low: FloatArray
    extent: FloatArray

    @classmethod
    def around(cls, rows: FloatArray) -> UnitBox:
        """Return the smallest box that contains these rows."""
        low = rows.min(axis=0)
        extent = rows.max(axis=0) - low
        return cls(low, np.where(extent > 0, extent, 1.0))

    def __call__(self, rows: FloatArray) -> FloatArray:
        """Return coordinates in the box; rows outside it are below 0 or above 1."""
        return np.asarray((rows - self.low) / self.extent)


def neighbour_accuracy(features: FloatArray, labels: IntArray, neighbours: int = 10) -> float:
    """Return the accuracy of a majority vote among the nearest neighbours."""
    square = (features**2).sum(axis=1)
    distance = square[:, None] + square[None] - 2 * features @ features.T
    np.fill_diagonal(distance, np.inf)
    nearest = np.argpartition(distance, neighbours, axis=1)[:, :neighbours]
    votes = (labels[nearest][:, :, None] == np.arange(labels.max() + 1)).sum(axis=1)
    return float((votes.argmax(axis=1) == labels).mean())
