"""The rules for rows, and which rows of a bucket violate them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc.spark.events import Events
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
REPEATED = Rule("repeated order", "This event or a later one was already learned.")
GAP = Rule("gap in order", "An earlier event of this key is missing.")

RULES = (GOOD, MISSING_KEY, BAD_ORDER, BAD_FEATURES, BAD_SCORE, BAD_LOSS, REPEATED, GAP)
"""A verdict is an index into this tuple."""

_NUMBER = {rule: number for number, rule in enumerate(RULES)}
Verdicts = NDArray[np.int8]


def validate_rows(events: Events, due: IntArray, loss_bound: float | None) -> Verdicts:
    """The verdict on each row of sorted events; `due` is the next order of each key.

    Without a loss bound the rows have scores. A row with bad values consumes its order, so that the
    key can continue without it. A gap does not: rows are rejected until the missing ones arrive.
    """
    verdicts = _values(events, loss_bound)
    expected = due[events.codes] + events.positions() if len(due) else events.orders
    if verdicts.any() or not np.array_equal(events.orders, expected):
        _check_order(events, due.tolist(), verdicts)
    return verdicts


def _values(events: Events, loss_bound: float | None) -> Verdicts:
    """The rules that concern a single row; the first one violated counts."""
    verdicts = np.zeros(len(events), np.int8)
    finite = np.abs(events.values) <= LARGEST  # False for NaN
    if loss_bound is None:
        verdicts[~finite] = _NUMBER[BAD_SCORE]
    else:
        within = finite & (events.values >= 0.0) & (events.values <= loss_bound)
        verdicts[~within] = _NUMBER[BAD_LOSS]
    verdicts[~(np.abs(events.X) <= LARGEST).all(axis=1)] = _NUMBER[BAD_FEATURES]
    verdicts[events.orders < 1] = _NUMBER[BAD_ORDER]
    verdicts[events.codes < 0] = _NUMBER[MISSING_KEY]
    return verdicts


def _check_order(events: Events, due: list[int], verdicts: Verdicts) -> None:
    """Check the orders row by row: slow, and only needed if something is wrong."""
    unordered = (_NUMBER[MISSING_KEY], _NUMBER[BAD_ORDER])
    rows = zip(events.codes.tolist(), events.orders.tolist(), verdicts.tolist(), strict=True)
    for i, (code, order, verdict) in enumerate(rows):
        if verdict in unordered:
            continue
        if order == due[code]:
            due[code] += 1
        else:
            verdicts[i] = _NUMBER[REPEATED if order < due[code] else GAP]


def consumes_order(verdicts: Verdicts) -> NDArray[np.bool_]:
    """The rows that consume an order without being learned."""
    return np.isin(verdicts, [_NUMBER[rule] for rule in (BAD_FEATURES, BAD_SCORE, BAD_LOSS)])


def raise_first(events: Events, due: IntArray, verdicts: Verdicts) -> None:
    """Raise for the first bad row, if there is one, with its key and the rule."""
    if not verdicts.any():
        return
    i = int(np.argmax(verdicts != 0))
    rule, code = RULES[verdicts[i]], int(events.codes[i])
    key: Any = None if code < 0 else events.names[code]
    expected = (
        f" Order {due[code]} was due when the batch began." if rule in (REPEATED, GAP) else ""
    )
    values = ", ".join(f"{value:g}" for value in [events.values[i], *events.X[i]])
    row = f"key {key!r}, order {events.orders[i]}, values {values}"
    raise BadRowError(
        f"{rule.name}: {row}. {rule.message}{expected} "
        'Fix the source and restart, or collect bad rows with bad_rows="reject".'
    )
