"""The rounds of ARC and L-ARC: one at a time, with tickets for late losses, or many at once.

An interrupt (Ctrl-C) leaves a round done or not begun, and a second thread gets an error.
"""

from __future__ import annotations

import contextlib
from abc import abstractmethod
from collections.abc import Hashable, Iterator
from threading import get_ident
from typing import Any, NamedTuple, Self

import numpy as np

from localarc import validation
from localarc.calibrators.base import Point, Progress
from localarc.calibrators.running_constant import RunningConstant
from localarc.calibrators.settings import Settings
from localarc.calibrators.tickets import PendingRounds, Ticket, ticket_id
from localarc.calibrators.watched import WatchedCalibrator
from localarc.guarantees.drift import NormSums
from localarc.memory.base import Expansion, LossCurves
from localarc.validation import FloatArray

_ROUNDS_AT_ONCE = 8192  # between two reports of progress


class Checkpoint(NamedTuple):
    """What learning changes."""

    constant: RunningConstant
    local: Expansion | None = None
    features: int | None = None  # of the inputs, once one was seen
    squared_norm: float = 0.0  # of the local part
    most_pending: int = 0


class AdaptiveRounds(WatchedCalibrator):
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
        self._midway = 0, 1.0, 0.0, 0.0, 0  # the round that is, or was last, being learned
        self._start_watch()

    def reset(self) -> Self:
        """Forget everything learned."""
        self._start(self.settings)
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
        self._constant = RunningConstant(self._constant.constant, self.rounds)
        self._pending.most = max(len(self._pending.tickets) - 1, 0)
        self._pending.told = 0
        self._norms = None
        self._plan_look()
        return self

    # ---- losses that come late -----------------------------------------------------------------

    def ask(self, x: Point) -> Ticket:
        """The threshold for one input, with a ticket for its loss, which may come late.

        Parameters
        ----------
        x : array of shape (d,) or None
            The input.

        Examples
        --------
        >>> from localarc import ARC
        >>> cal = ARC(alpha=0.1)
        >>> first, second = cal.ask(None), cal.ask(None)
        >>> cal.tell(second, loss=1.0).tell(first, loss=0.0).certificate().pending
        1
        """
        point = self._point(x)
        ticket = self._pending.issue(float(self.threshold(x)), point)
        self._watched = True
        return ticket

    def tell(self, ticket: Ticket | int, loss: float) -> Self:
        """Learn from the loss of a round that `ask` issued a ticket for, in any order.

        Parameters
        ----------
        ticket : Ticket or int
            What `ask` returned, or its id.
        loss : float
            The loss of the set that the ticket's threshold made, in [0, `loss_bound`].
        """
        number = ticket_id(ticket)
        loss = validation.loss(loss, self._loss_bound)
        threshold, point = self._pending.get(number)
        self._learn(point, loss, number)
        self._watch(threshold, loss)
        return self

    def _update_late(self, x: Point, loss: float, threshold: float) -> None:
        """Learn from a loss that came late, for a caller that keeps input and threshold itself."""
        self._learn(self._point(x), validation.loss(loss, self._loss_bound))
        self._watch(threshold, loss)

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

    def _learn(self, point: FloatArray | None, loss: float, ticket: int = 0) -> None:
        """One round; an interrupt (Ctrl-C) leaves all of it done, or nothing."""
        me = get_ident()
        if self._busy:
            self._enter()
        self._busy = me  # without a call in between, no other thread can be there
        try:
            rate = self._rate(self._constant.rounds + 1)
            push = rate * (loss - self.alpha)
            self._midway = self.rounds, rate, loss, push, ticket
            self._move(point, rate, push)
            self._constant.step(rate, loss, push, self._floor)
        finally:
            self._finish()
        if self._constant.rounds == self._next_look:
            self._look()

    def _finish(self) -> None:
        """The end of a round, or of one that was interrupted."""
        self._repair()
        self._busy = 0

    def _repair(self) -> None:
        """Bring constant, local part and tickets in step, wherever a round was interrupted.

        It changes nothing after a round that was not.
        """
        before, rate, loss, push, ticket = self._midway
        if self._local_rounds > self.rounds:
            self._constant.step(rate, loss, push, self._floor)
        if ticket and self.rounds > before:
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
        with self._exclusive(), self._unchanged_on_failure():
            for start in range(0, len(points), _ROUNDS_AT_ONCE):
                part = slice(start, start + _ROUNDS_AT_ONCE)
                thresholds[part], losses[part] = self._play(points[part], curves.take(part))
                progress(len(points[part]))
            self._look_back(thresholds, losses, curves)
        return thresholds, losses

    @contextlib.contextmanager
    def _exclusive(self) -> Iterator[None]:
        """Keep other threads out."""
        me = get_ident()
        if self._busy:
            self._enter()
        self._busy = me
        try:
            yield
        finally:
            self._busy = 0

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
    def _dimension(self) -> int | None:
        """The number of features, where inputs count and one was seen."""
        return None
