"""The latest inputs with their scores, and distances to them in standardized features."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from localarc.validation import FloatArray
from localarc_lab.peers.score_window import ScoreWindow

_TINY = 1e-12


class LocalWindow:
    """The latest rounds; features are divided by their standard deviations in the window."""

    def __init__(self, size: int, start: float) -> None:
        self._size = size
        self._range = ScoreWindow(1, start)  # of all scores so far
        self._inputs = np.empty((size, 0))
        self._values = np.empty(size)
        self._count = 0

    def __len__(self) -> int:
        return min(self._count, self._size)

    def add(self, point: FloatArray, score: float) -> None:
        """Append a round in place of the oldest one."""
        if self._count == 0:
            self._inputs = np.empty((self._size, len(point)))
        self._range.add(score)
        place = self._count % self._size
        self._inputs[place] = point
        self._values[place] = self._range.finite(score)
        self._count += 1

    @property
    def scores(self) -> FloatArray:
        """The scores, in no particular order."""
        return self._values[: len(self)]

    def distances(self, point: FloatArray) -> FloatArray:
        """Return the distance of a point to each input of the window."""
        inputs = self._inputs[: len(self)]
        spread = inputs.std(axis=0)
        spread[spread < _TINY] = 1.0
        gaps = (inputs - point) / spread
        return np.asarray(np.sqrt((gaps * gaps).sum(axis=1)))

    def finite(self, number: float) -> float:
        """Return the number, or the largest or smallest score so far if it is infinite."""
        return self._range.finite(number)


def rule_of_thumb(dimension: int, window: int) -> float:
    """Return Silverman's bandwidth in standardized features, times the root of their number.

    >>> round(rule_of_thumb(dimension=2, window=100), 3)
    0.656
    """
    shrink = (4.0 / (dimension + 2.0) / window) ** (1.0 / (dimension + 4.0))
    return float(shrink * math.sqrt(dimension))


def weighted_quantile(
    scores: FloatArray, weights: FloatArray, levels: Sequence[float]
) -> FloatArray:
    """Return the smallest score up to which each column of weights has its level of the total.

    >>> weights = np.array([[1.0], [1.0], [2.0]])
    >>> weighted_quantile(np.array([3.0, 1.0, 2.0]), weights, [0.5])
    array([2.])
    """
    order = np.argsort(scores)
    ascending = scores[order]
    sums = np.cumsum(weights[order], axis=0)
    last = len(scores) - 1
    places = [
        min(int(np.searchsorted(column, level * column[-1])), last)
        for column, level in zip(sums.T, levels, strict=True)
    ]
    return np.asarray(ascending[places])
