"""The latest scores in ascending order, and the quantiles that methods take of them."""

from __future__ import annotations

import math
from bisect import bisect_left, insort
from collections import deque
from collections.abc import Callable, Sequence
from typing import TypeAlias

Quantile: TypeAlias = Callable[[Sequence[float], float], float]
"""A quantile of ascending numbers at a level between 0 and 1."""

_ROUND_OFF = 1e-9


class ScoreWindow:
    """The latest scores in ascending order, and the range of all finite scores so far.

    Thresholds must be finite. Where a method would return the full set, the largest score so far
    takes its place; for the empty set, the number just below the smallest.
    """

    def __init__(self, size: int | None, start: float = 0.0) -> None:
        self._size = size
        self._latest: deque[float] = deque()
        self._start = start
        self._low, self._high = math.inf, -math.inf
        self.ascending: list[float] = []

    def __len__(self) -> int:
        return len(self.ascending)

    def add(self, score: float) -> None:
        """Append a score, and drop the oldest one if the window is full."""
        if math.isfinite(score):
            self._low, self._high = min(self._low, score), max(self._high, score)
        if self._size is not None:
            self._latest.append(score)
            if len(self._latest) > self._size:
                del self.ascending[bisect_left(self.ascending, self._latest.popleft())]
        insort(self.ascending, score)

    def finite(self, number: float) -> float:
        """Return the number, or the nearest finite score so far if it is infinite."""
        if math.isfinite(number):
            return number
        if self._low > self._high:
            return self._start
        return self._high if number > 0 else math.nextafter(self._low, -math.inf)

    def threshold(self, miss_rate: float, quantile: Quantile) -> float:
        """Return the quantile at `1 - miss_rate`, finite for any rate."""
        if not self.ascending:
            return self._start
        if miss_rate <= 0.0:
            return self.finite(math.inf)
        if miss_rate >= 1.0:
            return self.finite(-math.inf)
        return self.finite(quantile(self.ascending, 1.0 - miss_rate))

    def share_at_least(self, score: float) -> float:
        """Return the share of the window that is at least `score`; 1 for an empty window."""
        count = len(self.ascending)
        return 1.0 - bisect_left(self.ascending, score) / count if count else 1.0


def linear(ascending: Sequence[float], level: float) -> float:
    """Interpolate linearly, as NumPy and R do by default.

    >>> linear([0.0, 1.0, 2.0, 3.0], 0.5)
    1.5
    """
    place = (len(ascending) - 1) * level
    below = int(place)
    part = place - below
    if part == 0.0:
        return ascending[below]
    return (1.0 - part) * ascending[below] + part * ascending[below + 1]


def inverted(ascending: Sequence[float], level: float) -> float:
    """Return the smallest number that at least a share `level` of all does not exceed.

    >>> inverted([0.0, 1.0, 2.0, 3.0], 0.5)
    1.0
    """
    rank = math.ceil(len(ascending) * level - _ROUND_OFF)
    return ascending[min(max(rank, 1), len(ascending)) - 1]


def conformal(ascending: Sequence[float], level: float) -> float:
    """Return the quantile of split conformal prediction; infinite if there are too few numbers.

    >>> conformal([0.0, 1.0, 2.0, 3.0], 0.5), conformal([0.0], 0.9)
    (2.0, inf)
    """
    rank = math.ceil((len(ascending) + 1) * level - _ROUND_OFF)
    return ascending[max(rank, 1) - 1] if rank <= len(ascending) else math.inf
