"""Evidence: whether the curves of a stream satisfy the assumptions of the long-run bounds."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

from localarc.curves.curves import Curves
from localarc.guarantees import Evidence
from localarc.guarantees.assumptions import AssumptionWarning
from localarc.memory.base import LossCurve


def examine(curves: Curves, alpha: float) -> Evidence:
    """Whether the curves satisfy (A2) and (A3), with a warning where one of them fails."""
    full, empty = curves.full_set_fails(alpha), curves.empty_set_passes(alpha)
    _warn_of_assumptions(full.tolist(), empty.tolist(), alpha)
    return Evidence(curves.score_range, len(full), len(empty), len(curves))


def _warn_of_assumptions(full: Sequence[int], empty: Sequence[int], alpha: float) -> None:
    """Warn of rounds, counted from 0, that violate (A2) or (A3)."""
    advice = "the long-run bounds do not hold here"
    harmless = f"{advice}, but the one-sided bound does with a floor, ARC(..., floor=...)"
    whats = (full, "a full set costs more", advice), (empty, "an empty set costs less", harmless)
    for rounds, what, so in whats:
        if len(rounds):
            warnings.warn(
                f"{what} than alpha = {alpha} in {len(rounds)} round(s), first in round "
                f"{rounds[0] + 1}, counted from 1: {so}.",
                AssumptionWarning,
                stacklevel=4,
            )


class Examined:
    """What `examine` finds out of packed curves, from curves that come one at a time."""

    def __init__(self, alpha: float) -> None:
        self._alpha = alpha
        self._rounds = 0
        self._full: list[int] = []
        self._empty: list[int] = []
        self._low, self._high = math.inf, -math.inf
        self._ranged = True

    def add(self, curve: LossCurve) -> None:
        """Look at the curve of the next round."""
        if curve.loss(math.inf) > self._alpha:
            self._full.append(self._rounds)
        if curve.loss(-math.inf) < self._alpha:
            self._empty.append(self._rounds)
        self._rounds += 1
        self._ranged = self._ranged and hasattr(curve, "score_range")  # a user's may have none
        if scores := getattr(curve, "score_range", None):
            self._low, self._high = min(self._low, scores[0]), max(self._high, scores[1])

    def evidence(self) -> Evidence:
        """The evidence, with a warning where (A2) or (A3) failed."""
        _warn_of_assumptions(self._full, self._empty, self._alpha)
        scores = (self._low, self._high) if self._low <= self._high else (0.0, 0.0)
        return Evidence(
            scores if self._ranged else None, len(self._full), len(self._empty), self._rounds
        )
