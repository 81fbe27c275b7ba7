"""What AutoLARC and Safeguard share: many rounds in one compiled call, and a state.

A batch changes bit for bit what as many single calls would change.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.calibrators.auto import state as stored
from localarc.calibrators.auto.batches import Batch, miscoverage, writable
from localarc.calibrators.auto.group_rows import resolve_rows
from localarc.calibrators.auto.groups import GroupNames, Groups
from localarc.calibrators.auto.inputs import (
    many_features,
    many_losses,
    many_scores,
    place_for,
    shown_levels,
)
from localarc.calibrators.auto.single_rounds import SingleRounds
from localarc.calibrators.base import Progress
from localarc.calibrators.tickets import Ticket, Tickets, not_pending, ticket_ids
from localarc.engine.auto import layout
from localarc.engine.auto.engine import AutoEngine
from localarc.engine.auto.loops import ASK, PEEK
from localarc.memory.base import LossCurves
from localarc.validation import FloatArray, IntArray

_ROUNDS_AT_ONCE = 8192  # between two reports of progress
_NO_TICKETS = Tickets(np.empty(0, np.int64), np.empty(0))


class GuardedCalibrator(SingleRounds):
    """A base threshold with bettors around it, in single rounds and in batches."""

    # ---- thresholds and tickets --------------------------------------------------------------

    def _thresholds(self, X: Any, groups: Any) -> FloatArray:
        with self._exclusive():
            batch = self._batch(many_features(X, self._fixed), groups)
            given = self._given_many(batch)
            return self._prepared_for(batch).serve_many(PEEK, *batch.where, given)

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
        with self._exclusive():
            batch = self._batch(many_features(X, self._fixed), groups)
            return self._issue(batch) if len(batch.points) else _NO_TICKETS

    def _issue(self, batch: Batch) -> Tickets:
        given, count = self._given_many(batch), len(batch.points)
        engine = self._prepared_for(batch, count)
        self._remember(batch, engine)
        self._keep_inputs(batch.points, batch.groups or [()] * count, given)
        issued = int(engine.numbers[layout.ISSUED])
        thresholds = engine.serve_many(ASK, *batch.where, given)
        return Tickets(np.arange(issued + 1, issued + count + 1), thresholds)

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
        numbers = ticket_ids(tickets)
        costs = many_losses(losses, len(numbers), self._loss_bound)
        known_scores = many_scores(scores, len(numbers))
        self._check_unknown(known_scores)
        self._close_many(numbers, lambda engine: engine.tell_many(numbers, costs, known_scores))
        return self

    def forget_many(self, tickets: Tickets | Sequence[Ticket | int] | IntArray) -> Self:
        """`forget` for each ticket; for all of them or, if one is not pending, for none.

        Parameters
        ----------
        tickets : Tickets, or a sequence of tickets or ids
            What `ask_many` or `ask` returned, in any order, each once.
        """
        numbers = ticket_ids(tickets)
        self._close_many(numbers, lambda engine: engine.forget_many(numbers))
        return self

    def _close_many(self, numbers: IntArray, close: Callable[[AutoEngine], int]) -> None:
        """`close` returns the position of a number that is not pending, -1 if there is none."""
        if not len(numbers):
            return
        with self._exclusive():
            missing = 0 if self._engine is None else close(self._engine)
        if missing >= 0:
            raise not_pending(int(numbers[missing]))

    def _check_unknown(self, scores: FloatArray) -> None:
        """Raise if a score is unknown, NaN, before any was known, and that requires settings."""
        unknown = np.isnan(scores)
        if unknown.any() and not np.isfinite(scores[: np.argmax(unknown)]).any():
            self.checked_score(None)

    # ---- losses known at once ----------------------------------------------------------------

    def cover(
        self,
        X: ArrayLike | None,
        scores: ArrayLike,
        groups: Sequence[Groups] | None = None,
        at_least: ArrayLike | None = None,
        out: FloatArray | None = None,
    ) -> tuple[FloatArray, FloatArray]:
        """Learn to cover scores, row by row in one call: `threshold`, then `update`, for each.

        The loss of a row is `loss_bound` if its score is above its threshold, else 0.

        Parameters
        ----------
        X : array of shape (n, d) or None
            The inputs, in chronological order; None if there are no features.
        scores : array of shape (n,)
            The score of each true outcome; may be infinite.
        groups : sequence of n groups, optional
            The groups of each input.
        at_least : array of shape (n,), optional
            What was shown in each round if the threshold was lower: the loss is that of the larger
            of the two. So a set that contains another one is charged for what people saw.
        out : contiguous array of float64, of shape (n,), optional
            Where to write the thresholds: an interrupt after the rows were learned loses none.

        Returns
        -------
        tuple of two arrays of shape (n,)
            The thresholds, and the losses.
        """
        known_scores = many_scores(scores, None)
        points = self.points_of(X, len(known_scores))
        validation.per_round("scores", known_scores, len(points))
        shown = shown_levels(at_least, len(known_scores))
        if np.isnan(known_scores).any():
            row = int(np.argmax(np.isnan(known_scores)))
            raise ValueError(
                f"scores must be known, got NaN in row {row}. Leave out rounds whose score is "
                "unknown, or use ask_many and tell_many."
            )
        return self._cover(points, known_scores, groups, shown, place_for(out, len(points)))

    def _cover(
        self,
        points: FloatArray,
        scores: FloatArray,
        groups: Sequence[Groups] | None,
        at_least: FloatArray,
        out: FloatArray,
    ) -> tuple[FloatArray, FloatArray]:
        if not len(points):
            return out, np.empty(0)
        steps = miscoverage(scores, self._loss_bound)
        with self._exclusive():
            batch = self._batch(points, groups)
            engine = self._prepared_for(batch)
            self._remember(batch, engine)
            return engine.replay(*batch.where, steps, at_least, out)

    def replay_curves(
        self,
        points: FloatArray,
        curves: LossCurves,
        groups: list[Hashable] | None,
        progress: Progress,
    ) -> tuple[FloatArray, FloatArray]:
        """Thresholds and losses of rounds whose curves are known, as if step by step."""
        points = many_features(points, self._fixed)
        thresholds, losses = np.empty((2, len(points)))
        with self._exclusive(), self.unchanged_on_failure():
            for start in range(0, len(points), _ROUNDS_AT_ONCE):
                part = slice(start, start + _ROUNDS_AT_ONCE)
                rows, labels = points[part], None if groups is None else groups[part]
                thresholds[part], losses[part] = self._play(rows, labels, curves.take(part))
                progress(len(rows))
        return thresholds, losses

    def _play(
        self, points: FloatArray, groups: Sequence[Groups] | None, curves: LossCurves
    ) -> tuple[FloatArray, FloatArray]:
        batch = self._batch(points, groups)
        engine = self._prepared_for(batch)
        self._remember(batch, engine)
        offsets = np.require(curves.offsets, np.int64, ["C", "W"])
        steps = (writable(curves.breakpoints), writable(curves.losses), offsets)
        return engine.replay(*batch.where, steps)

    def points_of(self, X: ArrayLike | None, rounds: int) -> FloatArray:
        """The inputs; None stands for rounds without features."""
        return many_features(np.empty((rounds, 0)) if X is None else X, self.dimension)

    @property
    def dimension(self) -> int | None:
        """The number of features, once a threshold was returned."""
        return self._fixed

    # ---- what they share ---------------------------------------------------------------------

    def _batch(self, points: FloatArray, groups: Any) -> Batch:
        each = None if groups is None else validation.per_round("groups", groups, len(points))
        (keys, weights), combinations = resolve_rows(self._names, points, each)
        return Batch(points, each, keys, weights, combinations)

    def _prepared_for(self, batch: Batch, tickets: int = 0) -> AutoEngine:
        return self._prepared(batch.points.shape[1], batch.keys.shape[1], tickets)

    def _remember(self, batch: Batch, engine: AutoEngine) -> None:
        """Thresholds are about to go out: the number of features is fixed, groups are known."""
        self._names.add(batch.combinations, engine.keys)
        self._fixed = batch.points.shape[1]

    def _given_many(self, batch: Batch) -> FloatArray:
        """The base threshold of each row, NaN where it is the engine's own."""
        if self._own_base:
            return np.full(len(batch.points), np.nan)
        groups = batch.groups or [()] * len(batch.points)
        pairs = zip(batch.points, groups, strict=True)
        return np.array([self._given(x, labels)[0] for x, labels in pairs], np.float64)

    @property
    def threshold_function(self) -> Callable[..., float | FloatArray]:
        """The threshold function of the next round; later updates do not change it."""
        return copy.deepcopy(self).threshold

    @property
    def averaged_threshold_function(self) -> Callable[..., float | FloatArray]:
        """There is none: the average of thresholds made of recent scores means nothing."""
        raise AttributeError(
            f"{type(self).__name__} keeps no average of its threshold functions, because they "
            "follow recent scores. Use threshold_function."
        )

    # ---- state -------------------------------------------------------------------------------

    def state(self) -> bytes:
        """The complete calibrator with its pending tickets, for storage."""
        engine = self._engine
        if engine is None or not engine.started:
            return stored.encode(type(self).__name__, self.settings, None, [], self._base_state())
        labels = [*self._names.present(engine.keys)]
        return stored.encode(type(self).__name__, self.settings, engine, labels, self._base_state())

    def restore(self, data: bytes) -> Self:
        """Replace what was learned by a state that was saved with the same settings.

        Parameters
        ----------
        data : bytes
            What `state` returned.
        """
        found = stored.decode(type(self).__name__, data, self._own_base)
        stored.check_same_settings(self.settings, found.settings)
        self._restore_base(found.base)
        self.settings = found.settings
        self._continue(found.engine, GroupNames(found.labels))
        return self

    def _base_state(self) -> bytes | None:
        """The state of what the base is made of; None if that is the engine."""
        return None

    def _restore_base(self, data: bytes | None) -> None:
        """Continue from `_base_state`."""

    def checkpoint(self) -> Any:
        """A copy of everything learned, for `rollback`."""
        engine = None if self._engine is None else self._engine.copy()
        return engine, self._names.copy()

    def rollback(self, checkpoint: Any) -> None:
        """Forget what was learned since the checkpoint."""
        self._continue(*checkpoint)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.settings.describe()}, rounds={self.rounds})"
