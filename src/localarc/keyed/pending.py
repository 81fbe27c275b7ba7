"""Pending asks: thresholds that went out and whose losses are still to come, by key and id."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.keyed.events import Events
from localarc.keyed.rules import NUMBER, REPEATED_ID, UNKNOWN_ID, Verdicts
from localarc.panel.late import ASK, LEARN, Answers
from localarc.panel.table import arrow
from localarc.validation import FloatArray, IntArray


@dataclass(frozen=True)
class Pending:
    """One entry per ask: key and id (Arrow text), threshold, ticket (0 if none), and input."""

    keys: Any
    ids: Any
    thresholds: FloatArray
    tickets: IntArray
    X: FloatArray

    @classmethod
    def none(cls, dimension: int) -> Pending:
        """No pending asks."""
        pa = arrow()
        empty = pa.array([], pa.string())
        return cls(empty, empty, np.empty(0), np.empty(0, np.int64), np.empty((0, dimension)))

    def __len__(self) -> int:
        return len(self.thresholds)

    def take(self, chosen: Any) -> Pending:
        """Some of the asks."""
        at = np.flatnonzero(chosen) if np.asarray(chosen).dtype == bool else chosen
        texts = self.keys.take(at), self.ids.take(at)
        return Pending(*texts, self.thresholds[at], self.tickets[at], self.X[at])

    def plus(self, more: Pending) -> Pending:
        """These asks, and more of them."""
        pa = arrow()
        numbers = ((getattr(self, n), getattr(more, n)) for n in ("thresholds", "tickets", "X"))
        texts = (pa.concat_arrays([getattr(self, n), getattr(more, n)]) for n in ("keys", "ids"))
        return Pending(*texts, *(np.concatenate(pair) for pair in numbers))

    def codes(self, names: list[str]) -> IntArray:
        """The place of each ask's key in `names`, -1 if it is not there."""
        pa = arrow()
        found = pa.compute.index_in(self.keys, pa.array(names, pa.string()))
        return np.asarray(pa.compute.fill_null(found, -1), np.int64)


@dataclass(frozen=True)
class Matched:
    """Events beside the pending asks of their keys: `asked` counts those asks first."""

    asks: Pending
    others: Pending
    asked: IntArray

    def remaining(self, events: Events, answers: Answers) -> Pending:
        """The asks that are pending once these events have been learned."""
        learned = np.zeros(len(self.asks) + len(events), bool)
        learned[self.asked[events.acts == LEARN]] = True
        old, new = np.split(~learned, [len(self.asks)])
        new = np.flatnonzero(new & (events.acts == ASK))
        asked = self.asks.take(old)
        made = Pending(
            arrow().array([events.names[code] for code in events.codes[new].tolist()], "string"),
            events.ids.take(new),
            answers.thresholds[len(self.asks) + new],
            answers.tickets[len(self.asks) + new],
            events.X[new],
        )
        return self.others.plus(asked).plus(made)


def match(pending: Pending, events: Events, verdicts: Verdicts) -> tuple[Verdicts, Matched]:
    """The verdicts with those on ids, and the ask of each good event that learns.

    An ask is learned once, and its id is free again then.
    """
    codes = pending.codes(events.names)
    mine = codes >= 0
    asks, good = pending.take(mine), events.take(verdicts == 0)
    previous, wrong = _previous(asks, codes[mine], good)
    if wrong.any():
        verdicts = verdicts.copy()
        verdicts[verdicts == 0] = _one_by_one(asks, codes[mine], good)
        good = events.take(verdicts == 0)
        previous, _ = _previous(asks, codes[mine], good)
    own = len(asks) + np.arange(len(good))
    asked = np.where(good.acts == LEARN, previous, own)
    return verdicts, Matched(asks, pending.take(~mine), asked)


def _previous(asks: Pending, codes: IntArray, events: Events) -> tuple[IntArray, NDArray[np.bool_]]:
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


def _one_by_one(asks: Pending, codes: IntArray, events: Events) -> Verdicts:
    """Slow, and only needed if something is wrong."""
    open_ids = set(zip(codes.tolist(), asks.ids.to_pylist(), strict=True))
    verdicts = np.zeros(len(events), np.int8)
    rows = zip(events.codes.tolist(), events.ids.to_pylist(), events.acts.tolist(), strict=True)
    for i, (code, name, act) in enumerate(rows):
        is_open = (code, name) in open_ids
        if act == ASK and is_open:
            verdicts[i] = NUMBER[REPEATED_ID]
        elif act == LEARN and not is_open:
            verdicts[i] = NUMBER[UNKNOWN_ID]
        else:
            open_ids.symmetric_difference_update({(code, name)})
    return verdicts
