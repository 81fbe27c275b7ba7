"""Intervals between feedback: how long is usual, and hence how long is too long."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left
from itertools import accumulate

PATIENCE = 10.0  # median intervals without feedback
_KNOWN = 5  # intervals before anything is unusual
_MEMORY = 30 * 86_400.0  # seconds; older intervals fade
_LOWEST = -10  # the shortest interval in powers of the square root of two: 31 ms
BUCKETS = 55  # up to 50 days
_REFRESH = 16  # intervals after which the median is computed again


class Intervals:
    """Lengths of intervals in buckets that grow by the square root of two.

    The median is over time, not over intervals: half of the time passed in intervals at least as
    long. A nightly batch of feedback has a median of a day, however many arrive in a minute. An
    interval counts at most half as long as all before it together: one outage is no rhythm.
    """

    __slots__ = ("known", "last", "median", "total", "weights")

    def __init__(self) -> None:
        self.last: float | None = None
        self.known = 0
        self.median: float | None = None
        self.total = 0.0  # of the weights
        self.weights = array("d")  # none before the first interval

    def copy(self) -> Intervals:
        """The same, to be changed on its own."""
        new = Intervals.__new__(Intervals)
        new.last, new.known, new.median = self.last, self.known, self.median
        new.total, new.weights = self.total, self.weights[:]
        return new

    def add(self, at: float) -> None:
        """Count an arrival; one at the time of the last, or somewhat before it, is the same one."""
        if self.last is None or at < self.last - PATIENCE * (self.median or 0.0):
            self.last = at  # the first, or the clock was set back
        elif at > self.last:
            self._count(at - self.last)
            self.last = at

    def _count(self, length: float) -> None:
        """Count an interval between arrivals."""
        if not self.weights:
            self.weights = array("d", bytes(8 * BUCKETS))
        weight = min(length, 0.5 * self.total) if self.total else length
        bucket = math.floor(2.0 * math.log2(length)) - _LOWEST
        self.weights[min(max(bucket, 0), BUCKETS - 1)] += weight
        self.total += weight
        if self.total > _MEMORY:
            self.weights = array("d", [0.5 * held for held in self.weights])
            self.total *= 0.5
        self.known += 1
        if self.known <= _REFRESH or self.known % _REFRESH == 0:
            self.median = self._median()

    def _median(self) -> float:
        """The middle of the bucket in which half of the time has passed."""
        half = 0.5 * self.total
        bucket = bisect_left(list(accumulate(self.weights)), half)
        return float(2.0 ** (0.5 * (min(bucket, BUCKETS - 1) + _LOWEST + 0.5)))

    @property
    def deadline(self) -> float | None:
        """When feedback is overdue, in seconds since the epoch; None while that is unknown."""
        if self.last is None or self.median is None or self.known < _KNOWN:
            return None
        return self.last + PATIENCE * self.median
