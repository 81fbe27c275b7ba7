"""Cells: the area in squares, and what was measured in each of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from localarc.validation import FloatArray, IntArray

Area = tuple[tuple[float, float], tuple[float, float]]
"""A rectangle on the ground: the range of x, and the range of y."""


@dataclass(frozen=True)
class Cells:
    """Squares that cover an area, row by row from the south; each user is in exactly one.

    A cell holds its western and southern edges; the area's last edges belong to the last cells.

    >>> Cells(((0.0, 20.0), (0.0, 10.0)), side=10.0).counts(np.array([[0.0, 1.0], [20.0, 10.0]]))
    array([[1, 1]])
    """

    area: Area
    side: float

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows there are, and how many columns."""
        (west, east), (south, north) = self.area
        return math.ceil((north - south) / self.side), math.ceil((east - west) / self.side)

    def of(self, places: FloatArray) -> IntArray:
        """The number of each user's cell."""
        (west, east), (south, north) = self.area
        x, y = places[:, 0], places[:, 1]
        outside = (x < west) | (x > east) | (y < south) | (y > north)
        if outside.any():
            raise ValueError(
                f"user {int(np.argmax(outside))} at {places[np.argmax(outside)]} is outside of the "
                f"area, x {west:g} to {east:g} and y {south:g} to {north:g}: no cell holds it."
            )
        rows, columns = self.shape
        row = np.minimum((y - south) // self.side, rows - 1).astype(np.int64)
        column = np.minimum((x - west) // self.side, columns - 1).astype(np.int64)
        return np.asarray(row * columns + column)

    def counts(self, places: FloatArray) -> IntArray:
        """How many users each cell has, (rows, columns)."""
        return np.bincount(self.of(places), minlength=math.prod(self.shape)).reshape(self.shape)

    def sums(self, places: FloatArray, values: FloatArray) -> FloatArray:
        """The sum of a value over the users of each cell, (rows, columns)."""
        sums = np.bincount(self.of(places), values, math.prod(self.shape))
        return np.asarray(sums, dtype=np.float64).reshape(self.shape)

    def centres(self) -> FloatArray:
        """The middle of each cell, (cells, 2), in the order of their numbers."""
        (west, _), (south, _) = self.area
        rows, columns = self.shape
        y, x = np.meshgrid(np.arange(rows) + 0.5, np.arange(columns) + 0.5, indexing="ij")
        corner = np.array([west, south])
        return np.asarray(corner + self.side * np.column_stack([x.reshape(-1), y.reshape(-1)]))


def means(sums: FloatArray, counts: IntArray, least: int = 1) -> FloatArray:
    """The mean in each cell, NaN where there are fewer users than `least`."""
    enough = counts >= max(least, 1)
    return np.where(enough, sums / np.maximum(counts, 1), np.nan)
