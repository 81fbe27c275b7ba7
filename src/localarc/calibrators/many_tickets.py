"""Many tickets of any calibrator: in one call where it has one, else one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from localarc.calibrators.role import OnlineCalibrator
from localarc.calibrators.tickets import Tickets
from localarc.validation import FloatArray, IntArray


def ask_many(cal: OnlineCalibrator, X: FloatArray, groups: Sequence[Any] | None) -> Tickets:
    """A ticket for each row."""
    at_once = getattr(cal, "ask_many", None)
    if at_once is not None:
        return at_once(X, groups)  # type: ignore[no-any-return]
    each = [()] * len(X) if groups is None else groups
    made = [cal.ask(x, labels) for x, labels in zip(X, each, strict=True)]
    ids = np.array([ticket.id for ticket in made], np.int64)
    return Tickets(ids, np.array([ticket.threshold for ticket in made], np.float64))


def tell_many(cal: OnlineCalibrator, ids: IntArray, losses: FloatArray, scores: FloatArray) -> None:
    """The loss and the score of each ticket, in order."""
    at_once = getattr(cal, "tell_many", None)
    if at_once is not None:
        at_once(ids, losses, scores)
        return
    for number, loss, score in zip(ids.tolist(), losses.tolist(), scores.tolist(), strict=True):
        cal.tell(number, loss, score)


def forget_many(cal: OnlineCalibrator, ids: IntArray) -> None:
    """Stop waiting for the loss of each ticket."""
    at_once = getattr(cal, "forget_many", None)
    if at_once is not None:
        at_once(ids)
        return
    for number in ids.tolist():
        cal.forget(number)
