"""The rules for rows, and which rows violate them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from localarc.many.panel.late import ASK, LEARN
from localarc.many.rows.events import NO_TIME, Events, Rows
from localarc.validation import LARGEST, IntArray


class BadRowError(ValueError):
    """A row that would corrupt the state: a bad value, or a lost or repeated event."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule for rows: a short name for counting, and an explanation for error messages."""

    name: str
    message: str


GOOD = Rule("", "")
MISSING_KEY = Rule("missing key", "Every row must have a key.")
BAD_ORDER = Rule("bad order", "Order must count the events of a key: 1, 2, 3 and so on.")
BAD_FEATURES = Rule("bad features", "Features must be finite numbers; drop or impute the others.")
BAD_SCORE = Rule("bad score", "A score must be a finite number.")
BAD_LOSS = Rule("bad loss", "A loss must lie between 0 and the calibrator's loss bound.")
BAD_WIDTH = Rule("bad width", "A width must be a finite number.")
BAD_KIND = Rule("bad kind", 'A row must be of kind "ask" or "learn".')
MISSING_ID = Rule("missing id", "Every row must have an id; an ask and its outcome share one.")
REPEATED = Rule("repeated order", "This event or a later one was already learned.")
GAP = Rule("gap in order", "An earlier event of this key is missing.")
REPEATED_ID = Rule("repeated id", "An ask of this key with this id is pending already.")
UNKNOWN_ID = Rule(
    "unknown id",
    "No ask of this key with this id is pending: it was learned, given up, or never asked.",
)
BAD_TIME = Rule("bad time", "Every row must have a time.")
LATE = Rule("late", "The watermark had passed the time of this event before it came.")
REPEATED_EVENT = Rule("repeated event", "An event of this key with this time and id came before.")
BAD_MESSAGE = Rule("bad message", "A message must be a JSON object with a field for each role.")

RULES = (
    *(GOOD, MISSING_KEY, BAD_ORDER, BAD_FEATURES, BAD_SCORE, BAD_LOSS, BAD_WIDTH, BAD_KIND),
    *(MISSING_ID, REPEATED, GAP, REPEATED_ID, UNKNOWN_ID, BAD_TIME, LATE, REPEATED_EVENT),
)
"""A verdict is an index into this tuple."""

NUMBER = {rule: number for number, rule in enumerate(RULES)}
_BAD_VALUES = {BAD_FEATURES, BAD_SCORE, BAD_LOSS, BAD_WIDTH, BAD_KIND}
_CONSUMING = _BAD_VALUES | {MISSING_ID, REPEATED_ID, UNKNOWN_ID}
_CONSUMES = np.array([rule in _CONSUMING for rule in RULES])
_UNORDERED = (NUMBER[MISSING_KEY], NUMBER[BAD_ORDER])

Verdicts = NDArray[np.int8]


def check_values(rows: Rows, loss_bound: float | None) -> Verdicts:
    """The verdict on each row by itself; the first rule that it violates counts.

    Without a loss bound the values are scores.
    """
    verdicts = np.zeros(len(rows), np.int8)
    learns, asks = (rows.acts & LEARN) != 0, (rows.acts & ASK) != 0
    finite = np.abs(rows.values) <= LARGEST  # False for NaN
    if loss_bound is None:
        verdicts[learns & ~finite] = NUMBER[BAD_SCORE]
    else:
        within = finite & (rows.values >= 0.0) & (rows.values <= loss_bound)
        verdicts[learns & ~within] = NUMBER[BAD_LOSS]
    if rows.widths is not None:
        verdicts[asks & ~(np.abs(rows.widths) <= LARGEST)] = NUMBER[BAD_WIDTH]
    if rows.ids is not None:
        verdicts[np.asarray(rows.ids.is_null())] = NUMBER[MISSING_ID]
        asks = asks | (rows.acts == 0)
    else:
        asks = np.ones(len(rows), bool)  # a loss without an ask has its own input
    if rows.X.shape[1]:
        verdicts[asks & ~(np.abs(rows.X) <= LARGEST).all(axis=1)] = NUMBER[BAD_FEATURES]
    verdicts[rows.acts == 0] = NUMBER[BAD_KIND]
    if rows.late is not None:
        verdicts[rows.late] = NUMBER[LATE]
    if rows.orders is not None:
        verdicts[rows.orders < rows.first_order] = NUMBER[BAD_TIME if rows.timed else BAD_ORDER]
    verdicts[rows.codes < 0] = NUMBER[MISSING_KEY]
    return verdicts


def check_orders(events: Events, due: IntArray) -> Verdicts:
    """The verdicts with those on orders; `due` is the next order of each key.

    A row with bad values consumes its order, so that the key can continue without it. A gap does
    not: rows are rejected until the missing ones arrive.
    """
    verdicts = events.verdicts.copy()
    expected = due[events.codes] + events.positions() if len(due) else events.orders
    if verdicts.any() or not np.array_equal(events.orders, expected):
        _check_orders_one_by_one(events, due.tolist(), verdicts)
    return verdicts


def _check_orders_one_by_one(events: Events, due: list[int], verdicts: Verdicts) -> None:
    """Slow, and only needed if something is wrong."""
    rows = zip(events.codes.tolist(), events.orders.tolist(), verdicts.tolist(), strict=True)
    for i, (code, order, verdict) in enumerate(rows):
        if verdict in _UNORDERED:
            continue
        if order == due[code]:
            due[code] += 1
        else:
            verdicts[i] = NUMBER[REPEATED if order < due[code] else GAP]


def consumes_order(verdicts: Verdicts) -> NDArray[np.bool_]:
    """The bad rows that consume an order."""
    consumes: NDArray[np.bool_] = _CONSUMES[verdicts]
    return consumes


def raise_first(events: Events, due: IntArray, verdicts: Verdicts) -> None:
    """Raise for the first bad row, if there is one, with its key and the rule."""
    if not verdicts.any():
        return
    i = int(np.argmax(verdicts != 0))
    rule, code = RULES[verdicts[i]], int(events.codes[i])
    key = None if code < 0 else events.names[code]
    expected = (
        f" Order {due[code]} was due when the batch began." if rule in (REPEATED, GAP) else ""
    )
    identity = "" if events.ids is None else f", id {events.ids[i].as_py()!r}"
    values = ", ".join(f"{value:g}" for value in [events.values[i], *events.X[i]])
    row = f"key {key!r}, {_place(events, i)}{identity}, values {values}"
    raise BadRowError(
        f"{rule.name}: {row}. {rule.message}{expected} "
        'Fix the source and restart, or collect bad rows with bad_rows="reject".'
    )


def _place(events: Events, i: int) -> str:
    """The order or the time of a row."""
    if not events.timed:
        return f"order {events.orders[i]}"
    missing = events.orders[i] == NO_TIME
    return "without a time" if missing else f"time {np.datetime64(int(events.orders[i]), 'us')}"
