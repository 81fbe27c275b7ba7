"""What ARC and L-ARC share: a running constant, what it guarantees, and a state."""

from __future__ import annotations

import contextlib
import math
import warnings
from abc import abstractmethod
from collections.abc import Callable, Hashable, Iterator, Sequence
from threading import get_ident
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from localarc import serialization, validation
from localarc.calibrators import health
from localarc.calibrators.base import BaseCalibrator, Point, Progress, ThresholdFunction
from localarc.calibrators.restored import restored_constant
from localarc.calibrators.running_constant import RunningConstant
from localarc.calibrators.settings import Settings, settings_from_json
from localarc.calibrators.tickets import PendingRounds, Ticket, ticket_id
from localarc.guarantees import Bound, Certificate, Evidence
from localarc.guarantees.assumptions import Lateness, warn_of_broken_assumption
from localarc.guarantees.certificate import certify, check_against_log, identity
from localarc.guarantees.drift import MOST_ROUNDS, NormSums
from localarc.guarantees.theorems import score_range, theorem_c
from localarc.kernels.base import Kernel
from localarc.kernels.custom import Function, as_kernel
from localarc.memory.base import Arrays, LossCurves
from localarc.rates import as_rate
from localarc.validation import FloatArray

_ROUNDS_AT_ONCE = 8192  # between two reports of progress


class AdaptiveCalibrator(BaseCalibrator):
    """Settings that stay, and a constant that every loss moves: the role of ARC and of L-ARC."""

    settings: Settings
    _constant: RunningConstant
    _looks: bool = True

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
        self._scores = settings.score_range
        self._watched = self._scores is not None  # or tickets are in use
        self._busy = 0  # the thread that is learning
        self._midway = 0, 1.0, 0.0, 0.0, 0  # the round that is, or was last, being learned
        self._problems: dict[str, health.Problem] = {}  # what was warned about, once each
        self._suspected: frozenset[str] = frozenset()  # what the latest look found
        self._plan_look()

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

    # ---- assumptions ---------------------------------------------------------------------------

    def _after_update(self, threshold: float, loss: float) -> None:
        """After a loss without a ticket: was any pending, and does it fit the assumptions?"""
        if self._pending.tickets:
            self._pending.learned_meanwhile()
        self._watch(threshold, loss)

    def _watch(self, threshold: float, loss: float) -> None:
        constant, scores = self._constant, self._scores
        broken = scores is not None and constant.watch(threshold, loss, self.alpha, scores)
        if broken and self._looks:
            warn_of_broken_assumption(self.settings, constant)

    def _watch_many(self, thresholds: FloatArray, losses: FloatArray) -> None:
        constant, scores = self._constant, self._scores
        broken = scores is not None and constant.watch_many(thresholds, losses, self.alpha, scores)
        if broken and self._looks:
            warn_of_broken_assumption(self.settings, constant)

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

    @property
    @abstractmethod
    def threshold_function(self) -> ThresholdFunction:
        """The threshold function of the next round; later updates do not change it."""

    @property
    @abstractmethod
    def averaged_threshold_function(self) -> ThresholdFunction:
        """The time average of the threshold functions of all rounds so far."""

    def reset(self) -> Self:
        """Forget everything learned."""
        self._start(self.settings)
        return self

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

    # ---- health ------------------------------------------------------------------------------

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong in this run without an error, each with the number to change."""
        return tuple(problem.text for problem in self._problems.values())

    def silence(self) -> Self:
        """Do not warn: for a service, which reports problems in its status instead."""
        self._looks = False
        self._plan_look()
        return self

    def _plan_look(self) -> None:
        """Look again when the number of rounds is the next power of two."""
        self._next_look = max(64, 1 << self._constant.rounds.bit_length()) if self._looks else -1
        self._looked = self._constant.rounds, self._constant.loss_sum

    def _look(self, stacklevel: int = 4) -> None:
        """Warn about what went wrong at two looks in a row; called by `update`."""
        constant, (rounds, loss_sum) = self._constant, self._looked
        recent = constant.rounds - rounds, constant.loss_sum - loss_sum
        self._plan_look()
        seen = health.vitals(self.settings, constant, *recent, pending=self._pending.most)
        found, before = health.problems(seen), self._suspected
        self._suspected = frozenset(problem.key for problem in found)
        self._warn([problem for problem in found if problem.key in before], stacklevel)

    def _look_back(self, thresholds: FloatArray, losses: FloatArray, curves: LossCurves) -> None:
        """Warn about what went wrong in a replay, where scores and thresholds are known."""
        self._plan_look()
        if not len(losses) or not self._looks:
            return
        recent = losses[len(losses) // 2 :]
        seen = health.vitals(
            self.settings,
            self._constant,
            len(recent),
            float(recent.sum()),
            scores=health.scores_of(curves, self.alpha, self.loss_bound),
            thresholds=health.latest_range(thresholds),
        )
        self._warn(health.problems(seen), stacklevel=6)

    def _warn(self, found: Sequence[health.Problem], stacklevel: int) -> None:
        new = [problem for problem in found if problem.key not in self._problems]
        self._problems |= {problem.key: problem for problem in new}
        for problem in new:
            warnings.warn(problem.text, health.PromiseWarning, stacklevel=stacklevel)

    # ---- guarantees --------------------------------------------------------------------------

    def certificate(
        self,
        pending: int | None = None,
        evidence: Evidence | None = None,
        input_bound: float | None = None,
        losses: ArrayLike | None = None,
    ) -> Certificate:
        """What is guaranteed about the mean loss, and under which assumptions.

        Parameters
        ----------
        pending : int or None, default None
            The largest number of losses that were ever pending beside the one learned, where the
            calibrator cannot know: with tickets (`ask` and `tell`) it counts them itself. None
            means that each loss was known before the next threshold went out.
        evidence : Evidence or None, default None
            What `replay` found out about the stream: `record.evidence`.
        input_bound : float or None, default None
            The largest norm of an input, for the paper's own bound.
        losses : array of shape (n,) or None, default None
            All losses so far, from a log of your own, to check the calibrator against.

        Examples
        --------
        >>> from localarc import ARC
        >>> cal = ARC(alpha=0.1, score_range=(0.0, 1.0)).update(None, 1.0)
        >>> cal.certificate().identity_holds
        True
        """
        if pending is not None:
            validation.integer("pending", pending, 0, "It counts losses that are not known yet.")
        if input_bound is not None:
            hint = "It is the largest norm of an input."
            validation.not_negative("input_bound", input_bound, hint)
        made = self._certified(self._lateness(pending), _checked_evidence(evidence), input_bound)
        return check_against_log(made, losses)

    def _certified(
        self, late: Lateness, known: Evidence, input_bound: float | None = None
    ) -> Certificate:
        """The certificate, given how late losses were."""
        if self._busy:
            self._enter()
        return certify(
            self.settings,
            self._constant,
            known,
            self._norm_sums(known),
            late,
            input_bound,
            self._dimension,
        )

    def _lateness(self, stated: int | None) -> Lateness:
        measured = self._pending.told == self._constant.rounds
        return Lateness(max(stated or 0, self._pending.most), measured, stated is not None)

    @property
    def broken_since(self) -> float:
        """The first round that showed an assumption of the bounds to be false; infinity if none."""
        constant = self._constant
        empty = constant.empty_since if self.settings.floor is None else 0
        rounds = constant.rate_rise, constant.full_since, empty
        return min((float(t) for t in rounds if t), default=math.inf)

    @property
    def identity_holds(self) -> bool:
        """The consistency check: whether the running constant accounts for all losses."""
        return identity(self.settings, self._constant).holds

    def localized_bound(self, weight_norm: float, evidence: Evidence | None = None) -> Bound:
        """Theorem C: a bound on `|mean of (L_t - alpha) w(x_t)|` for weights w of a given norm.

        Parameters
        ----------
        weight_norm : float
            The norm of the weight; `kernel.norm(centres, weights)` computes that of a sum of
            kernel bumps.
        evidence : Evidence or None, default None
            What `replay` found out about the stream: `record.evidence`.
        """
        known = _checked_evidence(evidence)
        norms, late = self._norm_sums(known), self._lateness(None)
        return theorem_c(self.settings, self._constant, known, norms, late, weight_norm)

    def _norm_sums(self, evidence: Evidence) -> NormSums | None:
        scores = score_range(self.settings, evidence)
        if scores is None or self._constant.rounds > MOST_ROUNDS:
            return None
        sums = self._norms
        rounds = self._constant.rounds
        if sums is None or sums.score_range != scores or sums.rounds > rounds:
            sums = NormSums(self.settings, scores, self._constant.start)
        self._norms = sums.advance(rounds)
        return sums

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> bytes:
        """The complete calibrator, for storage: small, versioned, without pickle."""
        if self._busy:
            self._enter()
        content, arrays = self._learned()
        settings = {"settings": self.settings.to_json()}
        return serialization.encode(type(self).__name__, settings | content, arrays)

    @classmethod
    def from_state(
        cls,
        data: bytes,
        kernel: Kernel | Function | None = None,
        rate: Callable[[int], float] | None = None,
    ) -> Self:
        """The calibrator whose `state` this was.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        kernel, rate : callable or None, default None
            The functions in its kernel or rate, if there were any: functions are not stored.
        """
        kind, content, arrays = serialization.decode(data)
        cls._check_kind(kind)
        new = cls.__new__(cls)
        own_kernel, own_rate = as_kernel(kernel), None if rate is None else as_rate(rate)
        with serialization.damaged_unless_read():
            new._start(settings_from_json(content["settings"], own_kernel, own_rate))
            new._resume(content, arrays)
        return new

    def restore(self, data: bytes) -> Self:
        """Replace what was learned by a state that was saved with the same settings.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        """
        kind, content, arrays = serialization.decode(data)
        self._check_kind(kind)
        mine, theirs = self.settings.to_json(), dict(content.get("settings", {}))
        if theirs != mine:
            other = {name: value for name, value in theirs.items() if value != mine.get(name)}
            raise serialization.StateError(
                f"the state was saved with other settings, {other} instead of "
                f"{ {name: mine.get(name) for name in other} }. Restore it into a calibrator with "
                "the same settings, or use from_state."
            )
        new = type(self).__new__(type(self))  # what can fail comes first
        new._start(self.settings)
        with serialization.damaged_unless_read():
            new._resume(content, arrays)
        vars(self).update(vars(new))
        self._plan_look()
        return self

    @classmethod
    def _check_kind(cls, kind: str) -> None:
        if kind != cls.__name__:
            raise serialization.StateError(
                f"the state is of kind {kind}, not {cls.__name__}. Load it with {kind}.load."
            )

    def _learned(self) -> tuple[dict[str, Any], Arrays]:
        """What was learned, as JSON and arrays, for `_resume`."""
        content = {"trace": self._constant.values(), "tickets": self._pending.to_json()}
        return content | {"dimension": self._dimension, "square": 0.0}, self._pending.arrays()

    def _resume(self, content: dict[str, Any], arrays: Arrays) -> None:
        """Continue from what `_learned` returned."""
        self._constant = restored_constant(self.settings, content["trace"])
        self._pending = PendingRounds.restored(content["tickets"], arrays)
        self._watched = self._watched or bool(self._pending.issued)
        self._plan_look()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings.describe()}, rounds={self.rounds})"


def _checked_evidence(evidence: Evidence | None) -> Evidence:
    if evidence is not None and not isinstance(evidence, Evidence):
        raise TypeError(
            f"evidence must be a record's evidence, got {evidence!r}. For a known score range "
            "write Evidence(score_range=(0.0, 1.0))."
        )
    return evidence or Evidence()
