"""Records of a gate: its open decisions and its counts. Calls return what is to be changed."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeAlias

from localarc.calibrators.gate.base import Topics
from localarc.calibrators.gate.counts import Counts
from localarc.calibrators.gate.decisions import Round, Rounds, not_open, not_sent, not_withheld
from localarc.calibrators.gate.transactions import Update

Count: TypeAlias = Callable[[Counts, float], Counts]
"""Counts after a round that belongs to them with a weight."""


class Records:
    """Decisions whose outcome may still come, their keys, and counts by topic."""

    def __init__(self, auditable: int) -> None:
        self.auditable = auditable
        self.everyone, self.topics = Counts(), dict[Hashable, Counts]()
        self.sent: Rounds = {}
        self.withheld: Rounds = {}
        self.keys: dict[str, int] = {}  # of both

    # ---- changes -----------------------------------------------------------------------------

    def opened(self, number: int, made: Round) -> list[Update]:
        """After a decision, which may push the oldest withheld one out of memory."""
        keys = {} if made.key is None else {made.key: number}
        if made.answered:
            sent = Update(self.sent, {number: made})
            return [Update(self.keys, keys), sent, *self.counted(made.topics, Counts.send)]
        full = len(self.withheld) >= self.auditable
        oldest = next(iter(self.withheld), number) if full else None
        dropped = () if oldest is None else (oldest,)
        names = tuple(self.withheld.get(n, made).key for n in dropped)
        return [
            Update(self.keys, keys, names),
            Update(self.withheld, {number: made}, dropped),
            *self.counted(made.topics, Counts.withhold),
        ]

    def closed(self, number: int, made: Round) -> list[Update]:
        """After the outcome of a decision, or once it is given up."""
        rounds = self.sent if number in self.sent else self.withheld
        return [Update(rounds, {}, (number,)), Update(self.keys, {}, (made.key,))]

    def counted(self, topics: Topics, count: Count) -> list[Update]:
        """After something happened to a round of these topics."""
        known = self.topics
        return [
            Update(vars(self), {"everyone": count(self.everyone, 1.0)}),
            Update(known, {n: count(known.get(n, Counts()), w) for n, w in topics.items()}),
        ]

    # ---- what is open ------------------------------------------------------------------------

    def number(self, found: int | str) -> int:
        """The number of a decision, or the error for a key that no open one has."""
        if isinstance(found, int):
            return found
        if found not in self.keys:
            raise not_open(found)
        return self.keys[found]

    def to_audit(self, number: int) -> Round:
        """A withheld decision."""
        if number not in self.withheld:
            raise not_withheld(number) if number in self.sent else not_open(number)
        return self.withheld[number]

    def rehearsed(self, number: int) -> Round:
        """A decision whose answer went out in shadow mode only."""
        made = self.withheld.get(number)
        if made is None:
            raise not_open(number)
        if not made.sent:
            raise not_sent(number)
        return made
