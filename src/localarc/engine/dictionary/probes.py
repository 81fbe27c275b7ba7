"""Probes: points where the exact sum is kept beside the dictionary's, to see what flushes lose.

A probe reflects one point in another, so it lies where points may yet come: most is lost where no
atom is yet. Half of the probes stay from the first flush; the others make way in turn, one a flush,
and count what was lost since they came.
"""

from collections.abc import Callable

import numpy as np

from localarc.engine.tiles import TILE, FloatArray

PROBES = 32


class Probes:
    """`truths` are the exact sums at `points`; its last entry adds up the norms of all losses."""

    def __init__(self, dimensions: int) -> None:
        self.points = np.zeros((PROBES, dimensions))
        self.truths = np.zeros(PROBES + 1)
        self.flushes = 0

    def before(self, points: FloatArray, buffered: Callable[[FloatArray], FloatArray]) -> None:
        """The buffer, full of `points`, is about to be flushed: its exact sum joins the truths."""
        if self.flushes == 0:
            some = np.arange(PROBES) * (TILE // PROBES)
            self.points[:] = 2.0 * points[some] - points[some - TILE // 2]
        self.truths[:-1] += buffered(self.points)

    def after(
        self, points: FloatArray, flushed: Callable[[FloatArray], FloatArray], norm: float
    ) -> float:
        """The largest deviation at a probe now; then one probe is renewed."""
        largest = np.abs(self.truths[:-1] - flushed(self.points)).max()
        turn = PROBES // 2 + self.flushes % (PROBES // 2)
        self.points[turn] = 2.0 * points[-1] - points[TILE // 2 - 1]
        self.truths[turn] = flushed(self.points[turn : turn + 1])[0]
        self.truths[-1] += norm
        self.flushes += 1
        return float(largest)
