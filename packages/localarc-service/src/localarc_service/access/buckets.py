"""Buckets: something may happen so often per second, and a few times at once, for each key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from localarc_service.access.shared_table import SharedTable


@dataclass(frozen=True, slots=True)
class Rule:
    """A bucket refills at `rate` per second up to `size`; one large request may overdraw it."""

    rate: float
    size: float

    def level(self, found: tuple[float, float] | None, now: float) -> float:
        """How much there is, given how much there was at some time; at first it is full."""
        if found is None:
            return self.size
        at, level = found
        return min(self.size, level + self.rate * max(0.0, now - at))

    def wait(self, level: float) -> float:
        """The seconds until one more may happen; 0 if it may now."""
        return max(0.0, 1.0 - level) / self.rate


class Buckets:
    """Buckets by name, in a table that several processes may share.

    >>> buckets, rule = Buckets(SharedTable()), Rule(rate=2.0, size=3.0)
    >>> buckets.take(b"eu", rule, count=4, now=10.0)
    3.0
    >>> [buckets.admit(b"eu", rule, now) for now in (10.0, 10.5, 11.0, 11.0)]
    [1.0, 0.5, 0.0, 0.5]
    """

    def __init__(self, table: SharedTable) -> None:
        self._table = table

    def wait(self, name: bytes, rule: Rule, now: float) -> float:
        """The seconds until one more may happen; 0 if it may now."""
        return rule.wait(rule.level(self._table.get(self._table.key(name)), now))

    def take(self, name: bytes, rule: Rule, count: int, now: float) -> float:
        """It happened that many times; returns the level before."""
        table = self._table
        key = table.key(name)
        with table.lock:
            level = rule.level(table.get(key), now)
            table.put(key, now, level - count)
        return level

    def admit(self, name: bytes, rule: Rule, now: float) -> float:
        """Let one more happen, if it may; returns the seconds until it may, 0 if it does."""
        table = self._table
        key = table.key(name)
        with table.lock:
            level = rule.level(table.get(key), now)
            wait = rule.wait(level)
            if not wait:
                table.put(key, now, level - 1.0)
        return wait

    def waits(self, rule: Rule, now: float) -> Iterator[float]:
        """The seconds of each bucket until one more may happen; all have the same rule."""
        return (rule.wait(rule.level(found, now)) for found in self._table.items())
