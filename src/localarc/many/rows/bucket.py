"""A bucket of keys: their calibrators, orders or times, pending asks, and rows that wait."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np

from localarc.curves import Curves
from localarc.many.columns import Columns
from localarc.many.limits import Limits
from localarc.many.panel import Panel
from localarc.many.panel.late import ASK, LateEvents, serve
from localarc.many.panel.streams import Prototype
from localarc.many.panel.table import arrow
from localarc.many.rows.arrow_columns import read_rows
from localarc.many.rows.buffered_rows import BufferedRows
from localarc.many.rows.events import NO_TIME, Events, Rows
from localarc.many.rows.pending_asks import Matched, PendingAsks, match
from localarc.many.rows.results import Results
from localarc.many.rows.rules import (
    Verdicts,
    check_orders,
    check_values,
    consumes_order,
    raise_first,
)
from localarc.many.rows.time_to_live import Lifetimes, check_times, split_lifetimes
from localarc.validation import IntArray

T = TypeVar("T")


class Bucket:
    """The state of many keys, and what rows do to it.

    `skipped` counts the orders that each key of the panel consumed without learning: bad rows, and
    asks. `last` is the latest time of each key, NO_TIME where rows have orders instead of times.
    """

    def __init__(
        self,
        panel: Panel,
        columns: Columns,
        limits: Limits | None = None,
        skipped: IntArray | None = None,
        pending: PendingAsks | None = None,
    ) -> None:
        self.panel, self.columns, self.limits = panel, columns, limits or Limits()
        self.skipped = np.zeros(len(panel), np.int64) if skipped is None else skipped
        self.pending = pending or PendingAsks.none(len(columns.features))
        self.last = np.full(len(panel), NO_TIME)
        self.waiting = BufferedRows()
        self.watermark: int | None = None

    @classmethod
    def new(cls, calibrator: Prototype, columns: Columns, limits: Limits | None = None) -> Self:
        """A bucket without keys."""
        return cls(Panel(calibrator), columns, limits)

    def whole(self, call: Callable[[], T]) -> T:
        """Make a call that changes everything or nothing."""
        undo = self.panel.undo

        def whole() -> T:
            own = {"skipped": self.skipped.copy(), "last": self.last.copy()}
            undo.note(vars(self).update, vars(self) | own)
            return call()

        return undo.unless_done(whole)

    def due(self, names: list[str]) -> IntArray:
        """The order that the next event of each key must have."""
        rows = self.panel.index.find(names)
        consumed = np.append(self.panel.rounds + self.skipped, 0)  # row -1 is the 0 at the end
        return consumed[rows] + 1

    def calibrate(self, table: Any, rejects: bool) -> Results:
        """Learn the rows of an Arrow table, all or none, and return the columns to add."""
        return self.learn(read_rows(table, self.columns), rejects)

    def learn(self, rows: Rows, rejects: bool) -> Results:
        """Sort, validate and learn rows; bad ones raise unless they are to be rejected."""
        bound = self._loss_bound if self.columns.given_losses else None
        due = self.due(rows.names)
        events = Events.sort(rows, check_values(rows, bound), due)
        if rows.timed:
            return self._learn_by_time(events, rejects)
        verdicts = check_orders(events, due)
        results, verdicts = self._apply(events, Lifetimes(events), due, verdicts, rejects)
        self._skip(events, verdicts)
        return results

    def _learn_by_time(self, events: Events, rejects: bool) -> Results:
        last = np.append(self.last, NO_TIME)[self.panel.index.find(events.names)]
        verdicts = check_times(events, last)
        ttl = self.limits.ttl_in_microseconds
        lives = Lifetimes(events) if ttl is None else split_lifetimes(events, verdicts, last, ttl)
        results, _ = self._apply(events, lives, last, verdicts, rejects)
        self.drop([name for name in lives.ended if name in self.panel])
        self._rename(lives.keys)
        self._see(events, verdicts == 0)
        return results

    def _apply(
        self, events: Events, lives: Lifetimes, due: IntArray, verdicts: Verdicts, rejects: bool
    ) -> tuple[Results, Verdicts]:
        """Match and serve events, all or none."""
        matched = None
        if self.columns.late:
            most = self.limits.max_pending
            verdicts, matched = match(self.pending, lives.events, verdicts, most)
        if not rejects:
            raise_first(events, due, verdicts)
        results = Results(self.columns, events, verdicts)
        good = lives.events.take(verdicts == 0)
        if len(good):
            self._serve(good, matched, results)
        return results, verdicts

    def _serve(self, events: Events, matched: Matched | None, results: Results) -> None:
        used, codes = _used(events)
        late = self._late_events(events, matched)
        answers = serve(self.panel, used, codes, late)
        if matched is not None:
            self.pending = matched.remaining(events, answers)
        results.fill(late, answers)

    def _late_events(self, events: Events, matched: Matched | None) -> LateEvents:
        before = PendingAsks.none(events.X.shape[1]) if matched is None else matched.asks
        asked = np.arange(len(events)) if matched is None else matched.asked
        points = np.concatenate([before.X, events.X]) if len(before) else events.X
        points = np.require(points, np.float64, ["C", "W"])
        acts = events.acts | ASK if self._watches else events.acts
        scores = None if self.columns.given_losses else events.values
        known = before.thresholds, before.tickets
        curves = self._curves(events)
        given_up = None if matched is None else matched.given_up
        return LateEvents(acts, asked, points, *known, curves, scores, given_up)

    @property
    def _watches(self) -> bool:
        """Whether the threshold before a known loss is compared with a stated range of scores."""
        stated = getattr(self.panel.settings, "score_range", None) is not None
        return stated and self.columns.mode == "loss"

    @property
    def _loss_bound(self) -> float:
        return self.panel.prototype.loss_bound

    def _curves(self, events: Events) -> Curves:
        """The loss of each event as a function of its threshold; that of an ask is never used."""
        values, bound = np.where(np.isfinite(events.values), events.values, 0.0), self._loss_bound
        count = len(values)
        if self.columns.given_losses:
            start = np.full(count, -np.inf)
            return Curves.unchecked(start, values, None, np.arange(count + 1), bound)
        breakpoints, losses = np.full((2, 2 * count), [[-np.inf], [0.0]])
        breakpoints[1::2], losses[::2] = values, 1.0  # as miscoverage has them
        return Curves.unchecked(breakpoints, losses, None, np.arange(0, 2 * count + 1, 2), bound)

    def _skip(self, events: Events, verdicts: Verdicts) -> None:
        """Count the orders that were consumed without learning."""
        silent = consumes_order(verdicts) | ((verdicts == 0) & (events.acts == ASK))
        if not silent.any():
            self._make_room()
            return
        numbers = np.bincount(events.codes[silent], minlength=len(events.names))
        self.skip({events.names[i]: int(numbers[i]) for i in np.flatnonzero(numbers).tolist()})

    def absorb(self, other: Bucket) -> None:
        """Add the keys of another bucket with the same settings."""
        if not len(self.panel):
            self.panel, self.skipped, self.pending = other.panel, other.skipped, other.pending
            self.last, self.waiting = other.last, other.waiting
            return
        for key in other.panel.keys:
            self.panel.put(key, other.panel.calibrator(key))
        self.last = np.concatenate([self.last, other.last])
        self.waiting = self.waiting.plus(other.waiting)
        self.skip(
            {str(k): n for k, n in zip(other.panel.keys, other.skipped.tolist(), strict=True)}
        )
        self.pending = self.pending.plus(other.pending)

    def skip(self, numbers: dict[str, int]) -> None:
        """Count orders that keys consumed without learning; unknown keys are added."""
        for name in numbers:
            if name not in self.panel:
                self.panel.put(name, self.panel.prototype)
        self._make_room()
        rows = self.panel.index.find(list(numbers))
        self.skipped[rows] += np.fromiter(numbers.values(), np.int64, len(numbers))

    def expire(self, passed: int) -> None:
        """Drop the keys whose time-to-live ended before the watermark: they start anew anyway."""
        if (ttl := self.limits.ttl_in_microseconds) is not None:
            gone = (self.last != NO_TIME) & (self.last < passed - ttl)
            self.drop([str(self.panel.keys[row]) for row in np.flatnonzero(gone).tolist()])

    @property
    def next_expiry(self) -> int | None:
        """The first watermark that ends a key; None if none will end."""
        seen, ttl = self.last[self.last != NO_TIME], self.limits.ttl_in_microseconds
        return None if ttl is None or not len(seen) else int(seen.min()) + ttl + 1

    def keep_waiting(self, keys: Any) -> None:
        """Drop the waiting rows of other keys than these, which another bucket has."""
        if len(self.waiting):
            mine = arrow().compute.is_in(self.waiting.keys, keys.combine_chunks())
            self.waiting = self.waiting.filter(np.asarray(mine))

    def drop(self, names: list[str]) -> None:
        """Remove keys, and their pending asks."""
        if not names:
            return
        rows = self.panel.index.find(names)
        self._make_room()
        self.panel.drop(names)
        self.skipped, self.last = np.delete(self.skipped, rows), np.delete(self.last, rows)
        self.pending = self.pending.take(self.pending.codes(names) < 0)

    def _rename(self, keys: tuple[tuple[str, str], ...]) -> None:
        if keys:
            self.panel.rename(dict(keys))
            self.pending = self.pending.renamed(dict(keys))

    def _see(self, events: Events, good: Any) -> None:
        """Remember the latest time of each key; events are sorted by time."""
        self._make_room()
        rows = self.panel.index.find(events.names)[events.codes[good]]
        self.last[rows[rows >= 0]] = events.orders[good][rows >= 0]

    def _make_room(self) -> None:
        """One entry for each key of the panel."""
        missing = len(self.panel) - len(self.skipped)
        if missing:
            self.skipped = np.concatenate([self.skipped, np.zeros(missing, np.int64)])
            self.last = np.concatenate([self.last, np.full(missing, NO_TIME)])


def _used(events: Events) -> tuple[list[str], IntArray]:
    """The keys that occur, and the place of each event's key among them."""
    if np.bincount(events.codes, minlength=len(events.names)).all():
        return events.names, events.codes
    used, codes = np.unique(events.codes, return_inverse=True)
    return [events.names[i] for i in used.tolist()], codes
