"""A bucket: something may happen so often per second, and a few times at once."""

from __future__ import annotations


class Bucket:
    """Refills at `rate` per second up to `size`; it may be overdrawn by one large request.

    >>> bucket = Bucket(rate=2.0, size=3.0, now=10.0)
    >>> bucket.take(4, now=10.0)
    >>> bucket.wait(now=10.0), bucket.wait(now=10.5), bucket.wait(now=11.0)
    (1.0, 0.5, 0.0)
    """

    __slots__ = ("_at", "_level", "_rate", "_size")

    def __init__(self, rate: float, size: float, now: float) -> None:
        self._rate = rate
        self._size = self._level = size
        self._at = now

    def wait(self, now: float) -> float:
        """The seconds until one more may happen; 0 if it may now."""
        self._level = min(self._size, self._level + self._rate * (now - self._at))
        self._at = now
        return max(0.0, 1.0 - self._level) / self._rate

    def take(self, count: int, now: float) -> None:
        """It happened that many times."""
        self.wait(now)
        self._level -= count

    def is_full(self, now: float) -> bool:
        """Whether nothing happened lately."""
        self.wait(now)
        return self._level >= self._size
