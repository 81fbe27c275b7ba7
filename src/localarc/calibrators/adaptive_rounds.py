"""The rounds of ARC and L-ARC: one at a time, with tickets for late losses, or many at once.

An interrupt (Ctrl-C) leaves a round done or not begun, and a second thread gets an error.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from threading import get_ident
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from localarc import validation
from localarc.adaptive.running_constant import RunningConstant, Watched
from localarc.adaptive.settings import Settings
from localarc.calibrators.base import BaseCalibrator, Progress
from localarc.calibrators.promise_warnings import PromiseWarnings
from localarc.calibrators.role import Groups, Point
from localarc.calibrators.tickets import PendingRounds, Ticket, ticket_id
from localarc.guarantees.assumptions import warn_of_broken_assumption
from localarc.guarantees.drift import NormSums
from localarc.memory.base import Expansion, LossCurves
from localarc.validation import FloatArray

_ROUNDS_AT_ONCE = 8192  # between two reports of progress

Step: TypeAlias = tuple[float, float, float, Watched | None]
"""Rate, loss, push and what is watched."""


class Checkpoint(NamedTuple):
    """What learning changes."""

    constant: RunningConstant
    local: Expansion | None = None
    features: int | None = None  # of the inputs, once one was seen
    squared_norm: float = 0.0  # of the local part
    most_pending: int = 0


class AdaptiveRounds(BaseCalibrator):
    """A constant that every loss moves, and a local part that may move with it."""

    def _start(self, settings: Settings) -> None:
        """Begin, or begin again, before the first round."""
        self.settings = settings
        self.alpha = settings.alpha
        self._constant = RunningConstant(settings.start)
        self._pending = PendingRounds()
        self._rate = settings.rate.__call__  # a method is called faster than an object
        self._loss_bound = settings.loss_bound
        self._floor = settings.limits[1]
        self._norms: NormSums | None = None
        self._busy = 0  # the thread that is learning
        self._midway: Step = 1.0, 0.0, 0.0, None  # the step that is, or was last, being made
        self._before = -1, 0, 0  # it: the rounds, its ticket, and the most that were pending
        self._scores = settings.score_range  # the range of scores, if it was stated
        self._watched = self._scores is not None  # or tickets are in use
        self._warnings = PromiseWarnings(settings)
        self._plan_look()

    def _fresh(self) -> Self:
        """A new calibrator with these settings, as silent as this one."""
        new = type(self).__new__(type(self))
        new._start(self.settings)
        new._warnings.silent = self._warnings.silent
        return new

    def reset(self) -> Self:
        """Forget everything learned."""
        new = self._fresh()
        new._plan_look()
        vars(self).update(vars(new))  # in one call, which no interrupt divides
        return self

    def restart(self) -> Self:
        """Begin a new segment: steps start again from `rate(1)`, and so does the certificate.

        What was learned stays: the next threshold is the same. For a stream that has changed, where
        a rate that rises again would be wanted; such a rate has no bound, a new segment has one.
        Losses that are pending are learned in the new segment.

        Examples
        --------
        >>> from localarc import ARC
        >>> cal = ARC(alpha=0.1).partial_fit([[0.0]] * 100, [1.0, *[0.0] * 99])
        >>> cal.restart().certificate().rounds, cal.rounds
        (0, 100)
        """
        if self._busy:
            self._enter()
        pending, most = self._pending, max(len(self._pending.tickets) - 1, 0)
        constant = RunningConstant(self._constant.constant, self.rounds)
        self._constant, pending.most, pending.told, self._norms = constant, most, 0, None
        self._plan_look()
        return self

    # ---- losses that come late -----------------------------------------------------------------

    def ask(self, x: Point, groups: Groups = ()) -> Ticket:
        """The threshold for one input, with a ticket for its loss, which may come late.

        Parameters
        ----------
        x : array of shape (d,) or None
            The input.
        groups
            Ignored, as by every calibrator without groups.

        Examples
        --------
        >>> from localarc import ARC
        >>> cal = ARC(alpha=0.1)
        >>> first, second = cal.ask(None), cal.ask(None)
        >>> cal.tell(second, loss=1.0).tell(first, loss=0.0).certificate().pending
        1
        """
        point, threshold = self._point(x), float(self.threshold(x))
        self._watched = True
        return self._pending.issue(threshold, point)

    def tell(self, ticket: Ticket | int, loss: float, score: float | None = None) -> Self:
        """Learn from the loss of a round that `ask` issued a ticket for, in any order.

        Parameters
        ----------
        ticket : Ticket or int
            What `ask` returned, or its id.
        loss : float
            The loss of the set that the ticket's threshold made, in [0, `loss_bound`].
        score
            Ignored: only losses are learned from.
        """
        number = ticket_id(ticket)
        loss = validation.loss(loss, self._loss_bound)
        threshold, point = self._pending.get(number)
        self._learn(point, loss, threshold, number)
        return self

    def update_late(self, x: Point, loss: float, threshold: float) -> Self:
        """Learn from a loss that came late, for a caller that keeps input and threshold itself.

        Parameters
        ----------
        x : array of shape (d,) or None
            The input of the round.
        loss : float
            The loss of the set that the threshold made, in [0, `loss_bound`].
        threshold : float
            The threshold that went out for the round.

        Examples
        --------
        >>> from localarc import ARC
        >>> ARC(alpha=0.1, rate=0.5).update_late(None, loss=1.0, threshold=0.3).threshold(None)
        0.45
        """
        self._learn(self._point(x), validation.loss(loss, self._loss_bound), threshold)
        return self

    @property
    def pending(self) -> tuple[Ticket, ...]:
        """The tickets whose loss is still to come, in the order in which they were issued."""
        rounds = self._pending.tickets.items()
        return tuple(Ticket(number, threshold) for number, (threshold, _) in rounds)

    @property
    def pending_count(self) -> int:
        """The number of tickets whose loss is still to come."""
        return len(self._pending.tickets)

    @property
    def issued(self) -> int:
        """The number of tickets that were ever issued."""
        return self._pending.issued

    @property
    def most_pending(self) -> int:
        """The largest number of losses that were pending beside the one that was learned."""
        return self._pending.most

    def forget(self, ticket: Ticket | int) -> Self:
        """Stop waiting for the loss of a round: it will never be known.

        Parameters
        ----------
        ticket : Ticket or int
            What `ask` returned, or its id.
        """
        number = ticket_id(ticket)
        if self._busy:
            self._enter()
        self._pending.get(number)
        del self._pending.tickets[number]
        return self

    # ---- one round -----------------------------------------------------------------------------

    @abstractmethod
    def _point(self, x: Point) -> FloatArray | None:
        """The input, checked, where it counts."""

    @abstractmethod
    def _move(self, point: Any, rate: float, push: float) -> None:
        """Let the local part learn."""

    def _learn(
        self, point: FloatArray | None, loss: float, threshold: float, ticket: int = 0
    ) -> None:
        """One round; an interrupt (Ctrl-C) leaves all of it done, or nothing."""
        me = get_ident()
        if self._busy:
            self._enter()
        self._busy = me  # without a call in between, no other thread can be there
        try:
            constant, pending = self._constant, self._pending
            rate = self._rate(constant.rounds + 1)
            push = rate * (loss - self.alpha)
            watched = self._watch(threshold)
            self._midway = rate, loss, push, watched
            self._before = constant.rounds + constant.earlier, ticket, pending.most
            self._move(point, rate, push)
            constant.step(rate, loss, push, self._floor, watched)
            if ticket:
                del pending.tickets[ticket]
                pending.told += 1
            self._busy = 0
        except BaseException:
            self._finish()
            raise
        self._warn_if_broken()
        if constant.rounds >= self._next_look:
            self._look()

    def _expect(self, rounds: int) -> None:
        """A loss is about to be learned without a ticket, while others may be pending."""
        pending = self._pending
        most = max(pending.most, len(pending.tickets))
        self._before = rounds, 0, pending.most
        pending.most = most

    def _finish(self) -> None:
        """The end of a round that was interrupted."""
        self._repair()
        self._busy = 0

    def _repair(self) -> None:
        """Bring constant, local part and tickets in step, wherever a round was interrupted.

        It changes nothing after a round that was not.
        """
        (rate, loss, push, watched), (before, ticket, most) = self._midway, self._before
        if self._local_rounds > self.rounds:
            self._constant.step(rate, loss, push, self._floor, watched)
        if self.rounds == before:
            self._pending.most = most
        elif ticket:
            self._pending.close(ticket)

    def _enter(self) -> None:
        """Raise if another thread is learning; finish a round that was interrupted in this one."""
        if self._busy and self._busy != get_ident():
            raise RuntimeError(
                f"this {type(self).__name__} is in use by another thread. Give each thread a "
                "calibrator of its own, or guard this one with a lock."
            )
        self._repair()

    @property
    def _local_rounds(self) -> int:
        """The number of rounds that the local part has learned; without one, that of c."""
        return self.rounds

    # ---- a run that watches itself -------------------------------------------------------------

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong in this run without an error, each with the number to change."""
        return tuple(problem.text for problem in self._warnings.found.values())

    def silence(self) -> Self:
        """Do not warn: for a service, which reports problems in its status instead."""
        self._warnings.silent = True
        self._plan_look()
        return self

    def _watch(self, threshold: float) -> Watched | None:
        """What the next step is to be watched for."""
        scores = self._scores
        return None if scores is None else (threshold, self.alpha, *scores)

    def _warn_if_broken(self) -> None:
        """Warn if the latest round was the first that does not fit the assumptions."""
        watched = self._scores is not None and not self._warnings.silent
        if watched and self._constant.just_broken:
            warn_of_broken_assumption(self.settings, self._constant)

    def _watch_many(self, thresholds: FloatArray, losses: FloatArray) -> None:
        constant, scores = self._constant, self._scores
        broken = scores is not None and constant.watch_many(thresholds, losses, self.alpha, scores)
        if broken and not self._warnings.silent:
            warn_of_broken_assumption(self.settings, constant)

    def _look(self) -> None:
        """Plan the next look, and look for problems."""
        before = self._warnings.looked
        self._plan_look()
        self._warnings.look(self._constant, self._pending.most, before)

    def _look_back(self, thresholds: FloatArray, losses: FloatArray, curves: LossCurves) -> None:
        """Look for problems after a replay."""
        self._plan_look()
        self._warnings.look_back(self._constant, thresholds, losses, curves)

    def _plan_look(self) -> None:
        self._next_look = self._warnings.next_look(self._constant)

    # ---- many rounds at once -------------------------------------------------------------------

    def replay_curves(
        self,
        points: FloatArray,
        curves: LossCurves,
        groups: list[Hashable] | None,
        progress: Progress,
    ) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of rounds whose curves are known, as if step by step."""
        points = self._check_points(points)
        thresholds, losses = np.empty((2, len(points)))
        me = get_ident()
        if self._busy:
            self._enter()
        self._busy = me
        try:
            with self.unchanged_on_failure():
                for start in range(0, len(points), _ROUNDS_AT_ONCE):
                    part = slice(start, start + _ROUNDS_AT_ONCE)
                    thresholds[part], losses[part] = self._play(points[part], curves.take(part))
                    progress(len(points[part]))
                self._look_back(thresholds, losses, curves)
        finally:
            self._busy = 0
        return thresholds, losses

    def _rates(self, count: int) -> FloatArray:
        """The step sizes of the next rounds."""
        played = self._constant.rounds
        return self.settings.rate.values(played + 1, played + count + 1)

    def _check_points(self, points: FloatArray) -> FloatArray:
        """The inputs, if they fit."""
        return points

    @abstractmethod
    def _play(self, points: FloatArray, curves: LossCurves) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of the next rounds."""

    # ---- what was learned --------------------------------------------------------------------

    @property
    def rounds(self) -> int:
        """The number of losses learned from, before the last `restart` too."""
        return self._constant.rounds + self._constant.earlier

    @property
    def rounds_since_restart(self) -> int:
        """The number of losses learned from, since the last `restart` if there was one."""
        return self._constant.rounds

    @property
    def loss_sum(self) -> float:
        """Their sum, since the last `restart` too."""
        return self._constant.loss_sum

    @property
    def risk(self) -> float:
        """The mean loss so far, since the last `restart` if there was one; NaN before the first."""
        return self._constant.risk

    @property
    def loss_bound(self) -> float:
        """The largest loss that a round may have."""
        return self.settings.loss_bound

    @property
    def nbytes(self) -> int:
        """The size of what the local part stores, in bytes; 0 without one."""
        return 0

    @property
    def dimension(self) -> int | None:
        """The number of features, where inputs count and one was seen."""
        return None
