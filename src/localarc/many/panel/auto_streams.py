"""AutoLARC streams: a calibrator object per row, with a small table of nodes each."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from localarc import validation
from localarc.calibrators.auto import AutoLARC
from localarc.calibrators.auto.inputs import many_features
from localarc.calibrators.auto.settings import BYTES
from localarc.calibrators.tickets import Ticket
from localarc.calibrators.undo import Undo
from localarc.many.panel.arguments import one_per_key
from localarc.many.panel.late import AFTER, ASK, LEARN, Answers, LateEvents
from localarc.many.panel.state import StoredPanel
from localarc.memory.base import Arrays, LossCurves
from localarc.validation import FloatArray, IntArray

KEY_BYTES = 135_000
"""What `max_bytes` is for each key where the prototype leaves it at its default."""


class AutoStreams:
    """An AutoLARC per row, with the prototype's settings."""

    ignores_inputs = False

    def __init__(self, prototype: AutoLARC) -> None:
        settings = prototype.settings.to_json()
        if settings["max_bytes"] == BYTES:
            settings["max_bytes"] = KEY_BYTES
        self.prototype = AutoLARC(**{**settings, "limits": prototype.settings.limits})
        self.dimension: int | None = None
        self.undo = Undo()
        self._calibrators: list[AutoLARC] = []

    # ---- the algorithm -----------------------------------------------------------------------

    def points(self, X: ArrayLike | None, count: int) -> FloatArray:
        """One input per event; NaN marks a missing feature, and no X at all one without any."""
        X = np.empty((count, 0)) if X is None else X
        return one_per_key(many_features(X, self.dimension if count else None), count)

    def thresholds(self, rows: IntArray, points: FloatArray) -> FloatArray:
        """The threshold of each event; changes nothing."""
        fresh = self._new()
        found = [
            (fresh if row < 0 else self._calibrators[row]).threshold(x)
            for row, x in zip(rows.tolist(), points, strict=True)
        ]
        return np.array(found, np.float64)

    def learn(
        self, rows: IntArray, points: FloatArray, losses: FloatArray, scores: ArrayLike | None
    ) -> None:
        """Learn the loss of each event, in order; without scores, from losses alone."""
        costs, known = losses.tolist(), _scores(scores, len(rows))
        streams = self._about_to_change(rows, points)
        for i, row in enumerate(rows.tolist()):
            streams[row].update(points[i], costs[i], known[i])

    def ask(self, rows: IntArray, points: FloatArray) -> list[Ticket]:
        """A ticket with a threshold for each event, in order."""
        streams = self._about_to_change(rows, points)
        return [streams[row].ask(points[i]) for i, row in enumerate(rows.tolist())]

    def tell(
        self,
        rows: IntArray,
        tickets: Sequence[Ticket | int],
        losses: FloatArray,
        scores: ArrayLike | None,
    ) -> None:
        """Learn the loss of each ticket, in order."""
        costs, known = losses.tolist(), _scores(scores, len(rows))
        issued = validation.per_round("tickets", tickets, len(rows))
        streams = self._about_to_change(rows, np.empty((0, 0)))
        for i, row in enumerate(rows.tolist()):
            streams[row].tell(issued[i], costs[i], known[i])

    def _play(
        self, rows: IntArray, points: FloatArray, curves: LossCurves
    ) -> tuple[FloatArray, FloatArray]:
        thresholds, losses = np.empty((2, len(rows)))
        streams = self._about_to_change(rows, points)
        for mine in _by_row(rows):
            stream = streams[int(rows[mine[0]])]
            played = stream.replay_curves(points[mine], curves.take(mine), None, _silent)
            thresholds[mine], losses[mine] = played
        return thresholds, losses

    def serve(self, rows: IntArray, events: LateEvents) -> Answers:
        """Thresholds that go out and losses that come in, in order."""
        answers, pending = events.answers(), len(events.thresholds)
        if (events.acts == ASK | LEARN).all():  # each learns its own ask: compiled, key by key
            points = events.points[pending:]
            played = self._play(rows, points, events.curves)
            answers.thresholds[pending:], answers.losses[:] = played
            return answers
        streams = self._about_to_change(rows, events.points)
        for i, row in enumerate(rows.tolist()):
            _serve_one(streams[row], events, answers, i)
        return answers

    def _about_to_change(self, rows: IntArray, points: FloatArray) -> list[AutoLARC]:
        """All calibrators, with new ones for new rows; these rows are noted as they are."""
        undo, before = self.undo, len(self._calibrators)
        for row in dict.fromkeys(rows[rows < before].tolist()):
            known = self._calibrators[row]
            undo.note(known.rollback, known.checkpoint())
        undo.note(self._calibrators.__delitem__, slice(before, None))
        undo.note(setattr, self, "dimension", self.dimension)
        for _ in range(before, int(rows.max(initial=-1)) + 1):
            self._calibrators.append(self._new())
        if len(points):
            self.dimension = points.shape[1]
        return self._calibrators

    def _new(self) -> AutoLARC:
        settings = self.prototype.settings
        return AutoLARC(**{**settings.to_json(), "limits": settings.limits})

    # ---- single streams ----------------------------------------------------------------------

    def calibrator(self, row: int) -> AutoLARC:
        """A separate copy of one stream's calibrator."""
        return copy.deepcopy(self._calibrators[row])

    def put(self, row: int, calibrator: AutoLARC) -> None:
        """Replace a stream, or add one."""
        mine = copy.deepcopy(calibrator)
        calibrators = self._calibrators.copy()
        calibrators[row : row + 1] = [mine]
        self._note_all()
        self._calibrators = calibrators
        self.dimension = mine.dimension if self.dimension is None else self.dimension

    def keep(self, rows: IntArray) -> None:
        """Drop all rows but these, which are renumbered from 0."""
        kept = [self._calibrators[row] for row in rows.tolist()]
        self._note_all()
        self._calibrators = kept

    def _note_all(self) -> None:
        """Which calibrators there are is about to change."""
        before = {"_calibrators": self._calibrators, "dimension": self.dimension}
        self.undo.note(vars(self).update, before)

    # ---- all streams -------------------------------------------------------------------------

    @property
    def rounds(self) -> IntArray:
        """How many losses each stream has learned."""
        return np.array([each.rounds for each in self._calibrators], np.int64)

    @property
    def risks(self) -> FloatArray:
        """The mean loss of each stream."""
        return np.array([each.risk for each in self._calibrators], np.float64)

    @property
    def constants(self) -> FloatArray:
        """There is none."""
        raise AttributeError(
            "AutoLARC has no constant that is its threshold. Use panel.thresholds(keys, X)."
        )

    @property
    def nbytes(self) -> int:
        """The size of the tables of all streams in bytes."""
        return sum(each.nbytes for each in self._calibrators)

    def arrays(self) -> Arrays:
        """The states of all streams, one after another."""
        states = [each.state() for each in self._calibrators]
        return {
            "states": np.frombuffer(b"".join(states), np.uint8),
            "lengths": np.array([len(state) for state in states], np.int64),
        }

    def resume(self, stored: StoredPanel) -> Self:
        """The streams that were stored; raises ValueError if they make no sense."""
        data, lengths = stored.arrays["states"].tobytes(), stored.arrays["lengths"]
        if len(stored.index) != len(lengths):
            raise ValueError(f"{len(stored.index)} keys have {len(lengths)} states")
        if (lengths < 0).any() or lengths.sum() != len(data):
            raise ValueError("its states are cut off")
        stops = np.cumsum([0, *lengths.tolist()]).tolist()
        found = [self._new().restore(data[start:stop]) for start, stop in pairwise(stops)]
        if {each.dimension for each in found} - {None, stored.dimension}:
            raise ValueError("its streams have other features")
        self._calibrators, self.dimension, self.undo = found, stored.dimension, Undo()
        return self


def _serve_one(stream: AutoLARC, events: LateEvents, answers: Answers, i: int) -> None:
    """One event; an ask whose loss comes later has a ticket."""
    act, here = int(events.acts[i]), len(events.thresholds) + i
    if act & ASK:
        ticket = stream.ask(events.points[here])
        answers.thresholds[here], answers.tickets[here] = ticket.threshold, ticket.id
    if act & LEARN:
        asked = int(events.asked[i])
        loss = events.loss_at(i, answers.thresholds[asked])
        score = None if events.scores is None else float(events.scores[i])
        if ticket_id := int(answers.tickets[asked]):
            stream.tell(ticket_id, loss, score)
        else:
            stream.update(events.points[asked], loss, score)
        answers.losses[i] = loss
    if act & AFTER:
        answers.after[i] = stream.threshold(events.points[here])
    if events.given_up is not None and (old := int(events.given_up[i])) >= 0:
        stream.forget(int(answers.tickets[old]))


def _scores(scores: Any, count: int) -> list[Any]:
    return [None] * count if scores is None else list(validation.per_round("scores", scores, count))


def _by_row(rows: IntArray) -> list[IntArray]:
    """The events of each row, in order."""
    order = np.argsort(rows, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(rows[order])) + 1) if len(rows) else []


def _silent(done: int) -> None:
    """Report no progress."""
