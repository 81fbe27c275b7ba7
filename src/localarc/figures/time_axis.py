"""The time axis of a figure: numbers or dates, one per round, in order."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from localarc import validation


def time_axis(time: Any, rounds: int) -> NDArray[Any]:
    """Return the time of each round: numbers, dates by the clock of their zone, or 1 to n."""
    if time is None:
        return np.arange(1, rounds + 1)
    found = np.asarray(validation.per_round("time", time, rounds))
    if found.dtype.kind == "O" and all(isinstance(at, datetime.date) for at in found):
        found = np.array([_by_its_clock(at) for at in found], "datetime64[us]")
    if found.dtype.kind == "M":
        found = found.astype("datetime64[us]")
        missing = np.isnat(found)
    else:
        found = validation.numbers("time", found)
        missing = np.zeros(rounds, bool)
    if missing.any() or (found[1:] < found[:-1]).any():
        raise ValueError("time must be complete and in ascending order. Sort the rounds by time.")
    return found


def _by_its_clock(at: datetime.date) -> datetime.date:
    return at.replace(tzinfo=None) if isinstance(at, datetime.datetime) else at
