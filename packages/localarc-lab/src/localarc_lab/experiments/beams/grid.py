"""The grid: square cells of the area, with counts, sums and means per cell."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from localarc.validation import FloatArray, IntArray

Area = tuple[tuple[float, float], tuple[float, float]]
"""A rectangle on the ground: the range of x, and the range of y."""


@dataclass(frozen=True)
class Grid:
    """Square cells that cover an area, row by row from the south; each user is in exactly one.

    A cell includes its western and southern edges; the last cells include the area's other edges.

    >>> Grid(((0.0, 20.0), (0.0, 10.0)), side=10.0).counts(np.array([[0.0, 1.0], [20.0, 10.0]]))
    array([[1, 1]])
    """

    area: Area
    side: float

    @property
    def shape(self) -> tuple[int, int]:
        """The numbers of rows and columns."""
        (west, east), (south, north) = self.area
        return math.ceil((north - south) / self.side), math.ceil((east - west) / self.side)

    def cell_of(self, positions: FloatArray) -> IntArray:
        """Return the number of each user's cell."""
        (west, east), (south, north) = self.area
        x, y = positions[:, 0], positions[:, 1]
        outside = (x < west) | (x > east) | (y < south) | (y > north)
        if outside.any():
            raise ValueError(
                f"user {int(np.argmax(outside))} at {positions[np.argmax(outside)]} is outside "
                f"the area, x {west:g} to {east:g} and y {south:g} to {north:g}."
            )
        rows, columns = self.shape
        row = np.minimum((y - south) // self.side, rows - 1).astype(np.int64)
        column = np.minimum((x - west) // self.side, columns - 1).astype(np.int64)
        return np.asarray(row * columns + column)

    def counts(self, positions: FloatArray) -> IntArray:
        """Return the number of users in each cell, (rows, columns)."""
        return np.bincount(self.cell_of(positions), minlength=math.prod(self.shape)).reshape(
            self.shape
        )

    def sums(self, positions: FloatArray, values: FloatArray) -> FloatArray:
        """Return the sum of a value over the users of each cell, (rows, columns)."""
        sums = np.bincount(self.cell_of(positions), values, math.prod(self.shape))
        return np.asarray(sums, dtype=np.float64).reshape(self.shape)

    def centres(self) -> FloatArray:
        """Return the middle of each cell, (cells, 2), in the order of their numbers."""
        (west, _), (south, _) = self.area
        rows, columns = self.shape
        y, x = np.meshgrid(np.arange(rows) + 0.5, np.arange(columns) + 0.5, indexing="ij")
        corner = np.array([west, south])
        return np.asarray(corner + self.side * np.column_stack([x.reshape(-1), y.reshape(-1)]))


def means(sums: FloatArray, counts: IntArray, min_count: int = 1) -> FloatArray:
    """Return the mean in each cell, NaN where it has fewer than `min_count` users."""
    enough = counts >= max(min_count, 1)
    return np.where(enough, sums / np.maximum(counts, 1), np.nan)
