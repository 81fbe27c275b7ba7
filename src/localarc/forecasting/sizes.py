"""Sizes: how large bands are beside those of a quantile of the same scores."""

from __future__ import annotations

import math

import numpy as np

from localarc.running.size_ratio import conformal_quantiles, ratio_of_means
from localarc.validation import FloatArray, IntArray

SERIES = 16  # the first ones are looked at
ROWS = 2048  # their latest


class SizeSample:
    """The latest scores of some series, and the thresholds that they were given.

    Parameters
    ----------
    levels : int
        How many thresholds a score has.
    rows : array of shape (n, 2 + levels), optional
        The series, score and thresholds of each round so far.
    """

    def __init__(self, levels: int, rows: FloatArray | None = None) -> None:
        self._levels = levels
        self.rows = np.empty((0, 2 + levels)) if rows is None else rows

    def add(
        self, series: IntArray | FloatArray, scores: FloatArray, thresholds: FloatArray
    ) -> SizeSample:
        """These and further rounds; rounds without a finite score or threshold are left out."""
        kept = (series < SERIES) & np.isfinite(scores) & np.isfinite(thresholds).all(axis=1)
        if not kept.any():
            return self
        new = np.column_stack([series, scores, thresholds])[kept]
        return SizeSample(self._levels, np.concatenate([self.rows, new])[-ROWS:])

    def ratio(self, level: int, alpha: float) -> float:
        """How many times as large bands are as those of each series' quantile; NaN if unknown.

        Thresholds are measured from the lower of two quantiles, in units of their distance:
        neither the origin nor the unit of a series' scores matters.
        """
        relative = [np.empty(0)]
        for series in np.unique(self.rows[:, 0]):
            own = self.rows[self.rows[:, 0] == series]
            low, high = conformal_quantiles(own[:, 1], 1.0 - alpha)
            if math.isfinite(high) and high > low:
                relative.append((own[:, 2 + level] - low) / (high - low))
        sizes = np.concatenate(relative)
        return ratio_of_means(sizes, np.ones(len(sizes)))

    def restore(self, rows: FloatArray) -> SizeSample:
        """Stored rounds; ValueError if no run leaves them there."""
        if rows.ndim != 2 or rows.shape[1] != 2 + self._levels or len(rows) > ROWS:
            raise ValueError("its sample of sizes has another shape")
        series = rows[:, 0]
        if not np.isfinite(rows).all() or ((series % 1.0 != 0) | (series < 0)).any():
            raise ValueError("its sample of sizes makes no sense")
        if (series >= SERIES).any():
            raise ValueError("its sample of sizes makes no sense")
        return SizeSample(self._levels, rows.copy())
