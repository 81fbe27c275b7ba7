"""Thresholds for several coverage levels and tails, nested, with a calibrator for each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from localarc import validation
from localarc.calibrators.auto import AutoLARC
from localarc.calibrators.many_tickets import ask_many, forget_many, tell_many
from localarc.calibrators.role import OnlineCalibrator
from localarc.calibrators.tickets import Tickets
from localarc.curves import Curves
from localarc.models.journal import Journal, Step, Work
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


class Learned(NamedTuple):
    """What was learned from rows with outcomes, each in the order in which it was learned."""

    played: FloatArray  # (n, levels, tails), or a threshold for each label
    losses: FloatArray  # (n, levels) what was charged, of all tails together
    scores: FloatArray | None  # (n, levels, tails); None with a threshold for each label


class Lesson(NamedTuple):
    """Rows that one calibrator learns from."""

    points: FloatArray
    groups: GroupsOfRows
    curves: Curves
    inside: FloatArray  # (levels below, n) thresholds of the sets inside
    own: FloatArray  # (n,) where to write its thresholds


class Levels:
    """One calibrator per level and tail, which see the same rows in the same order.

    A larger level's threshold is at least a smaller level's, so that sets are nested. A level is
    charged for the nested set: theorem E holds for any losses, and what it needs of them, that
    thresholds above all scores cost at most alpha, holds for a larger set, too.

    Parameters
    ----------
    kind : SetKind
        What sets are made of.
    coverages : sequence of float
        The levels, ascending, in (0, 1).
    make : callable, default AutoLARC
        Returns a new calibrator for a target.
    """

    def __init__(
        self,
        kind: SetKind,
        coverages: Sequence[float],
        make: Callable[[float], OnlineCalibrator] = AutoLARC,
    ) -> None:
        self.kind, self.coverages = kind, tuple(coverages)
        tails = len(kind.tails)
        alphas = [round(1.0 - coverage, 12) / tails for coverage in self.coverages]
        self.calibrators = tuple(tuple(make(alpha) for _ in kind.tails) for alpha in alphas)
        self.journal = Journal()

    @property
    def each(self) -> list[OnlineCalibrator]:
        """All calibrators."""
        return [cal for level in self.calibrators for cal in level]

    @property
    def rounds(self) -> int:
        """The number of rows learned from."""
        return self.calibrators[0][0].rounds

    @property
    def alphas(self) -> list[list[float]]:
        """The target of each level and tail."""
        return [[cal.alpha for cal in level] for level in self.calibrators]

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
    ) -> Work[tuple[IntArray, FloatArray]]:
        """Ids, which are the same for all calibrators, and thresholds."""
        tickets: list[Tickets] = []

        def run(start: int, cal: OnlineCalibrator) -> None:
            tickets.append(ask_many(cal, points[start:], groups_from(groups, start)))

        def asked() -> tuple[IntArray, FloatArray]:
            if not tickets:
                return np.empty(0, np.int64), np.empty((0, *self._shape))
            return tickets[0].ids, self._nested([ticket.thresholds for ticket in tickets])

        steps = [Step.of(cal, len(points), partial(run, cal=cal)) for cal in self.each]
        return Work(steps, asked)

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
    ) -> Work[Learned]:
        """Learn from rows in order, with the thresholds that they would have had then."""
        curves = self.kind.curves(outputs, y)
        own = np.empty((*self._shape, len(points)))
        steps = []
        for level, calibrators in enumerate(self.calibrators):
            for tail, cal in enumerate(calibrators):
                inside = own[:level, tail]
                lesson = Lesson(points, groups, curves[tail], inside, own[level, tail])
                run = partial(self._learn_from, cal=cal, lesson=lesson)
                steps.append(Step.of(cal, len(points), run))

        def learned() -> Learned:
            played = np.maximum.accumulate(own.transpose(2, 0, 1), axis=1)
            return self._learned(curves, played)

        return Work(steps, learned)

    def _learned(self, curves: Sequence[Curves], played: FloatArray) -> Learned:
        losses, scores = np.zeros(played.shape[:2]), np.empty(played.shape)
        for level, calibrators in enumerate(self.calibrators):
            for tail, cal in enumerate(calibrators):
                losses[:, level] += _losses_at(curves[tail], played[:, level, tail])
                scores[:, level, tail] = curves[tail].min_thresholds(cal.alpha)
        return Learned(played, losses, scores)

    def _learn_from(self, start: int, cal: OnlineCalibrator, lesson: Lesson) -> None:
        """Learn from rows in order; charged is the largest of the own threshold and those inside.

        The own ones are written where they are learned from, so that no interrupt loses them.
        """
        points, groups = lesson.points[start:], groups_from(lesson.groups, start)
        none, inside = np.full(len(points), -np.inf), lesson.inside[:, start:]
        least = inside.max(axis=0) if len(inside) else none
        own, curves = lesson.own[start:], lesson.curves.take(slice(start, None))
        cover = getattr(cal, "cover", None)
        if self.kind.counts_misses and cover is not None:
            cover(points, curves.min_thresholds(), groups, least, own)
        else:
            _one_by_one(cal, points, groups, curves, least, own)

    def tell(self, ids: IntArray, played: FloatArray, outputs: Outputs, y: Any) -> Work[Learned]:
        """Learn from rows that were asked, with the thresholds that they had."""
        curves, steps = self.kind.curves(outputs, y), []
        for level, calibrators in enumerate(self.calibrators):
            for tail, cal in enumerate(calibrators):
                losses = curves[tail].losses_at(played[:, level, tail])
                scores = curves[tail].min_thresholds(cal.alpha)
                run = partial(_tell_from, cal=cal, ids=ids, losses=losses, scores=scores)
                steps.append(Step.of(cal, len(ids), run))
        return Work(steps, partial(self._learned, curves, played))

    def forget(self, ids: IntArray) -> list[Step]:
        """Stop waiting for the outcomes of rows."""

        def run(start: int, cal: OnlineCalibrator) -> None:
            forget_many(cal, ids[start:])

        return [Step.of(cal, len(ids), partial(run, cal=cal)) for cal in self.each]

    def shown(self, played: FloatArray, learned: IntArray | int) -> FloatArray:
        """Thresholds with full sets where fewer scores were known than a level needs."""
        needed = [self.needed(level) for level in range(len(self.coverages))]
        return full_until_known(played, learned, needed, self.kind.full)

    def restart_units(self) -> None:
        """Prepare for another model: scores will lie elsewhere, and the promise continues."""
        for cal in self.each:
            restart: Callable[[], object] = getattr(cal, "restart_units", lambda: None)
            restart()

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


def _losses_at(curves: Curves, thresholds: FloatArray) -> FloatArray:
    """The losses at thresholds, which may be infinite."""
    full = np.isposinf(thresholds)
    found = curves.losses_at(np.where(full, 0.0, thresholds))
    return np.where(full, curves.losses[curves.offsets[1:] - 1], found)


def _tell_from(
    start: int, cal: OnlineCalibrator, ids: IntArray, losses: FloatArray, scores: FloatArray
) -> None:
    tell_many(cal, ids[start:], losses[start:], scores[start:])


def _one_by_one(
    cal: OnlineCalibrator,
    points: FloatArray,
    groups: GroupsOfRows,
    curves: Curves,
    least: FloatArray,
    own: FloatArray,
) -> None:
    """Write the thresholds of rows, each learned from at the larger of it and `least`."""
    scores = curves.min_thresholds(cal.alpha)
    for t, x in enumerate(points):
        of_row = () if groups is None else groups[t]
        own[t] = cal.threshold(x, of_row)
        loss = curves.loss_at(t, max(own[t], least[t]))
        cal.update(x, loss, float(scores[t]), of_row)
