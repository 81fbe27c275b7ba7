"""Pending asks: thresholds that went out and whose losses are still to come, by key and id."""

from __future__ import annotations

import functools
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.many.panel.late import ASK, LEARN, Answers
from localarc.many.panel.table import arrow
from localarc.many.rows.events import Events
from localarc.many.rows.rules import NUMBER, REPEATED_ID, UNKNOWN_ID, Verdicts
from localarc.validation import FloatArray, IntArray


@dataclass(frozen=True)
class PendingAsks:
    """One entry per ask: key and id (Arrow text), threshold, ticket (0 if none), and input."""

    keys: Any
    ids: Any
    thresholds: FloatArray
    tickets: IntArray
    X: FloatArray

    @classmethod
    @functools.lru_cache(maxsize=16)
    def none(cls, dimension: int) -> PendingAsks:
        """No pending asks."""
        pa = arrow()
        empty = pa.array([], pa.string())
        return cls(empty, empty, np.empty(0), np.empty(0, np.int64), np.empty((0, dimension)))

    def __len__(self) -> int:
        return len(self.thresholds)

    def take(self, chosen: Any) -> PendingAsks:
        """Some of the asks."""
        at = np.flatnonzero(chosen) if np.asarray(chosen).dtype == bool else chosen
        texts = self.keys.take(at), self.ids.take(at)
        return PendingAsks(*texts, self.thresholds[at], self.tickets[at], self.X[at])

    def plus(self, more: PendingAsks) -> PendingAsks:
        """These asks, and more of them."""
        pa = arrow()
        numbers = ((getattr(self, n), getattr(more, n)) for n in ("thresholds", "tickets", "X"))
        texts = (pa.concat_arrays([getattr(self, n), getattr(more, n)]) for n in ("keys", "ids"))
        return PendingAsks(*texts, *(np.concatenate(pair) for pair in numbers))

    def renamed(self, keys: dict[str, str]) -> PendingAsks:
        """The same asks, some keys of which have another name."""
        texts = [keys.get(key, key) for key in self.keys.to_pylist()]
        return replace(self, keys=arrow().array(texts, "string"))

    def codes(self, names: list[str]) -> IntArray:
        """The place of each ask's key in `names`, -1 if it is not there."""
        pa = arrow()
        found = pa.compute.index_in(self.keys, pa.array(names, pa.string()))
        return np.asarray(pa.compute.fill_null(found, -1), np.int64)


@dataclass(frozen=True)
class Matched:
    """Events beside the pending asks of their keys: `asked` counts those asks first.

    `given_up` is the ask that each event replaces, -1 for none; None if there are no such events.
    """

    asks: PendingAsks
    others: PendingAsks
    asked: IntArray
    given_up: IntArray | None = None

    def remaining(self, events: Events, answers: Answers) -> PendingAsks:
        """The asks that are pending once these events have been learned."""
        learned = np.zeros(len(self.asks) + len(events), bool)
        learned[self.asked[events.acts == LEARN]] = True
        if self.given_up is not None:
            learned[self.given_up[self.given_up >= 0]] = True
        old, new = np.split(~learned, [len(self.asks)])
        new = np.flatnonzero(new & (events.acts == ASK))
        asked = self.asks.take(old)
        made = PendingAsks(
            arrow().array([events.names[code] for code in events.codes[new].tolist()], "string"),
            events.ids.take(new),
            answers.thresholds[len(self.asks) + new],
            answers.tickets[len(self.asks) + new],
            events.X[new],
        )
        return self.others.plus(asked).plus(made)


def match(
    pending: PendingAsks, events: Events, verdicts: Verdicts, most: int | None = None
) -> tuple[Verdicts, Matched]:
    """The verdicts with those on ids, and the ask of each good event that learns.

    An ask is learned once, and its id is free again then. With `most`, at most that many asks of a
    key are pending: one more, and the oldest is given up.
    """
    codes = pending.codes(events.names)
    mine = codes >= 0
    asks, good = pending.take(mine), events.take(verdicts == 0)
    previous, wrong = _previous(asks, codes[mine], good)
    given_up = None
    if wrong.any() or _may_exceed(codes[mine], good, most):
        verdicts = verdicts.copy()
        verdicts[verdicts == 0], given_up = _one_by_one(asks, codes[mine], good, most)
        good = events.take(verdicts == 0)
        previous, _ = _previous(asks, codes[mine], good)
    own = len(asks) + np.arange(len(good))
    asked = np.where(good.acts == LEARN, previous, own)
    return verdicts, Matched(asks, pending.take(~mine), asked, given_up)


def _may_exceed(codes: IntArray, events: Events, most: int | None) -> bool:
    """Whether a key could have more than `most` pending asks."""
    if most is None:
        return False
    asking = np.concatenate([codes, events.codes[events.acts == ASK]])
    return bool(np.bincount(asking).max(initial=0) > most)


def _previous(
    asks: PendingAsks, codes: IntArray, events: Events
) -> tuple[IntArray, NDArray[np.bool_]]:
    """The latest row with the same key and id before each event, and which events do not fit it."""
    count = len(asks)
    ids = arrow().concat_arrays([asks.ids, events.ids]).dictionary_encode().indices
    keys = np.concatenate([codes, events.codes])
    order = np.lexsort((np.asarray(ids), keys))  # stable: rows stay in order within a key and id
    same = np.zeros(len(order), bool)
    same[1:] = np.diff(np.asarray(ids)[order]) == 0
    same[1:] &= np.diff(keys[order]) == 0
    is_ask = np.concatenate([np.ones(count, bool), events.acts == ASK])
    before = np.full(len(order), -1)
    before[order[1:]] = np.where(same[1:], order[:-1], -1)
    open_before = (before >= 0) & is_ask[before]
    wrong = open_before == is_ask  # an ask requires that none is open, a loss that one is
    return before[count:], wrong[count:]


def _one_by_one(
    asks: PendingAsks, codes: IntArray, events: Events, most: int | None
) -> tuple[Verdicts, IntArray]:
    """The verdicts, and the ask that each good event replaces; slow, and seldom needed."""
    open_asks: dict[int, dict[Any, int]] = {}
    for place, (code, name) in enumerate(zip(codes.tolist(), asks.ids.to_pylist(), strict=True)):
        open_asks.setdefault(code, {})[name] = place
    verdicts = np.zeros(len(events), np.int8)
    given_up: list[int] = []
    rows = zip(events.codes.tolist(), events.ids.to_pylist(), events.acts.tolist(), strict=True)
    for i, (code, name, act) in enumerate(rows):
        mine = open_asks.setdefault(code, {})
        if (name in mine) == (act == ASK):
            verdicts[i] = NUMBER[REPEATED_ID if act == ASK else UNKNOWN_ID]
            continue
        oldest = -1
        if act == LEARN:
            del mine[name]
        else:
            mine[name] = len(asks) + len(given_up)  # its place among the good events
            if most is not None and len(mine) > most:
                oldest = mine.pop(next(iter(mine)))
        given_up.append(oldest)
    return verdicts, np.array(given_up, np.int64)
