"""Recent scores: their conformal quantile and their spread, kept up to date."""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, insort
from collections.abc import Iterable

import numpy as np

from localarc.validation import FloatArray

KEPT = 500  # scores
SPREAD = 1.5  # the spread is this many mean absolute deviations


class RecentScores:
    """The last `KEPT` scores, in order of arrival and in order of size."""

    def __init__(self, scores: Iterable[float] = ()) -> None:
        self._arrived = array("d", scores)
        self._ordered = sorted(self._arrived)
        self._spread: float | None = None

    def add(self, score: float) -> None:
        """Remember a finite score, and forget the oldest if there are too many."""
        if len(self._arrived) == KEPT:
            del self._ordered[bisect_left(self._ordered, self._arrived.pop(0))]
        self._arrived.append(score)
        insort(self._ordered, score)
        self._spread = None

    def __len__(self) -> int:
        return len(self._ordered)

    @property
    def smallest(self) -> float:
        """The smallest of the scores; there must be one."""
        return self._ordered[0]

    @property
    def largest(self) -> float:
        """The largest of the scores; there must be one."""
        return self._ordered[-1]

    def quantile(self, alpha: float) -> float | None:
        """The conformal (1 - alpha) quantile; None while there are too few scores for it."""
        count = len(self._ordered)
        rank = math.ceil((1.0 - alpha) * (count + 1) - 1e-9)
        return self._ordered[rank - 1] if rank <= count else None

    @property
    def spread(self) -> float:
        """1.5 mean absolute deviations."""
        if self._spread is None:
            scores, count = np.frombuffer(self._arrived), len(self._arrived)
            away = np.abs(scores - np.add.reduce(scores) / count)
            self._spread = SPREAD * float(np.add.reduce(away) / count)
        return self._spread

    def to_array(self) -> FloatArray:
        """The scores in order of arrival, for storage."""
        return np.array(self._arrived, np.float64)
