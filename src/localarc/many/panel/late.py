"""Rounds of many streams whose losses may come late: what happens at each event, in order."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from localarc.memory.base import LossCurves
from localarc.validation import FloatArray, IntArray

if TYPE_CHECKING:
    from localarc.many.panel.panel import Panel

ASK, LEARN, AFTER = 1, 2, 4  # as in engine.keyed.late, which is imported when it is used


@dataclass(frozen=True)
class LateEvents:
    """Events in order; `thresholds`, `points` and `tickets` begin with asks from before, p of them.

    Parameters
    ----------
    acts : array of shape (n,)
        A sum of ASK (a threshold goes out), LEARN (a loss comes in) and AFTER (the next threshold
        for the same input is computed).
    asked : array of shape (n,)
        Where an event learns: the place of its ask in `points`, p plus its own number if it asks
        itself.
    points : array of shape (p + n, d)
        Inputs.
    thresholds : array of shape (p,)
        The thresholds that went out before.
    tickets : array of shape (p,)
        The tickets of these, 0 where calibrators issue none.
    curves : LossCurves
        The loss of each event as a function of the threshold that went out for it.
    scores : array of shape (n,), optional
        Scores, for calibrators that learn from them.
    given_up : array of shape (n,), optional
        The place in `points` of an ask whose loss is no longer waited for once this event has
        happened, -1 for none.
    """

    acts: IntArray
    asked: IntArray
    points: FloatArray
    thresholds: FloatArray
    tickets: IntArray
    curves: LossCurves
    scores: FloatArray | None
    given_up: IntArray | None = None

    @classmethod
    def each_its_own(cls, points: FloatArray, curves: LossCurves) -> LateEvents:
        """Events that ask and learn at once, without any from before."""
        count = len(points)
        acts, none = np.full(count, ASK | LEARN, np.int64), np.empty(0, np.int64)
        return cls(acts, np.arange(count), points, np.empty(0), none, curves, None)

    def __len__(self) -> int:
        return len(self.acts)

    @property
    def learns(self) -> Any:
        """Which events learn."""
        return (self.acts & LEARN) != 0

    @cached_property
    def _lists(self) -> tuple[list[float], list[float], list[int]]:
        """The curves for loops in Python."""
        curves = self.curves
        return curves.breakpoints.tolist(), curves.losses.tolist(), curves.offsets.tolist()

    def loss_at(self, i: int, threshold: float) -> float:
        """The loss of an event at a threshold; NaN where the loss is known, a curve of one step."""
        breakpoints, losses, offsets = self._lists
        return losses[bisect_right(breakpoints, threshold, offsets[i], offsets[i + 1]) - 1]

    def answers(self) -> Answers:
        """Empty answers, with the thresholds from before."""
        count, before = len(self), len(self.thresholds)
        thresholds, tickets = np.full(before + count, np.nan), np.zeros(before + count, np.int64)
        thresholds[:before], tickets[:before] = self.thresholds, self.tickets
        return Answers(thresholds, np.full(count, np.nan), np.full(count, np.nan), tickets)

    def steps(self) -> tuple[FloatArray, FloatArray, IntArray]:
        """The curves as compiled loops require them."""
        breakpoints = np.require(self.curves.breakpoints, np.float64, ["C", "W"])
        losses = np.require(self.curves.losses, np.float64, ["C", "W"])
        return breakpoints, losses, np.require(self.curves.offsets, np.int64, ["C", "W"])


@dataclass(frozen=True)
class Answers:
    """What came out: thresholds and tickets of asks, losses of learned events, next thresholds."""

    thresholds: FloatArray
    losses: FloatArray
    after: FloatArray
    tickets: IntArray

    @property
    def arrays(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What compiled loops fill."""
        return self.thresholds, self.losses, self.after


def serve(panel: Panel, names: list[str], codes: IntArray, events: LateEvents) -> Answers:
    """Apply events to a panel, all or none; `codes` is the place of each event's key in `names`.

    Every name must occur. New keys are added, also those that only ask.
    """
    rows, new = panel._index.plan(list(names))
    return panel._whole(new, lambda: panel._streams.serve(rows[codes], events))
