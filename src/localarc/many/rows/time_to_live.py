"""Lifetimes of keys: with a time-to-live, a key starts anew after a long time without events.

A key that starts anew within a batch has a name of its own for each life, so that one pass learns
all of them; then the last life gets the key's name, and the others end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from localarc.many.rows.events import NO_TIME, Events
from localarc.many.rows.rules import LATE, NUMBER, REPEATED_EVENT, Verdicts
from localarc.validation import IntArray

_MARK = "\0life "


@dataclass(frozen=True)
class Lifetimes:
    """Events under the names of their lives, the names that end, and the keys of the last lives."""

    events: Events
    ended: tuple[str, ...] = ()
    keys: tuple[tuple[str, str], ...] = ()


def check_times(events: Events, last: IntArray) -> Verdicts:
    """The verdicts with those on times; `last` is the latest time of each key so far."""
    verdicts = events.verdicts.copy()
    if len(last):
        known = (events.codes >= 0) & (events.orders != NO_TIME)
        verdicts[known & (events.orders <= last[events.codes])] = NUMBER[LATE]
    if events.ids is None or len(events) < 2:
        return verdicts
    same = (np.diff(events.codes) == 0) & (np.diff(events.orders) == 0)
    same &= np.diff(events.acts) == 0
    at = np.flatnonzero(same)  # only there are ids compared
    ids = [events.ids.take(places).to_pylist() for places in (at, at + 1)]
    repeated = at[[one is not None and one == two for one, two in zip(*ids, strict=True)]] + 1
    verdicts[repeated[verdicts[repeated] != NUMBER[LATE]]] = NUMBER[REPEATED_EVENT]
    return verdicts


def split_lifetimes(events: Events, verdicts: Verdicts, last: IntArray, ttl: int) -> Lifetimes:
    """The lives of keys: a new one where the time since the key's last good event is above ttl."""
    at = np.flatnonzero(verdicts == 0)
    if not len(at):
        return Lifetimes(events)
    codes, times = events.codes[at], events.orders[at]
    before = np.concatenate([[NO_TIME], times[:-1]])
    first = np.diff(codes, prepend=-2) != 0
    before[first] = last[codes[first]]
    anew = (before != NO_TIME) & (before < times - ttl)
    if not anew.any():
        return Lifetimes(events)
    totals = np.cumsum(anew)
    starts = np.flatnonzero(first)
    base = np.repeat(totals[starts] - anew[starts], np.diff(starts, append=len(codes)))
    return _named(events, at, totals - base)


def _named(events: Events, at: IntArray, numbers: IntArray) -> Lifetimes:
    """Lifetimes with these numbers, 0 for the one that goes on."""
    names, codes = list(events.names), events.codes.copy()
    ended: dict[str, None] = {}
    last: dict[str, str] = {}
    later = np.flatnonzero(numbers)
    pairs, places = np.unique(
        np.column_stack([events.codes[at[later]], numbers[later]]), axis=0, return_inverse=True
    )
    for code, number in pairs.tolist():
        key = events.names[code]
        ended[last.get(key, key)] = None
        last[key] = f"{key}{_MARK}{number}"
        names.append(last[key])
    codes[at[later]] = len(events.names) + places.ravel()
    renamed = tuple((life, key) for key, life in last.items())
    return Lifetimes(replace(events, names=names, codes=codes), tuple(ended), renamed)
