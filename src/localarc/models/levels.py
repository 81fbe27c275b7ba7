"""Thresholds for several coverage levels and tails, nested, with a calibrator for each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from localarc import validation
from localarc.calibrators.auto import AutoLARC
from localarc.calibrators.tickets import Tickets
from localarc.curves import Curves
from localarc.models.journal import Journal, Step
from localarc.models.kinds.base import Outputs, SetKind
from localarc.validation import FloatArray, IntArray

GroupsOfRows = list[list[str]] | None


def checked_coverages(coverage: Any) -> tuple[float, ...]:
    """The coverage levels, checked."""
    found = np.atleast_1d(validation.floats("coverage", coverage))
    inside = found.ndim == 1 and ((found > 0.0) & (found < 1.0)).all()
    levels = found.tolist()
    if not inside or not levels or sorted(set(levels)) != levels:
        raise ValueError(
            f"coverage must lie between 0 and 1, or be several such levels in ascending order, "
            f"got {coverage!r}. It is the share of outcomes to cover, e.g. 0.9."
        )
    return tuple(levels)


class Lesson(NamedTuple):
    """Rows that one calibrator learns from."""

    points: FloatArray
    groups: GroupsOfRows
    curves: Curves
    least: FloatArray  # thresholds of the set inside, minus infinity if there is none
    played: FloatArray  # where to write what was charged


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
        self.journal = Journal()

    @property
    def each(self) -> list[AutoLARC]:
        """All calibrators."""
        return [cal for level in self.calibrators for cal in level]

    @property
    def rounds(self) -> int:
        """The number of rows learned from."""
        return self.calibrators[0][0].rounds

    def needed(self, level: int) -> int:
        """How many scores a level needs: with fewer, no finite threshold is large enough."""
        return math.ceil(1.0 / self.calibrators[level][0].alpha)

    # ---- thresholds, of shape (n, levels, tails) ---------------------------------------------

    def look(self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs) -> FloatArray:
        """The thresholds of rows as they would be now; changes nothing."""
        given = () if groups is None else groups
        return self._nested([cal.threshold(points, given) for cal in self.each])

    def ask(
        self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs
    ) -> tuple[IntArray, FloatArray]:
        """Ids, which are the same for all calibrators, and thresholds."""
        tickets: list[Tickets] = []

        def run(start: int, cal: AutoLARC) -> None:
            tickets.append(cal.ask_many(points[start:], groups_from(groups, start)))

        self.journal.run([Step.of(cal, len(points), partial(run, cal=cal)) for cal in self.each])
        if not tickets:
            return np.empty(0, np.int64), np.empty((0, *self._shape))
        return tickets[0].ids, self._nested([ticket.thresholds for ticket in tickets])

    def _nested(self, found: Sequence[FloatArray]) -> FloatArray:
        table = np.stack(found, axis=1).reshape(len(found[0]), *self._shape)
        nested: FloatArray = np.maximum.accumulate(table, axis=1)
        return nested

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self.coverages), len(self.kind.tails)

    # ---- learning ----------------------------------------------------------------------------

    def learn(
        self, points: FloatArray, groups: GroupsOfRows, outputs: Outputs, y: Any
    ) -> FloatArray:
        """Learn from rows in order; returns the thresholds that they would have had then."""
        curves = self.kind.curves(outputs, y)
        played = np.full((len(points), *self._shape), -np.inf)
        none, steps = np.full(len(points), -np.inf), []
        for level, calibrators in enumerate(self.calibrators):
            for tail, cal in enumerate(calibrators):
                least = played[:, level - 1, tail] if level else none
                lesson = Lesson(points, groups, curves[tail], least, played[:, level, tail])
                run = partial(self._learn_from, cal=cal, lesson=lesson)
                steps.append(Step.of(cal, len(points), run))
        self.journal.run(steps)
        return played

    def _learn_from(self, start: int, cal: AutoLARC, lesson: Lesson) -> None:
        """Learn from rows in order; charged is the larger of the own and the `least` threshold.

        A threshold that an interrupt kept from being written is charged without the set inside.
        """
        points, groups = lesson.points[start:], groups_from(lesson.groups, start)
        least, curves = lesson.least[start:], lesson.curves.take(slice(start, None))
        if self.kind.counts_misses:
            found = cal.cover(points, curves.min_thresholds(), groups, least)[0]
        else:
            found = _one_by_one(cal, points, groups, curves, least)
        np.maximum(found, least, out=lesson.played[start:])

    def tell(self, ids: IntArray, played: FloatArray, outputs: Outputs, y: Any) -> None:
        """Learn from rows that were asked, with the thresholds that they had."""
        curves, steps = self.kind.curves(outputs, y), []
        for level, calibrators in enumerate(self.calibrators):
            for tail, cal in enumerate(calibrators):
                losses = curves[tail].losses_at(played[:, level, tail])
                scores = curves[tail].min_thresholds(cal.alpha)
                run = partial(_tell_from, cal=cal, ids=ids, losses=losses, scores=scores)
                steps.append(Step.of(cal, len(ids), run))
        self.journal.run(steps)

    def forget(self, ids: IntArray) -> None:
        """Stop waiting for the outcomes of rows."""

        def run(start: int, cal: AutoLARC) -> None:
            cal.forget_many(ids[start:])

        self.journal.run([Step.of(cal, len(ids), partial(run, cal=cal)) for cal in self.each])

    def shown(self, played: FloatArray, learned: IntArray | int) -> FloatArray:
        """Thresholds with full sets where fewer scores were known than a level needs."""
        needed = [self.needed(level) for level in range(len(self.coverages))]
        return full_until_known(played, learned, needed, self.kind.full)

    def restart_units(self) -> None:
        """Prepare for another model: scores will lie elsewhere, and the promise continues."""
        for cal in self.each:
            cal.restart_units()

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> list[bytes]:
        """The states of all calibrators."""
        return [cal.state() for cal in self.each]

    def restore(self, states: Sequence[bytes]) -> None:
        """Continue from `state`."""
        for cal, data in zip(self.each, states, strict=True):
            cal.restore(data)


def full_until_known(
    played: FloatArray, learned: IntArray | int, needed: Sequence[int], full: float
) -> FloatArray:
    """Thresholds per level, `full` in rows before which fewer were learned than a level needs."""
    shown = played.copy()
    for level, least in enumerate(needed):
        early = np.broadcast_to(np.asarray(learned) < least, len(shown))
        shown[early, level] = full
    return shown


def groups_from(groups: GroupsOfRows, start: int) -> GroupsOfRows:
    """The groups of rows from a position on."""
    return None if groups is None else groups[start:]


def _tell_from(
    start: int, cal: AutoLARC, ids: IntArray, losses: FloatArray, scores: FloatArray
) -> None:
    cal.tell_many(ids[start:], losses[start:], scores[start:])


def _one_by_one(
    cal: AutoLARC, points: FloatArray, groups: GroupsOfRows, curves: Curves, least: FloatArray
) -> FloatArray:
    """The thresholds of rows, each learned from at the larger of it and `least`."""
    scores, found = curves.min_thresholds(cal.alpha), np.empty(len(points))
    for t, x in enumerate(points):
        of_row = () if groups is None else groups[t]
        found[t] = cal.threshold(x, of_row)
        loss = curves.loss_at(t, max(found[t], least[t]))
        cal.update(x, loss, float(scores[t]), of_row)
    return found
