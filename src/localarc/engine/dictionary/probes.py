"""Probes: points where the exact sum is kept, to measure the error that flushes make.

A probe reflects one point in another, so it lies where future points are likely: the error is
largest where there is no atom yet. Half of the probes stay from the first flush on; the others are
replaced in turn, one per flush, and measure the error since then.
"""

from collections.abc import Callable

import numpy as np

from localarc.engine.tiles import TILE, FloatArray

PROBES = 32


class Probes:
    """`truths` are the exact sums at `points`, and, last, the sum of all residuals' norms."""

    def __init__(self, dimensions: int) -> None:
        self.points = np.zeros((PROBES, dimensions))
        self.truths = np.zeros(PROBES + 1)
        self.flushes = 0

    def before(self, points: FloatArray, buffered: Callable[[FloatArray], FloatArray]) -> None:
        """Before the buffer of `points` is flushed: add its exact sum to the truths."""
        if self.flushes == 0:
            some = np.arange(PROBES) * (TILE // PROBES)
            self.points[:] = 2.0 * points[some] - points[some - TILE // 2]
        self.truths[:-1] += buffered(self.points)

    def after(
        self, points: FloatArray, flushed: Callable[[FloatArray], FloatArray], norm: float
    ) -> float:
        """Return the largest deviation at a probe, and replace one probe."""
        largest = np.abs(self.truths[:-1] - flushed(self.points)).max()
        turn = PROBES // 2 + self.flushes % (PROBES // 2)
        self.points[turn] = 2.0 * points[-1] - points[TILE // 2 - 1]
        self.truths[turn] = flushed(self.points[turn : turn + 1])[0]
        self.truths[-1] += norm
        self.flushes += 1
        return float(largest)
