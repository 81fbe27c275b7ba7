"""Safeguard: bettors around anybody's thresholds."""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.calibrators.auto import state as stored
from localarc.calibrators.auto.groups import Groups
from localarc.calibrators.auto.guarded import GuardedCalibrator
from localarc.calibrators.auto.inputs import many_losses, many_scores
from localarc.calibrators.auto.many_rounds import Batch
from localarc.calibrators.auto.settings import BYTES, checked_settings
from localarc.calibrators.base import Calibrator, Point, Progress
from localarc.calibrators.checkpoints import checkpoint, rolled_back
from localarc.calibrators.step_by_step import play_round
from localarc.calibrators.tickets import Ticket, Tickets, not_pending, ticket_id, ticket_ids
from localarc.memory.base import LossCurves
from localarc.serialization import StateError
from localarc.validation import FloatArray, IntArray

Base = Calibrator | Callable[[Any], float]


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
                initial_threshold=0.0,
                max_bytes=max_bytes,
            )
        )
        self._inputs: dict[int, tuple[Point, Groups]] = {}  # of pending tickets, for the base

    def _given(self, point: FloatArray, groups: Groups) -> tuple[float, float]:
        threshold: Any = getattr(self.base, "threshold", self.base)
        where = {"groups": groups} if "groups" in _wanted(self.base) else {}
        value = validation.finite(
            "the base's threshold", threshold(point, **where), "It must be one number per input."
        )
        return value, np.nan

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
        ticket = super().ask(x, groups)
        self._inputs[ticket.id] = (copy.copy(x), groups)
        return ticket

    def tell(self, ticket: Ticket | int, loss: float, score: float | None = None) -> Self:
        """Learn from the loss of a ticket, and let the base learn from it.

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
        if number not in self._inputs:
            raise not_pending(number)
        cost, known_score = validation.loss(loss, self._loss_bound), self._checked_score(score)
        x, groups = self._inputs[number]
        self._update_base(x, cost, known_score, groups)  # what can fail comes first
        super().tell(number, cost, score)
        del self._inputs[number]
        return self

    def forget(self, ticket: Ticket | int) -> Self:
        """Stop waiting for the loss of a ticket: it counts as a loss of `alpha`.

        Parameters
        ----------
        ticket : Ticket or int
            What `ask` returned, or its id.
        """
        super().forget(ticket)
        self._inputs.pop(ticket_id(ticket), None)
        return self

    def _issue(self, batch: Batch) -> Tickets:
        tickets = super()._issue(batch)
        groups = batch.groups or [()] * len(tickets)
        inputs = zip(batch.points.copy(), groups, strict=True)
        self._inputs.update(zip(tickets.ids.tolist(), inputs, strict=True))
        return tickets

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
        with self._unchanged_on_failure():
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
        super().forget_many(numbers)
        for number in numbers.tolist():
            self._inputs.pop(number, None)
        return self

    def _cover(
        self,
        points: FloatArray,
        scores: FloatArray,
        groups: Sequence[Groups] | None,
        at_least: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        thresholds, losses = np.empty((2, len(points)))
        each = [()] * len(points)
        if groups is not None:
            each = validation.per_round("groups", groups, len(points))
        with self._unchanged_on_failure():
            for t, (x, score) in enumerate(zip(points, scores.tolist(), strict=True)):
                thresholds[t] = self.threshold(x, each[t])
                covered = score <= max(thresholds[t], at_least[t])
                losses[t] = 0.0 if covered else self._loss_bound
                self.update(x, float(losses[t]), score, each[t])
        return thresholds, losses

    def _update_base(self, x: Point, loss: float, score: float, groups: Groups) -> None:
        wanted = _wanted(self.base)
        learn: Any = getattr(self.base, "update", None)
        if learn is None:
            return
        more: dict[str, Any] = {"groups": groups} if "groups" in wanted else {}
        if "score" in wanted:
            more["score"] = None if score != score else score
        learn(x, loss, **more)

    def replay_curves(
        self,
        points: FloatArray,
        curves: LossCurves,
        groups: list[Hashable] | None,
        progress: Progress,
    ) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of rounds whose curves are known, step by step."""
        thresholds, losses = np.empty((2, len(points)))
        with self._unchanged_on_failure():
            for t, x in enumerate(points):
                label = None if groups is None else groups[t]
                thresholds[t], losses[t], _ = play_round(self, x, curves[t], label)
                progress(1)
        return thresholds, losses

    def reset(self) -> Self:
        """Forget everything learned; the base, too, if it can."""
        if hasattr(self.base, "reset"):
            self.base.reset()
        self._inputs = {}
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
        new.base, new._inputs = _checked_base(base), {}
        new._start(found.settings)
        return new.restore(data)

    def _base_state(self) -> bytes | None:
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
        self._inputs = {}

    def _checkpoint(self) -> Any:
        return super()._checkpoint(), checkpoint(self.base), dict(self._inputs)

    def _rollback(self, checkpoint: Any) -> None:
        learned, kept, self._inputs = checkpoint
        self.base = rolled_back(self.base, kept)
        super()._rollback(learned)

    def __repr__(self) -> str:
        return f"Safeguard({self.base!r}, {self.settings.describe()}, rounds={self.rounds})"


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
