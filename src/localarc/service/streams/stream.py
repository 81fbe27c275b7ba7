"""A stream in memory. `apply(event)` is the only way in which it changes, live and in replay."""

from __future__ import annotations

import math
from typing import Self, assert_never

import msgspec
import numpy as np

from localarc import ARC, LARC, serialization
from localarc.calibrators import health
from localarc.guarantees import Certificate, Part, Verdict
from localarc.guarantees.assumptions import broken_assumptions
from localarc.guarantees.verdict import INCONSISTENT
from localarc.service.storage import events
from localarc.service.storage.events import Event
from localarc.service.storage.format import (
    Answered,
    Pending,
    Snapshot,
    decode_snapshot,
    encode_snapshot,
    request_digest,
    to_bytes,
)
from localarc.service.streams.calibrators import build_calibrator, check_room
from localarc.service.streams.prediction_sets import set_size
from localarc.service.streams.state import Point, StreamState
from localarc.wire.events import (
    ChangeEvent,
    CreatedEvent,
    ExpiredEvent,
    FeedbackEvent,
    ImportedEvent,
    PredictedEvent,
)


class Stream:
    """A calibrator and its state."""

    def __init__(self, name: str, state: StreamState, calibrator: ARC | LARC) -> None:
        self.name = name
        self.state = state
        self.calibrator = calibrator
        self.replay_differs = 0  # thresholds that differed on replay
        self._judged: tuple[int, Verdict, tuple[str, ...]] | None = None  # after a change, by seq

    @classmethod
    def create(cls, name: str, event: events.StreamCreated) -> Self:
        """A stream without rounds."""
        return cls(name, StreamState(event.config, event.at), build_calibrator(event.config))

    def created_event(self) -> ChangeEvent:
        """What subscribers receive about a new stream."""
        return self._change(CreatedEvent, self.state.created)

    def apply(self, event: Event) -> ChangeEvent:
        """Change the stream; raises and changes nothing if the event is impossible."""
        if isinstance(event, events.PredictionMade):
            return self._apply_prediction(event)
        if isinstance(event, events.FeedbackReceived):
            return self._apply_feedback(event)
        if isinstance(event, events.PredictionExpired):
            return self._apply_expiry(event)
        if isinstance(event, events.StateImported):
            return self._apply_import(event)
        if isinstance(event, events.StreamCreated):
            raise ValueError(f"stream {self.name!r} already exists.")
        assert_never(event)

    def replay(self, event: Event) -> ChangeEvent:
        """`apply`, and compare the threshold with the one that was returned, bit for bit."""
        if isinstance(event, events.PredictionMade):
            self.replay_differs += self.threshold(event.x) != event.threshold
        return self.apply(event)

    def threshold(self, x: list[float]) -> float:
        """The current threshold for an input."""
        value = float(self.calibrator.threshold(np.array(x, dtype=np.float64)))
        if not math.isfinite(value):  # only finite numbers may be stored
            raise ValueError(
                f"the threshold at this input is {value}: the scale or rate is too large."
            )
        return value

    # ---- events ------------------------------------------------------------------------------

    def _apply_prediction(self, event: events.PredictionMade) -> ChangeEvent:
        state = self.state
        x = to_bytes(event.x)
        size = set_size(state.config.set, event.scores, event.threshold)
        digest = request_digest(x, event.group, event.scores)
        state.outstanding = max(state.outstanding, len(state.pending))
        state.seq += 1
        state.predictions += 1
        state.add_input(event.x, event.group)
        state.pending[event.id] = Pending(
            seq=state.seq,
            at=event.at,
            digest=digest,
            threshold=event.threshold,
            x=x,
            group=event.group,
            size=size,
        )
        about = {"id": event.id, "threshold": event.threshold, "size": size, "group": event.group}
        return self._change(PredictedEvent, event.at, **about)

    def _apply_feedback(self, event: events.FeedbackReceived) -> ChangeEvent:
        pending = self.state.pending[event.id]
        self._learn(pending, event.loss)
        self.state.late += pending.seq < self.state.newest_learned
        self.state.newest_learned = max(self.state.newest_learned, pending.seq)
        self._close(event.id, pending, event.loss, expired=False)
        self._sample(event.at, pending)
        return self._change(
            FeedbackEvent,
            event.at,
            id=event.id,
            loss=event.loss,
            threshold=pending.threshold,
            size=pending.size,
            group=pending.group,
        )

    def _apply_expiry(self, event: events.PredictionExpired) -> ChangeEvent:
        pending = self.state.pending[event.id]
        if event.loss is not None:
            self._learn(pending, event.loss)
        self.state.expired += 1
        self._close(event.id, pending, event.loss, expired=True)
        if event.loss is not None:
            self._sample(event.at, pending)
        about = {"id": event.id, "loss": event.loss, "group": pending.group}
        return self._change(ExpiredEvent, event.at, **about)

    def _apply_import(self, event: events.StateImported) -> ChangeEvent:
        self.calibrator = self.load_calibrator(event.state)
        self.state.seq += 1
        certificate = self.calibrator.certificate()
        self.state.restart(certificate.rounds, certificate.risk)
        return self._change(ImportedEvent, event.at)

    def _learn(self, pending: Pending, loss: float) -> None:
        check_room(self.state.config, self.state.rounds)
        point = np.frombuffer(pending.x, "<f8")
        self.calibrator._update_late(point, loss, pending.threshold)  # raises before any change
        self.state.add_loss(loss, pending.group)

    def _close(self, key: str, pending: Pending, loss: float | None, expired: bool) -> None:
        state = self.state
        state.seq += 1
        state.close_prediction(
            key,
            Answered(
                seq=pending.seq,
                digest=pending.digest,
                threshold=pending.threshold,
                loss=loss,
                feedback_seq=state.seq,
                rounds=state.rounds,
                expired=expired,
            ),
        )

    def _sample(self, at: float, pending: Pending) -> None:
        state = self.state
        if not state.wants_point:
            return
        state.add_point(
            Point(
                rounds=state.rounds,
                at=at,
                risk=state.loss_sum / state.rounds,
                threshold=pending.threshold,
                size=pending.size,
                observed=finite(self.calibrator.certificate().observed.value),
                pending=len(state.pending),
                late=state.late,
                expired=state.expired,
            )
        )

    def _change(self, kind: type[ChangeEvent], at: float, **about: object) -> ChangeEvent:
        state = self.state
        return kind(
            seq=state.seq,
            at=at,
            rounds=state.rounds,
            risk=state.risk,
            pending=len(state.pending),
            late=state.late,
            expired=state.expired,
            **about,
        )

    # ---- the consistency check ---------------------------------------------------------------

    def certificate(self) -> Certificate:
        """The calibrator's certificate, given the largest number of pending predictions."""
        return self.calibrator.certificate(pending=self.state.outstanding)

    @property
    def verdict(self) -> Verdict:
        """Whether the target is met, overall and in every group."""
        return self._judgement()[0] if self.healthy else INCONSISTENT

    @property
    def warnings(self) -> tuple[str, ...]:
        """What goes wrong without an error, each with the number to change."""
        return self._judgement()[1]

    def _judgement(self) -> tuple[Verdict, tuple[str, ...]]:
        if self._judged is None or self._judged[0] != self.state.seq:
            groups = self.state.groups.items()
            parts = [Part(name, g.rounds, g.loss_sum / g.rounds) for name, g in groups if g.rounds]
            found = [problem.text for problem in health.problems(self._vitals())]
            broken = broken_assumptions(self.calibrator.settings, self.calibrator._constant)
            told = (*found, *broken)
            self._judged = self.state.seq, self.certificate().judge(parts), told
        return self._judged[1:]

    def _vitals(self) -> health.Vitals:
        """The numbers of the run: its latest half is what the history has of it."""
        state, points = self.state, self.state.points()
        latest = [point for point in points if 2 * point.rounds > state.rounds]
        before = points[len(points) - len(latest) - 1] if len(latest) < len(points) else None
        start = (before.rounds, before.risk * before.rounds) if before else (0, 0.0)
        return health.vitals(
            self.calibrator.settings,
            self.calibrator._constant,
            state.rounds - start[0],
            state.loss_sum - start[1],
            pending=max((point.pending for point in latest), default=0),
            thresholds=health.latest_range(np.array([p.threshold for p in points])),
        )

    @property
    def healthy(self) -> bool:
        """Whether the identity holds, and the calibrator learned the losses that were counted."""
        calibrator, rounds, total = self.calibrator, self.state.rounds, self.state.loss_sum
        if calibrator.rounds != rounds or not calibrator.identity_holds:
            return False
        counted = calibrator.risk * rounds
        return not rounds or math.isclose(counted, total, rel_tol=1e-9, abs_tol=1e-9)

    # ---- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """All of the stream, as it is stored."""
        state = msgspec.msgpack.encode(self.state)
        return encode_snapshot(
            Snapshot(self.name, self.replay_differs, state, self.calibrator.state())
        )

    @classmethod
    def from_snapshot(cls, data: bytes) -> Self:
        """The stream that `snapshot` stored."""
        snapshot = decode_snapshot(data)
        state = msgspec.msgpack.decode(snapshot.state, type=StreamState)
        calibrator = build_calibrator(state.config).restore(snapshot.calibrator)
        stream = cls(snapshot.name, state, calibrator)
        stream.replay_differs = snapshot.replay_differs
        return stream

    def load_calibrator(self, data: bytes) -> ARC | LARC:
        """A calibrator from a client's state, which must have this stream's settings."""
        try:
            calibrator = build_calibrator(self.state.config).restore(data)
        except (KeyError, IndexError, AttributeError, RecursionError) as error:
            raise serialization.StateError(f"not a localarc state: {error!r}.") from error
        if not calibrator.identity_holds:
            raise serialization.StateError(
                "the state is inconsistent: its thresholds do not match its losses."
            )
        probe = np.zeros((1, self.state.config.features))  # raises if the features differ
        if not np.isfinite(calibrator.threshold(probe)).all():
            raise serialization.StateError("the state's thresholds are not finite: it is damaged.")
        return calibrator


def finite(value: float) -> float | None:
    """The number, or None where JSON has none."""
    return value if math.isfinite(value) else None
