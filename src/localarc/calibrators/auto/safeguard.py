"""Safeguard: bettors around anybody's thresholds."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.calibrators.auto import state as stored
from localarc.calibrators.auto.groups import Groups
from localarc.calibrators.auto.guarded import GuardedCalibrator
from localarc.calibrators.auto.inputs import many_losses, many_scores
from localarc.calibrators.auto.settings import BYTES, MOST_PENDING, checked_settings
from localarc.calibrators.base import Progress
from localarc.calibrators.checkpoints import checkpoint, rolled_back
from localarc.calibrators.role import Calibrator, Point
from localarc.calibrators.step_by_step import play_round
from localarc.calibrators.tickets import Ticket, Tickets, not_pending, ticket_id, ticket_ids
from localarc.engine.auto import layout
from localarc.memory.base import LossCurves
from localarc.serialization import StateError
from localarc.validation import FloatArray, IntArray

Base = Calibrator | Callable[[Any], float]
T = TypeVar("T")


class Input(NamedTuple):
    """Of a pending ticket: what the base learns from."""

    x: FloatArray
    groups: Groups
    base: float  # its threshold, infinite if it knew none


class Midway(NamedTuple):
    """A round that the base learns first: what follows, and how to see whether it has learned."""

    follow: Callable[[], object]
    returned: list[object]  # by the base's update: one entry, or none
    base_rounds: float  # before
    rounds: float


class Safeguard(GuardedCalibrator):
    """The bettors of AutoLARC around any base threshold: a model's quantile, LARC, your own rule.

    The base is asked for a threshold, bets are added to it, and the base then learns from the loss
    of the sum. Theorem E holds whatever the base does; a good base keeps sets small.

    Parameters
    ----------
    base : Calibrator or callable
        Anything with `threshold(x)` and `update(x, loss)`, which also receives what its
        `learns_from` names; or a function from an input to a threshold, which learns nothing.
    alpha : float or None, default None
        The target, in (0, `loss_bound`); by default that of the base.
    limits : (float or None, float or None), default (None, None)
        Thresholds that are never crossed, below and above, in the units of the score.
    promise : "both" or "at most", default "both"
        Whether the risk is kept near `alpha` from both sides, or only from above.
    loss_bound : float, default 1.0
        B, the largest loss that a round may have.
    unit : float or None, default None
        A typical difference between scores, required only if scores are never passed.
    max_bytes : int, default 9000000
        Bounds the table of nodes.
    max_pending : int, default 1000000
        How many tickets may be pending. `ask` then fails, until one is told or forgotten.

    Examples
    --------
    >>> guarded = Safeguard(lambda x: 0.5, alpha=0.1)
    >>> for _ in range(50):
    ...     loss = float(0.9 > guarded.threshold([0.0]))
    ...     _ = guarded.update([0.0], loss, score=0.9)
    >>> guarded.threshold([0.0]) > 0.5
    True
    """

    _own_base = False

    def __init__(
        self,
        base: Base,
        alpha: float | None = None,
        *,
        limits: tuple[float | None, float | None] = (None, None),
        promise: str = "both",
        loss_bound: float = 1.0,
        unit: float | None = None,
        max_bytes: int = BYTES,
        max_pending: int = MOST_PENDING,
    ) -> None:
        self.base = _checked_base(base)
        self._start(
            checked_settings(
                alpha=_target(base) if alpha is None else alpha,
                limits=limits,
                promise=promise,
                evenness=1.0,
                loss_bound=loss_bound,
                unit=unit,
                initial_threshold=None,  # a base knows its own
                max_bytes=max_bytes,
                max_pending=max_pending,
            )
        )
        self._begin_rounds()

    def _begin_rounds(self) -> None:
        """Nothing is pending, and no round was interrupted."""
        self._inputs: dict[int, Input] = {}  # of pending tickets, for the base
        self._midway: Midway | None = None  # the round that the base learns, or was to learn
        self._stale = False  # whether a call was interrupted, and what it left is to be repaired

    def _given(self, point: FloatArray, groups: Groups) -> tuple[float, float]:
        threshold: Any = getattr(self.base, "threshold", self.base)
        where = {"groups": groups} if "groups" in _wanted(self.base) else {}
        found, hint = threshold(point, **where), "It must be one number per input."
        if isinstance(found, float) and found == np.inf:  # the base knows nothing yet
            return np.inf, np.nan
        return validation.finite("the base's threshold", found, hint), np.nan

    def ask(self, x: Point, groups: Groups = ()) -> Ticket:
        """A threshold whose loss will be told later, in any order.

        Parameters
        ----------
        x : array of shape (d,) or None
            The input of the round; NaN marks a missing feature.
        groups : hashable, list, set or mapping, default ()
            The groups of the input.

        Returns
        -------
        Ticket
            The threshold, and the id to report its loss with.
        """
        return self._whole(lambda: super(Safeguard, self).ask(x, groups))

    def tell(self, ticket: Ticket | int, loss: float, score: float | None = None) -> Self:
        """Learn from the loss of a ticket, and let the base learn from it.

        The base learns by `update`, which is about its present threshold. If that has changed since
        the ticket went out and the score is known, a miss is one of the present threshold.

        Parameters
        ----------
        ticket : Ticket or int
            What `ask` returned, or its id.
        loss : float
            The loss of the set that its threshold made, in [0, `loss_bound`].
        score : float or None, default None
            The least threshold whose loss is at most `alpha`, as in `update`.
        """
        number = ticket_id(ticket)
        cost, known_score = validation.loss(loss, self._loss_bound), self.checked_score(score)

        def call() -> None:
            engine: Any = self._engine
            if number not in self._inputs:
                raise not_pending(number)
            asked = self._inputs[number]
            tell = partial(engine.tell, number, cost, known_score)
            heard = self._loss_today(asked, cost, known_score)
            self._with_base(tell, asked.x, heard, known_score, asked.groups)
            del self._inputs[number]

        self._whole(call, alone=True)
        return self

    def forget(self, ticket: Ticket | int) -> Self:
        """Stop waiting for the loss of a ticket: it counts as a loss of `alpha`.

        Parameters
        ----------
        ticket : Ticket or int
            What `ask` returned, or its id.
        """
        number = ticket_id(ticket)

        def call() -> None:
            super(Safeguard, self).forget(number)
            del self._inputs[number]

        self._whole(call)
        return self

    def ask_many(self, X: ArrayLike, groups: Sequence[Groups] | None = None) -> Tickets:
        """`ask` for each row, in one call.

        Parameters
        ----------
        X : array of shape (n, d)
            The inputs, in chronological order; NaN marks a missing feature.
        groups : sequence of n groups, optional
            The groups of each input.

        Returns
        -------
        Tickets
            The numbers and the thresholds of the n tickets.
        """
        return self._whole(lambda: super(Safeguard, self).ask_many(X, groups))

    def _keep_inputs(
        self, points: FloatArray, groups: Sequence[Groups], given: Sequence[float] | FloatArray
    ) -> None:
        first = int(self._numbers[layout.ISSUED]) + 1
        inputs = map(Input, points.copy(), groups, given)
        self._inputs.update(zip(range(first, first + len(points)), inputs, strict=True))

    def tell_many(
        self,
        tickets: Tickets | Sequence[Ticket | int] | IntArray,
        losses: ArrayLike,
        scores: ArrayLike | None = None,
    ) -> Self:
        """`tell` for each ticket, in the given order; for all of them or, if one fails, for none.

        Parameters
        ----------
        tickets : Tickets, or a sequence of tickets or ids
            What `ask_many` or `ask` returned, in any order, each once.
        losses : array of shape (n,)
            The loss of each ticket's set, in [0, `loss_bound`].
        scores : array of shape (n,), optional
            The score of each round, as in `update`; NaN if it is unknown.
        """
        numbers = ticket_ids(tickets).tolist()
        costs = many_losses(losses, len(numbers), self._loss_bound)
        known_scores = many_scores(scores, len(numbers))
        with self.unchanged_on_failure():
            for number, loss, score in zip(
                numbers, costs.tolist(), known_scores.tolist(), strict=True
            ):
                self.tell(number, loss, None if score != score else score)
        return self

    def forget_many(self, tickets: Tickets | Sequence[Ticket | int] | IntArray) -> Self:
        """`forget` for each ticket; for all of them or, if one is not pending, for none.

        Parameters
        ----------
        tickets : Tickets, or a sequence of tickets or ids
            What `ask_many` or `ask` returned, in any order, each once.
        """
        numbers = ticket_ids(tickets)

        def call() -> None:
            super(Safeguard, self).forget_many(numbers)
            for number in numbers.tolist():
                del self._inputs[number]

        self._whole(call)
        return self

    def _cover(
        self,
        points: FloatArray,
        scores: FloatArray,
        groups: Sequence[Groups] | None,
        at_least: FloatArray,
        out: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        thresholds, losses = out, np.empty(len(points))
        each = [()] * len(points)
        if groups is not None:
            each = validation.per_round("groups", groups, len(points))
        with self.unchanged_on_failure():
            for t, (x, score) in enumerate(zip(points, scores.tolist(), strict=True)):
                thresholds[t] = self.threshold(x, each[t])
                covered = score <= max(thresholds[t], at_least[t])
                losses[t] = 0.0 if covered else self._loss_bound
                self.update(x, float(losses[t]), score, each[t])
        return thresholds, losses

    def _loss_today(self, asked: Input, loss: float, score: float) -> float:
        """What the base learns from a late loss: a miss at its threshold of today, not of then.

        `update` is about the present threshold, and a base that follows losses of thresholds that
        it has left swings. A loss between none and the largest, or without a score, stays.
        """
        if not hasattr(self.base, "update") or loss not in (0.0, self._loss_bound):
            return loss
        threshold, _ = self._given(asked.x, asked.groups)
        if threshold in (asked.base, np.inf) or score != score:
            return loss
        return self._loss_bound if score > threshold else 0.0

    # ---- completely or not at all ------------------------------------------------------------

    def _with_base(
        self, follow: Callable[[], T], x: Point, loss: float, score: float, groups: Groups
    ) -> T:
        wanted = _wanted(self.base)
        learn: Any = getattr(self.base, "update", None)
        if learn is None:
            return follow()
        more: dict[str, Any] = {"groups": groups} if "groups" in wanted else {}
        if "score" in wanted:
            more["score"] = None if score != score else score
        returned: list[object] = []
        counts = _rounds(self.base), self._numbers[layout.ROUNDS]
        self._midway = Midway(follow, returned, *counts)
        try:
            # No signal is handled between the base's return and the entry in the list.
            returned.extend(map(partial(learn, **more), [x], [loss]))
            result = follow()
            self._midway = None
            return result
        except BaseException:
            self._stale = True
            self._repair()
            raise

    def _whole(self, call: Callable[[], T], alone: bool = False) -> T:
        """Make a call that may be interrupted; `alone`: it does not keep other threads out."""
        try:
            if not alone:
                return call()
            with self._exclusive():
                return call()
        except BaseException:
            self._stale = True
            self._exclusive()
            raise

    def _exclusive(self) -> threading.Lock:
        lock = super()._exclusive()
        if self._stale:
            with lock:
                self._repair()
        return lock

    def _repair(self) -> None:
        """Bring base, bettors and inputs in step, wherever a call was interrupted."""
        midway = self._midway
        if midway is not None:
            learned = midway.returned or _rounds(self.base) > midway.base_rounds
            if learned and self._numbers[layout.ROUNDS] == midway.rounds:
                midway.follow()
            self._midway = None
        pending = {ticket.id for ticket in self.pending}
        self._inputs = {number: x for number, x in self._inputs.items() if number in pending}
        self._stale = False

    def replay_curves(
        self,
        points: FloatArray,
        curves: LossCurves,
        groups: list[Hashable] | None,
        progress: Progress,
    ) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of rounds whose curves are known, step by step."""
        thresholds, losses = np.empty((2, len(points)))
        with self.unchanged_on_failure():
            for t, x in enumerate(points):
                label = None if groups is None else groups[t]
                thresholds[t], losses[t], _ = play_round(self, x, curves[t], label)
                progress(1)
        return thresholds, losses

    def reset(self) -> Self:
        """Forget everything learned; the base, too, if it can."""
        with self.unchanged_on_failure():
            if hasattr(self.base, "reset"):
                self.base.reset()
            self._begin_rounds()
            return super().reset()

    # ---- state -------------------------------------------------------------------------------

    @classmethod
    def from_state(cls, data: bytes, base: Base | None = None) -> Self:
        """The calibrator whose `state` this was.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        base : Calibrator or callable
            A base like the one before: its class and functions are not stored, only its state.
        """
        if base is None:
            raise StateError(
                "the base is not stored. Pass one like it: Safeguard.load(path, base=...)."
            )
        found = stored.decode(cls.__name__, data, cls._own_base)
        new = cls.__new__(cls)
        new.base = _checked_base(base)
        new._start(found.settings)
        new._begin_rounds()
        return new.restore(data)

    def _base_state(self) -> bytes | None:
        self._exclusive()
        if self._inputs:
            raise StateError(
                "a Safeguard with pending tickets cannot be saved, because it does not store their "
                "inputs. Tell or forget them first."
            )
        if hasattr(self.base, "state"):
            return bytes(self.base.state())
        if hasattr(self.base, "update"):
            raise StateError(f"{self.base!r} cannot be saved: it has no state().")
        return None

    def _restore_base(self, data: bytes | None) -> None:
        if data is not None:
            restore: Any = getattr(self.base, "restore", None)
            if restore is None:
                raise StateError(f"{self.base!r} has no restore(), but the state has its state.")
            restore(data)
        self._begin_rounds()

    def checkpoint(self) -> tuple[Any, ...]:
        """A copy of everything learned, for `rollback`."""
        return super().checkpoint(), checkpoint(self.base), dict(self._inputs)

    def rollback(self, checkpoint: tuple[Any, ...]) -> None:
        """Forget what was learned since the checkpoint."""
        learned, kept, inputs = checkpoint
        self.base = rolled_back(self.base, kept)
        super().rollback(learned)
        self._begin_rounds()
        self._inputs = inputs

    def __repr__(self) -> str:
        return f"Safeguard({self.base!r}, {self.settings.describe()}, rounds={self.rounds})"


def _rounds(base: Any) -> float:
    """How many rounds a base has learned; 0 if it does not count them."""
    return float(getattr(base, "rounds", 0))


def _wanted(base: Any) -> frozenset[str]:
    return frozenset(getattr(base, "learns_from", ()))


def _target(base: Any) -> float:
    if not hasattr(base, "alpha"):
        raise ValueError(
            "alpha must be given: the base has none. It is the average loss you accept."
        )
    return float(base.alpha)


def _checked_base(base: Any) -> Base:
    fits = callable(base) or (hasattr(base, "threshold") and hasattr(base, "update"))
    if isinstance(base, type) or not fits:
        raise TypeError(
            f"base must have threshold(x) and update(x, loss), or be a function of x, got {base!r}."
            " For example ARC(alpha=0.1)."
        )
    return base  # type: ignore[no-any-return]
