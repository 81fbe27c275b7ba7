"""What losses teach: an offset for every series, step, hour and weekday, in units of the scores."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from localarc.calibrators.undo import Undo
from localarc.constants import DEVIATIONS_PER_UNIT, VISITS_COUNTED
from localarc.forecasting.columns import FINITE, Arrays, Columns
from localarc.validation import FloatArray, IntArray

HOURS, WEEKDAYS = 24, 7
PHASES = HOURS * WEEKDAYS
RATE = 0.3  # of each node, over sqrt(alpha (1 - alpha))


class Offsets:
    """The sum of the offsets of a round's nodes, by level.

    Series share the nodes of everyone, of steps, hours and weekdays, and of an hour with steps that
    are close (1, 2-3, 4-7, ...). Each series has one of its own, and one for each hour.
    """

    def __init__(self, alphas: FloatArray, steps: int, undo: Undo | None = None) -> None:
        self._rate = RATE / np.sqrt(alphas * (1.0 - alphas))
        self._blocks = steps.bit_length()
        sizes = (1, steps, HOURS, WEEKDAYS, HOURS * self._blocks)
        self._starts = np.cumsum((0, *sizes))
        levels = len(alphas)
        kinds = {"offset": ("f8", levels), "visits": ("f8", None)}
        self._nodes = Columns(kinds, sum(sizes), undo)
        self._nodes["offset"][0] = [_of_gaussian_errors(alpha) for alpha in alphas]

    def reserve(self, series: int) -> None:
        """Make room for this number of series."""
        self._nodes.reserve(int(self._starts[-1]) + series * (1 + HOURS))

    def nodes(self, series: IntArray, step: IntArray, phase: IntArray) -> IntArray:
        """(n, 7): the nodes of each round. A phase is an hour of the week."""
        weekday, hour = np.divmod(phase, HOURS)
        block = np.frexp(step + 1.0)[1] - 1
        _, steps, hours, weekdays, blocks, own = self._starts
        first = own + series * (1 + HOURS)
        return np.stack(
            [
                np.zeros_like(step),
                steps + step,
                hours + hour,
                weekdays + weekday,
                blocks + hour * self._blocks + block,
                first,
                first + 1 + hour,
            ],
            axis=1,
        )

    def at(self, nodes: IntArray) -> FloatArray:
        """(n, levels): what is added to the mean score, in units."""
        return np.asarray(self._nodes["offset"][nodes].sum(axis=1))

    def learn(self, nodes: IntArray, excess: FloatArray) -> None:
        """Move every node by the mean excess (n, levels) of its rounds that arrived at one time."""
        at, inverse, count = np.unique(nodes, return_inverse=True, return_counts=True)
        each = np.repeat(excess, nodes.shape[1], axis=0)
        inverse = inverse.reshape(-1)
        visits = self._nodes["visits"][at] = self._nodes["visits"][at] + 1.0
        size = self._rate / np.sqrt(1.0 + np.minimum(visits, VISITS_COUNTED))[:, None]
        for level in range(each.shape[1]):
            mean = np.bincount(inverse, each[:, level]) / count
            self._nodes["offset"][at, level] += size[:, level] * mean

    def state(self, series: int) -> Arrays:
        """The arrays of the first `series` series."""
        rows = int(self._starts[-1]) + series * (1 + HOURS)
        return self._nodes.stored(slice(rows))

    def restore(self, arrays: Arrays) -> None:
        """Continue from `state`."""
        self._nodes.restore(arrays)
        self._nodes.require(-FINITE, FINITE, "offset")
        self._nodes.require(0.0, FINITE, "visits")


def _of_gaussian_errors(alpha: float) -> float:
    """Where the threshold of |error| lies, in units above its mean, if errors are Gaussian."""
    gauss = NormalDist()
    mean = math.sqrt(2.0 / math.pi)
    deviation = 4.0 * (gauss.pdf(mean) - mean * (1.0 - gauss.cdf(mean)))
    return (gauss.inv_cdf(1.0 - alpha / 2.0) - mean) / (DEVIATIONS_PER_UNIT * deviation)
