"""A stream in memory. `apply(event)` is the only way in which it changes, live and in replay."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Self, TypeVar, assert_never

import msgspec
import numpy as np

from localarc import serialization
from localarc.guarantees import Part, Verdict
from localarc.guarantees.assumptions import Lateness
from localarc.guarantees.verdict import INCONSISTENT
from localarc_client.wire.events import (
    AcknowledgedEvent,
    AuditedEvent,
    ChangeEvent,
    CreatedEvent,
    ExpiredEvent,
    FeedbackEvent,
    HealthEvent,
    ImportedEvent,
    PredictedEvent,
)
from localarc_service.stored import events
from localarc_service.stored.events import Event
from localarc_service.stored.format import (
    PASSED_OVER,
    WITHHELD,
    Answered,
    Outcome,
    Pending,
    Score,
    Snapshot,
    decode_snapshot,
    encode_snapshot,
    request_digest,
    to_bytes,
)
from localarc_service.streams.bounds import bounds_above, finite
from localarc_service.streams.changes import Change, apply_change
from localarc_service.streams.methods import AnyCalibrator, build_calibrator, method_of
from localarc_service.streams.prediction_sets import set_size
from localarc_service.streams.size_limits import check_room
from localarc_service.streams.state import Point, StreamState, group_names
from localarc_service.streams.watch import Watch

Changed = TypeVar("Changed", bound=ChangeEvent)

ROUNDING = 1e-9
"""Largest relative difference between thresholds that is rounding."""


class Judgement(NamedTuple):
    """What follows from a certificate, which takes a while to compute."""

    verdict: Verdict
    warnings: tuple[str, ...]
    bounds: Mapping[str, float]


class Stream:
    """A calibrator, its state, and the watch over its losses."""

    def __init__(
        self,
        name: str,
        state: StreamState,
        calibrator: AnyCalibrator,
        watch: Watch | None = None,
    ) -> None:
        self.name = name
        self.state = state
        self.watch = watch or Watch(state.config)
        self.method = method_of(calibrator, state.config)
        self.replay_differs = 0  # thresholds that differed on replay by more than rounding
        self.replay_rounded = 0  # thresholds that were rounded differently in the latest replay
        self.algorithm = 1  # of the snapshot; of events without one it is not known
        self.removed = -1, state.created  # seq and time of the latest removal of old records
        self._judged: tuple[int, Judgement] | None = None  # after a change, by seq

    @classmethod
    def create(cls, name: str, event: events.StreamCreated) -> Self:
        """A stream without rounds."""
        return cls(name, StreamState(event.config, event.at), build_calibrator(event.config))

    @classmethod
    def adopt(cls, name: str, event: events.StreamCreated, calibrator: AnyCalibrator) -> Self:
        """A stream as after its creation and the import of a calibrator, which fits the config."""
        stream = cls(name, StreamState(event.config, event.at), calibrator)
        stream._restart()
        return stream

    @property
    def calibrator(self) -> Any:
        """The library's calibrator, of the kind that the config's method says."""
        return self.method.calibrator

    def created_event(self) -> ChangeEvent:
        """What subscribers receive about a new stream."""
        return self.change(CreatedEvent, self.state.created)

    def apply(self, event: Event) -> ChangeEvent:
        """Change the stream; raises and changes nothing if the event is impossible.

        A prediction whose threshold is unknown gets it; that of another is compared with today's.
        """
        if isinstance(event, events.PredictionMade):
            return self._apply_prediction(event)
        if isinstance(event, events.FeedbackReceived):
            return self._apply_feedback(event)
        if isinstance(event, events.PredictionExpired):
            return self._apply_expiry(event)
        if isinstance(event, events.StateImported):
            return self._apply_import(event)
        if isinstance(event, events.HealthChanged):
            return self._apply_health(event)
        if isinstance(event, events.Acknowledged):
            return self._apply_acknowledgement(event)
        if isinstance(event, Change):
            return apply_change(self, event)
        if isinstance(event, events.StreamCreated):
            raise ValueError(f"stream {self.name!r} already exists.")
        assert_never(event)

    def _check_replay(self, event: events.PredictionMade, replayed: float, returned: float) -> None:
        """Compare a threshold with the one that was returned, which is kept.

        A later algorithm than the snapshot's has other thresholds: that is no damage.
        """
        if self.algorithm >= self.calibrator.algorithm:
            self._compare(replayed, returned)
            sure = event.scores[0] if event.scores else None
            withheld = {self.method.is_withheld(sure, each) for each in (replayed, returned)}
            self.replay_differs += len(withheld) - 1

    def _compare(self, replayed: float, returned: float) -> None:
        """Count a difference, which is rounding or damage.

        Compiled loops of L-ARC may round differently on another CPU. Thresholds are sums whose
        terms may cancel, so that rounding is measured against the largest one known.
        """
        if replayed == returned:
            return
        gap = abs(replayed - returned)
        if gap <= ROUNDING * abs(returned) or gap <= ROUNDING * self._largest_threshold():
            self.replay_rounded += 1
        else:
            self.replay_differs += 1

    def _largest_threshold(self) -> float:
        """The largest absolute value of all thresholds that are remembered."""
        pending = (each.threshold for each in self.state.pending.values())
        known = filter(math.isfinite, (*self.state.history.threshold, *pending))
        return max(map(abs, known), default=0.0)

    # ---- events ------------------------------------------------------------------------------

    def _apply_prediction(self, event: events.PredictionMade) -> ChangeEvent:
        state = self.state
        x = to_bytes(event.x)
        digest = request_digest(x, event.group, event.scores)
        gate = state.config.method == "gate"
        scores = None if gate else event.scores
        set_size(state.config.set, scores, -math.inf)  # raises before any change
        threshold, ticket = self.method.ask(event)
        assert threshold > -math.inf  # nor is it NaN
        if math.isnan(event.threshold):
            event.answer(threshold)
        else:
            self._check_replay(event, threshold, event.threshold)
            threshold = float(event.threshold)
        size = set_size(state.config.set, scores, threshold)
        state.outstanding = max(state.outstanding, len(state.pending))
        state.seq += 1
        state.predictions += 1
        state.add_input(event.x, event.group)
        state.pending[event.id] = Pending(
            seq=state.seq,
            at=event.at,
            digest=digest,
            threshold=threshold,
            x=x,
            group=event.group,
            size=size,
            scores=None if event.scores is None else to_bytes(event.scores),
            ticket=ticket,
            informed=event.informed,
        )
        if gate and ticket is None:  # withheld: there will be no feedback, but maybe an audit
            self._close(event.id, state.pending[event.id], event.at, None, outcome=WITHHELD)
        about = {"id": event.id, "threshold": event.threshold, "size": size, "group": event.group}
        return self.change(PredictedEvent, event.at, **about)

    def _apply_feedback(self, event: events.FeedbackReceived) -> ChangeEvent:
        if event.id in self.state.answered:
            return self._apply_audit(event)
        pending = self.state.pending[event.id]
        if self.state.config.method == "gate" and event.outcome == PASSED_OVER:
            return self._apply_passing_over(event, pending)
        self._learn(pending, event.loss, event.score, at=event.at)
        self.state.late += pending.seq < self.state.newest_learned
        self.state.newest_learned = max(self.state.newest_learned, pending.seq)
        self.state.max_delay = max(self.state.max_delay, event.at - pending.at)
        self.state.seq += 1
        self._close(event.id, pending, event.at, event.loss, event.score, event.outcome)
        self._sample(event.at, pending)
        return self.change(
            FeedbackEvent,
            event.at,
            id=event.id,
            loss=event.loss,
            threshold=pending.threshold,
            size=pending.size,
            group=pending.group,
        )

    def _apply_passing_over(self, event: events.FeedbackReceived, pending: Pending) -> ChangeEvent:
        self.method.pass_over(pending, event.score)  # raises before any change
        self.state.seq += 1
        self._close(event.id, pending, event.at, None, event.score, PASSED_OVER)
        return self.change(ExpiredEvent, event.at, id=event.id, loss=None, group=pending.group)

    def _apply_audit(self, event: events.FeedbackReceived) -> ChangeEvent:
        state, withheld = self.state, self.state.answered[event.id]
        self.method.audit(event.id, event.loss)  # raises before any change
        state.seq += 1
        about = {"loss": event.loss, "feedback_seq": state.seq, "rounds": state.rounds}
        state.answered[event.id] = msgspec.structs.replace(withheld, **about)
        return self.change(
            AuditedEvent, event.at, id=event.id, loss=event.loss, threshold=withheld.threshold
        )

    def _apply_expiry(self, event: events.PredictionExpired) -> ChangeEvent:
        pending = self.state.pending[event.id]
        if event.loss is None:
            self.method.forget(pending)
        else:
            self._learn(pending, event.loss, at=event.at)
        self.state.expired += 1
        self.state.seq += 1
        self._close(event.id, pending, event.at, event.loss, expired=True)
        if event.loss is not None:
            self._sample(event.at, pending)
        about = {"id": event.id, "loss": event.loss, "group": pending.group}
        return self.change(ExpiredEvent, event.at, **about)

    def _apply_import(self, event: events.StateImported) -> ChangeEvent:
        self.method = method_of(self.load_calibrator(event.state), self.state.config)
        self._restart()
        self._match_tickets(event.at)
        self.watch.restart()
        return self.change(ImportedEvent, event.at)

    def _restart(self) -> None:
        """Continue from the sums of a calibrator that learned elsewhere."""
        self.state.seq += 1
        self.state.restart(self.method.rounds, self.method.loss_sum, self.method.uninformed)
        self.state.imported = True

    def _apply_health(self, event: events.HealthChanged) -> ChangeEvent:
        self.state.seq += 1
        self.watch.announce(event, self.state.seq)
        return self.change(
            HealthEvent,
            event.at,
            status=event.state,
            previous=event.previous,
            since_round=event.since_round,
            why=event.why,
            group=event.group,
        )

    def _apply_acknowledgement(self, event: events.Acknowledged) -> ChangeEvent:
        self.state.seq += 1
        self.watch.acknowledge(event.at)
        return self.change(AcknowledgedEvent, event.at)

    def _match_tickets(self, at: float) -> None:
        """Expire predictions that an imported state has no ticket for, and forget other tickets."""
        tickets = self.method.tickets()
        if tickets is None:
            return
        unknown = dict(tickets)
        for key, pending in list(self.state.pending.items()):
            if unknown.get(pending.ticket or 0) == pending.threshold:
                del unknown[pending.ticket or 0]
            else:
                self.state.expired += 1
                self._close(key, pending, at, None, expired=True)
        for ticket in unknown:
            self.method.calibrator.forget(ticket)

    def _learn(self, pending: Pending, loss: float, score: Score = None, *, at: float) -> None:
        check_room(self.state.config, self.state.rounds)
        self.method.learn(pending, loss, score)  # raises before any change
        self.state.add_loss(loss, pending.group, pending.informed)
        if pending.informed:
            self.watch.learn(loss, group_names(pending.group), at)

    def _close(
        self,
        key: str,
        pending: Pending,
        at: float,
        loss: float | None,
        score: Score = None,
        outcome: Outcome = None,
        expired: bool = False,
    ) -> None:
        self.state.close_prediction(
            key,
            Answered(
                seq=pending.seq,
                digest=pending.digest,
                threshold=pending.threshold,
                loss=loss,
                feedback_seq=self.state.seq,
                rounds=self.state.rounds,
                expired=expired,
                score=score,
                outcome=outcome,
                at=at,
            ),
        )

    def _sample(self, at: float, pending: Pending) -> None:
        state = self.state
        if not state.wants_point or state.risk is None:
            return
        observed = self.certificate().observed
        state.add_point(
            Point(
                rounds=state.rounds,
                at=at,
                risk=state.risk,
                threshold=pending.threshold,
                size=pending.size,
                observed=finite(observed.value) if observed.holds else None,
                pending=len(state.pending),
                late=state.late,
                expired=state.expired,
            )
        )

    def change(self, kind: type[Changed], at: float, **about: object) -> Changed:
        """An event for subscribers, with the counts of the stream."""
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

    def certificate(self) -> Any:
        """The calibrator's certificate, given how late losses were, as far as that is known."""
        return self.method.certificate(self.lateness)

    @property
    def lateness(self) -> Lateness:
        """How many predictions were pending; not known for the rounds of an imported state."""
        return Lateness(self.state.outstanding, measured=not self.state.imported, stated=True)

    @property
    def verdict(self) -> Verdict:
        """Whether the target is met, overall and in every group."""
        return self._judgement().verdict if self.consistent else INCONSISTENT

    @property
    def warnings(self) -> tuple[str, ...]:
        """What goes wrong without an error, each with the number to change."""
        return self._judgement().warnings

    @property
    def bounds(self) -> Mapping[str, float]:
        """How far above the target the risk of each part can be, where that is guaranteed."""
        return self._judgement().bounds

    def _judgement(self) -> Judgement:
        if self._judged is None or self._judged[0] != self.state.seq:
            groups = self.state.groups.items()
            parts = [Part(name, g.rounds, g.loss_sum / g.rounds) for name, g in groups if g.rounds]
            told, certificate = tuple(self.method.problems(self.state)), self.certificate()
            bounds = bounds_above(certificate, parts, self.state.config.alpha)
            self._judged = self.state.seq, Judgement(certificate.judge(parts), told, bounds)
        return self._judged[1]

    @property
    def consistent(self) -> bool:
        """Whether the identity holds, and the calibrator learned the losses that were counted."""
        method, state = self.method, self.state
        if method.rounds != state.rounds or not method.calibrator.consistent:
            return False
        if method.pending not in (None, len(state.pending)):
            return False
        return math.isclose(method.loss_sum, state.loss_sum, rel_tol=1e-9, abs_tol=1e-9)

    # ---- snapshots ---------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """All of the stream, as it is stored."""
        state = msgspec.msgpack.encode(self.state)
        return encode_snapshot(
            Snapshot(
                self.name, self.replay_differs, state, self.watch.encode(), self.calibrator.state()
            )
        )

    @classmethod
    def from_snapshot(cls, data: bytes) -> Self:
        """The stream that `snapshot` stored."""
        snapshot = decode_snapshot(data)
        state = msgspec.msgpack.decode(snapshot.state, type=StreamState)
        calibrator = build_calibrator(state.config).restore(snapshot.calibrator)
        watch = Watch.decode(state.config, snapshot.watch)
        stream = cls(snapshot.name, state, calibrator, watch)
        stream.replay_differs = snapshot.replay_differs
        stream.algorithm = serialization.algorithm_of(snapshot.calibrator)
        return stream

    def load_calibrator(self, data: bytes) -> AnyCalibrator:
        """A calibrator from a client's state, which must have this stream's settings."""
        try:
            calibrator = build_calibrator(self.state.config).restore(data)
        except (KeyError, IndexError, AttributeError, RecursionError) as error:
            raise serialization.StateError(f"not a localarc state: {error!r}.") from error
        method = method_of(calibrator, self.state.config)
        if not method.calibrator.consistent:
            raise serialization.StateError(
                "the state is inconsistent: its thresholds do not match its losses."
            )
        probe = np.zeros(self.state.config.features)  # raises if the features differ
        if math.isnan(method.threshold(probe, "any")):
            raise serialization.StateError("the state's thresholds are not numbers: it is damaged.")
        return calibrator
