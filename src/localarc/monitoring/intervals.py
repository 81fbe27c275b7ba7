"""Intervals between feedback: how long is usual, and hence how long is too long."""

from __future__ import annotations

import math

PATIENCE = 10.0  # median intervals without feedback
_KNOWN = 5  # intervals before anything is unusual
_MEMORY = 30 * 86_400.0  # seconds; older intervals fade
_LOWEST, _HIGHEST = -20, 50  # exponents of the square root of two, in seconds: 1 ms to a year


class Intervals:
    """Lengths of intervals in buckets that grow by the square root of two.

    The median is over time, not over intervals: half of the time passed in intervals at least as
    long. A nightly batch of feedback has a median of a day, however many arrive in a minute. An
    interval counts at most as long as all before it together, so that one outage is no rhythm.
    """

    __slots__ = ("known", "last", "median", "weights")

    def __init__(self) -> None:
        self.last: float | None = None
        self.known = 0
        self.median: float | None = None
        self.weights: dict[int, float] = {}

    def add(self, at: float) -> None:
        """Count an arrival; one at the same time as the last, or before it, is the same arrival."""
        if self.last is None:
            self.last = at
        elif at > self.last:
            self._count(at - self.last)
            self.last = at

    def _count(self, length: float) -> None:
        total = sum(self.weights.values())
        bucket = min(max(math.floor(2.0 * math.log2(length)), _LOWEST), _HIGHEST)
        weight = min(length, total) if total else length
        self.weights[bucket] = self.weights.get(bucket, 0.0) + weight
        if total + weight > _MEMORY:
            self.weights = {each: 0.5 * held for each, held in self.weights.items()}
        self.known += 1
        if self.known <= 16 or self.known % 16 == 0:
            self.median = self._median()

    def _median(self) -> float:
        half, passed, bucket = 0.5 * sum(self.weights.values()), 0.0, 0
        for bucket in sorted(self.weights):
            passed += self.weights[bucket]
            if passed >= half:
                break
        return float(2.0 ** (0.5 * (bucket + 0.5)))

    @property
    def deadline(self) -> float | None:
        """When feedback is overdue, in seconds since the epoch; None while that is unknown."""
        if self.last is None or self.median is None or self.known < _KNOWN:
            return None
        return self.last + PATIENCE * self.median
