"""Thresholds for several coverage levels and tails, nested, with a calibrator for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from localarc.calibrators.auto import AutoLARC
from localarc.curves import Curves
from localarc.models.kinds.base import Outputs, SetKind
from localarc.validation import FloatArray, IntArray

GroupsOfRows = list[list[str]] | None


class Levels:
    """One AutoLARC per level and tail, which see the same rows in the same order.

    A larger level's threshold is at least a smaller level's, so that sets are nested. A level is
    charged for the nested set: theorem E holds for any losses, and what it needs of them, that
    thresholds above all scores cost at most alpha, holds for a larger set, too.

    Parameters
    ----------
    kind : SetKind
        What sets are made of.
    coverages : sequence of float
        The levels, ascending, in (0, 1).
    """

    def __init__(self, kind: SetKind, coverages: Sequence[float]) -> None:
        self.kind, self.coverages = kind, tuple(coverages)
        tails = len(kind.tails)
        alphas = [round(1.0 - coverage, 12) / tails for coverage in self.coverages]
        self.calibrators = tuple(tuple(AutoLARC(alpha) for _ in kind.tails) for alpha in alphas)

    def _each(self) -> list[AutoLARC]:
        return [cal for level in self.calibrators for cal in level]

    @property
    def rounds(self) -> int:
        """The number of rows learned from."""
        return self.calibrators[0][0].rounds

    @property
    def pending(self) -> int:
        """The number of rows whose outcome is still to come."""
        return len(self.calibrators[0][0].pending)

    def needed(self, level: int) -> int:
        """How many scores a level needs: with fewer, no finite threshold is large enough."""
        return math.ceil(1.0 / self.calibrators[level][0].alpha)

    # ---- thresholds, of shape (n, levels, tails) ---------------------------------------------

    def look(self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs) -> FloatArray:
        """The thresholds of rows as they would be now; changes nothing."""
        given = () if groups is None else groups
        return self._nested([cal.threshold(points, given) for cal in self._each()])

    def ask(
        self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs
    ) -> tuple[IntArray, FloatArray]:
        """Ids, which are the same for all calibrators, and thresholds."""
        tickets = [cal.ask_many(points, groups) for cal in self._each()]
        return tickets[0].ids, self._nested([ticket.thresholds for ticket in tickets])

    def _nested(self, found: Sequence[FloatArray]) -> FloatArray:
        shape = -1, len(self.coverages), len(self.kind.tails)
        nested: FloatArray = np.maximum.accumulate(np.stack(found, axis=1).reshape(shape), axis=1)
        return nested

    def learn(
        self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs, y: Any
    ) -> FloatArray:
        """Learn from rows in order; returns the thresholds that they would have had then."""
        curves = self.kind.curves(outputs, y)
        played = np.empty((len(points), len(self.coverages), len(self.kind.tails)))
        for tail, of_tail in enumerate(curves):
            least: FloatArray | None = None
            for level, calibrators in enumerate(self.calibrators):
                found = self._play(calibrators[tail], points, groups, of_tail, least)
                least = found if least is None else np.maximum(found, least)
                played[:, level, tail] = least
        return played

    def _play(
        self,
        cal: AutoLARC,
        points: FloatArray,
        groups: GroupsOfRows,
        curves: Curves,
        least: FloatArray | None,
    ) -> FloatArray:
        """Learn from rows in order; charged is the larger of the own and the `least` threshold."""
        if self.kind.counts_misses:
            return cal.cover(points, curves.min_thresholds(), groups, least)[0]
        if least is None:
            each: Any = groups
            return cal.replay_curves(points, curves, each, _silent)[0]
        scores, found = curves.min_thresholds(cal.alpha), np.empty(len(points))
        for t, x in enumerate(points):
            of_row = () if groups is None else groups[t]
            found[t] = cal.threshold(x, of_row)
            loss = curves.loss_at(t, max(found[t], least[t]))
            cal.update(x, loss, float(scores[t]), of_row)
        return found

    def tell(self, ids: IntArray, played: FloatArray, outputs: Outputs, y: Any) -> None:
        """Learn from rows that were asked, with the thresholds that they had."""
        curves = self.kind.curves(outputs, y)
        for level, calibrators in enumerate(self.calibrators):
            for tail, cal in enumerate(calibrators):
                losses = curves[tail].losses_at(played[:, level, tail])
                cal.tell_many(ids, losses, curves[tail].min_thresholds(cal.alpha))

    def forget(self, ids: IntArray) -> None:
        """Give up waiting for rows."""
        for cal in self._each():
            cal.forget_many(ids)

    def shown(self, played: FloatArray, learned: IntArray | int) -> FloatArray:
        """Thresholds with full sets where fewer scores were known than a level needs.

        `learned` is the number of rows learned from before each row.
        """
        shown = played.copy()
        for level in range(len(self.coverages)):
            early = np.broadcast_to(np.asarray(learned) < self.needed(level), len(shown))
            shown[early, level] = self.kind.full
        return shown

    def restart_units(self) -> None:
        """The model is another one: scores will lie elsewhere, the promise goes on."""
        for cal in self._each():
            cal.restart_units()

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> list[bytes]:
        """The states of all calibrators."""
        return [cal.state() for cal in self._each()]

    def restore(self, states: Sequence[bytes]) -> None:
        """Continue from `state`."""
        for cal, data in zip(self._each(), states, strict=True):
            cal.restore(data)


def _silent(rows: int) -> None:
    """Report progress to nobody."""
