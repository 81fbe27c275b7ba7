"""The stream manager: what a request means for the streams, decided and applied in memory.

Nothing here is on disk yet. Each change leaves a write in `uncommitted`, or a stream whose stored
data is to be replaced in `replaced`; the writer commits these before any client sees a response.
"""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeVar

import msgspec

from localarc_client.wire.config import CreateResponse, StreamConfig
from localarc_client.wire.events import ChangeEvent
from localarc_client.wire.fields import PredictionId, StreamName
from localarc_client.wire.predictions import (
    AuditRequest,
    BatchResponse,
    BatchResult,
    FeedbackOperation,
    FeedbackRequest,
    FeedbackResponse,
    Operation,
    PredictRequest,
    PredictResponse,
    is_passed_over,
)
from localarc_client.wire.status import AcknowledgeResponse, ImportResponse
from localarc_service.errors import ApiError
from localarc_service.limits import Limits
from localarc_service.stored import events
from localarc_service.stored.events import Event
from localarc_service.stored.format import (
    PASSED_OVER,
    WITHHELD,
    Answered,
    Pending,
    request_digest,
    to_bytes,
)
from localarc_service.streams.config_defaults import completed, is_same
from localarc_service.streams.directory import Directory
from localarc_service.streams.expiry import count_overdue, overdue
from localarc_service.streams.memory_budget import MemoryBudget, pending_bytes
from localarc_service.streams.outcomes import loss_and_score
from localarc_service.streams.prediction_sets import prediction_set
from localarc_service.streams.quarantine import Quarantine
from localarc_service.streams.state import group_names
from localarc_service.streams.stream import Stream
from localarc_service.streams.sweep import Sweep
from localarc_service.streams.watch import WHOLE, Moment

Result = TypeVar("Result")


@dataclass(frozen=True)
class PendingWrite:
    """An event that is not on disk yet, and what subscribers receive once it is.

    Without an event, the change is stored by replacing or removing the whole stream.
    """

    stream: str
    seq: int
    event: Event | None
    change: ChangeEvent


class StreamManager:
    """All streams of a service."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self.limits = limits
        self.streams: dict[str, Stream] = {}
        self.read_only: set[str] = set()
        self.quarantined: dict[str, Quarantine] = {}
        self.memory = MemoryBudget(limits.memory_bytes)
        self.uncommitted: list[PendingWrite] = []
        self.replaced: dict[str, Stream | None] = {}  # None: all that is stored is removed
        self.clock = clock
        self.started = -math.inf
        self.directory = Directory()  # of the streams of other workers, which count for limits
        self.names_changed = False  # since the last publish to the directory
        self.owns: Callable[[str], bool] = lambda name: True  # other names are of other workers
        self._sweep = Sweep()

    def begin(self, streams: Mapping[str, Stream]) -> None:
        """Serve stored streams alone; what is pending now expires after a grace period or later.

        While the service was down, no feedback could arrive, and its clock may be wrong.
        """
        self.started = self.clock()
        self.read_only.clear()
        self.uncommitted, self.replaced = [], {}
        self.replace(streams, list(self.streams))

    def replace(self, streams: Mapping[str, Stream], removed: Iterable[str]) -> None:
        """Take over streams from the store, in place of some others."""
        self.names_changed = True
        for name in removed:
            self.streams.pop(name, None)
            self.memory.forget(name)
        self.streams.update(streams)
        self.memory.update(streams.values())

    def stream(self, name: str) -> Stream:
        """The stream of that name."""
        if name in self.quarantined:
            raise self.quarantined[name].error()
        if name not in self.streams:
            raise ApiError(404, f"there is no stream {name!r}: create it with PUT first.")
        return self.streams[name]

    def moment(self) -> Moment:
        """The time, for what depends on it."""
        return Moment(self.clock(), self.started)

    # ---- requests ----------------------------------------------------------------------------

    def create(
        self, stream: StreamName, body: StreamConfig
    ) -> tuple[Literal[200, 201], CreateResponse]:
        """Create a stream; a retry with the same config has no effect."""
        if stream in self.quarantined:
            raise self.quarantined[stream].error()
        if stream in self.streams:
            return 200, self._existing(self.streams[stream], body)
        self._reserve(stream)
        config = _as_422(lambda: completed(body))
        event = events.StreamCreated(self.clock(), config)
        created = _as_422(lambda: Stream.create(stream, event))
        self.memory.require(created, 0)
        self.replace({stream: created}, ())
        self.uncommitted.append(PendingWrite(stream, 0, event, created.created_event()))
        return 201, CreateResponse(stream, config)

    def names(self) -> Iterator[str]:
        """All names that are in use, also by streams that are damaged."""
        return itertools.chain(self.streams, self.quarantined)

    def _reserve(self, name: str) -> None:
        """Count a stream that is about to be created; raises if there are too many."""
        with self.directory.locked() as elsewhere:
            own = len(self.streams) + len(self.quarantined)
            if own + len(elsewhere) >= self.limits.streams:
                raise ApiError(
                    429, f"the service has reached its limit of {self.limits.streams} streams."
                )
            self.reserve(name)

    def reserve(self, name: str) -> None:
        """Have other workers count a name until it is published in the directory."""
        self.names_changed = True
        self.directory.reserve((name,))

    def publish_names(self) -> None:
        """Tell the directory which streams there are, once they are on disk."""
        if self.names_changed:
            self.names_changed = not self.directory.publish(self.names())

    def _existing(self, stream: Stream, body: StreamConfig) -> CreateResponse:
        """The response to a config that the stream has, or was created with."""
        config, first = stream.state.config, stream.state.first_config
        plain = msgspec.structs.replace(body, labels={})
        if _as_422(lambda: is_same(config, body) or (first is not None and is_same(first, plain))):
            return CreateResponse(stream.name, config)
        raise ApiError(
            409, f"stream {stream.name!r} exists with a different config: use another name."
        )

    def predict(self, stream: StreamName, body: PredictRequest) -> PredictResponse:
        """Return a threshold for an input; a retry with the same id and body has no effect."""
        found = self.writable(stream)
        scores = _as_422(lambda: _scores(found, body))
        previous = self._previous_answer(found, body, scores)
        if previous is None:
            self._check_limits(found, body)
            key = body.id or _new_id(found)
            event = events.PredictionMade(
                at=self.clock(),
                id=key,
                x=body.x,
                threshold=events.UNKNOWN,
                group=body.group,
                scores=scores,
                informed=_as_422(lambda: found.method.is_informed(body.group)),
            )
            self.apply(found, event)
            seq, threshold = found.state.seq, event.threshold
        else:
            key, seq, threshold = body.id or "", previous.seq, previous.threshold
        if body.confidence is not None:
            answer = not found.method.is_withheld(body.confidence, threshold)
            return PredictResponse(key, seq, threshold, answer=answer)
        made = prediction_set(found.state.config.set, body.scores, threshold)
        return PredictResponse(key, seq, threshold, made)

    def feedback(
        self, stream: StreamName, prediction: PredictionId, body: FeedbackRequest
    ) -> FeedbackResponse:
        """Report the loss of a prediction, or y; a retry with the same has no effect."""
        found = self.writable(stream)
        state = found.state
        if prediction in state.pending:
            change = self.apply(found, self._received(found, prediction, body))
            return FeedbackResponse(change.seq, change.rounds)
        if prediction not in state.answered:
            raise ApiError(
                404,
                f"there is no prediction {prediction!r}: it was never made, or is no longer among "
                f"the latest {state.config.retain} answered predictions.",
            )
        answered = state.answered[prediction]
        if _is_withheld(found, answered):
            raise ApiError(
                409, f"the answer of prediction {prediction!r} was withheld: report it as an audit."
            )
        if answered.expired:
            raise ApiError(
                410, f"prediction {prediction!r} has expired and no longer accepts feedback."
            )
        if not _same_report(answered, body):
            raise ApiError(409, f"prediction {prediction!r} already has {_reported(answered)}.")
        return FeedbackResponse(answered.feedback_seq, answered.rounds)

    def audit(
        self, stream: StreamName, prediction: PredictionId, body: AuditRequest
    ) -> FeedbackResponse:
        """Report what became of an answer that a gate withheld; a retry has no effect."""
        found = self.writable(stream)
        state, loss = found.state, float(body.wrong)
        if prediction in state.pending:
            raise ApiError(
                409, f"the answer of prediction {prediction!r} went out: report its loss instead."
            )
        answered = state.answered.get(prediction)
        if answered is None:
            raise ApiError(
                404,
                f"there is no withheld answer {prediction!r} among the latest "
                f"{state.config.retain} answered predictions.",
            )
        if not _is_withheld(found, answered):
            raise ApiError(409, f"prediction {prediction!r} was not withheld by a gate.")
        if answered.loss is None:
            self.apply(found, events.FeedbackReceived(self.clock(), prediction, loss))
            return FeedbackResponse(state.seq, state.rounds)
        if answered.loss != loss:
            raise ApiError(
                409, f"prediction {prediction!r} was already audited as {answered.loss}."
            )
        return FeedbackResponse(answered.feedback_seq, answered.rounds)

    def _received(self, stream: Stream, key: str, body: FeedbackRequest) -> events.FeedbackReceived:
        """The event of a report, whose loss and score may follow from y."""
        _as_422(lambda: _check_gate(stream, body))
        y, stated = body.true_value, body.probability
        if is_passed_over(body):
            return events.FeedbackReceived(self.clock(), key, 0.0, stated, PASSED_OVER)
        if stated is not None:
            assert body.loss is not None  # checked when the body was read
            return events.FeedbackReceived(self.clock(), key, body.loss, stated)
        if y is None:
            assert body.loss is not None  # checked when the body was read
            return events.FeedbackReceived(self.clock(), key, body.loss, body.score)
        config, pending = stream.state.config, stream.state.pending[key]
        loss, score = _as_422(lambda: loss_and_score(config, pending, y))
        return events.FeedbackReceived(self.clock(), key, loss, score, y)

    def batch(self, body: list[Operation | ApiError]) -> BatchResponse:
        """Run several operations in order, with one commit; those that are errors failed before."""
        return BatchResponse([self._result(operation) for operation in body])

    def import_state(self, stream: StreamName, body: bytes) -> ImportResponse:
        """Replace the calibrator by a state with the same settings; pending predictions stay."""
        found = self.stream(stream)
        self.memory.require(found, len(body) - found.method.memory_bytes)
        self.apply(found, events.StateImported(at=self.clock(), state=body))
        self.read_only.discard(stream)
        return ImportResponse(found.state.seq, found.state.rounds)

    def acknowledge(self, stream: StreamName) -> AcknowledgeResponse:
        """Start the evidence about a stream and its groups anew; a retry has no effect."""
        found = self.writable(stream)
        seq = found.state.seq
        if found.watch.rounds or found.watch.announced:
            seq = self.apply(found, events.Acknowledged(self.clock())).seq
        return AcknowledgeResponse(seq, found.watch.health(WHOLE, self.moment()))

    def announce_stale(self) -> None:
        """Announce parts of streams that became stale; looks at some of them at a time."""
        moment = self.moment()
        for stream, parts in self._sweep.next(self.streams):
            if stream.name not in self.read_only:
                self._announce(stream, moment, parts)

    def expire(self) -> None:
        """Close predictions whose timeout has passed, those from before the start after a grace."""
        now = self.clock()
        in_grace = now < self.started + self.limits.expiry_grace
        since = self.started if in_grace else -math.inf
        for stream in self.streams.values():
            if stream.name not in self.read_only:
                for key in list(overdue(stream, now, since)):
                    self._expire(stream, key, now)

    def count_overdue(self) -> int:
        """How many predictions have waited longer than their timeout."""
        now = self.clock()
        return sum(count_overdue(stream, now) for stream in self.streams.values())

    # ---- how ---------------------------------------------------------------------------------

    def apply(self, stream: Stream, event: Event) -> ChangeEvent:
        """Apply an event, and announce the changes of health that it causes."""
        change = self._store(stream, event)
        self._announce(stream, Moment(event.at, self.started))
        return change

    def _store(self, stream: Stream, event: Event) -> ChangeEvent:
        change = _as_422(lambda: stream.apply(event))
        self.memory.update((stream,))
        self.uncommitted.append(PendingWrite(stream.name, stream.state.seq, event, change))
        return change

    def _announce(self, stream: Stream, moment: Moment, parts: list[str] | None = None) -> None:
        for event in stream.watch.unannounced(moment, parts):
            self._store(stream, event)

    def _expire(self, stream: Stream, key: str, now: float) -> None:
        loss = stream.state.config.default_loss
        try:
            self.apply(stream, events.PredictionExpired(at=now, id=key, loss=loss))
        except ApiError:  # such as a full lattice: then nothing can be learned
            self.apply(stream, events.PredictionExpired(at=now, id=key))

    def writable(self, name: str) -> Stream:
        """The stream of that name, unless its consistency check fails."""
        stream = self.stream(name)
        if not stream.consistent:
            self.read_only.add(name)
        if name in self.read_only:
            raise ApiError(
                503,
                f"stream {name!r} failed its consistency check or cannot be stored: import a good "
                "state with an admin token, or create a new stream.",
                retry_after=60,
            )
        return stream

    def _previous_answer(
        self, stream: Stream, request: PredictRequest, scores: list[float] | None
    ) -> Pending | Answered | None:
        """The prediction that this id already has; raises if its body was different."""
        if request.id is None:
            return None
        state = stream.state
        found = state.pending.get(request.id) or state.answered.get(request.id)
        if found is None:
            return None
        digest = request_digest(to_bytes(request.x), request.group, scores)
        if found.digest != digest:
            raise ApiError(409, f"prediction {request.id!r} was made with a different body.")
        return found

    def _check_limits(self, stream: Stream, request: PredictRequest) -> None:
        state, limits = stream.state, self.limits
        if len(request.x) != state.config.features:
            raise ApiError(
                422,
                f"x must have {state.config.features} number(s), as configured, got "
                f"{len(request.x)}.",
            )
        numbers = len(request.x) + len(request.scores or ())
        self.memory.require(stream, pending_bytes(state.config, numbers))
        if len(state.pending) >= limits.pending:
            raise ApiError(
                429,
                f"the stream has reached its limit of {limits.pending} pending predictions: send "
                "feedback, or set a timeout.",
            )
        new = {*group_names(request.group)} - state.groups.keys()
        if new and len(state.groups) + len(new) > limits.groups:
            raise ApiError(429, f"the stream has reached its limit of {limits.groups} groups.")

    def _result(self, operation: Operation | ApiError) -> BatchResult:
        try:
            if isinstance(operation, ApiError):
                raise operation
            if isinstance(operation, FeedbackOperation):
                fields = (getattr(operation, name) for name in FeedbackRequest.__struct_fields__)
                report = FeedbackRequest(*fields)
                feedback = self.feedback(operation.stream, operation.id, report)
                return BatchResult(200, feedback=feedback)
            return BatchResult(200, prediction=self.predict(operation.stream, operation))
        except ApiError as error:
            return BatchResult(error.status, problem=error.problem())


def _scores(stream: Stream, request: PredictRequest) -> list[float] | None:
    """The scores of a request; those of a gate are the confidence."""
    if stream.state.config.method != "gate":
        if request.confidence is not None:
            raise ValueError("confidence applies to method gate only: omit it.")
        return request.scores
    if request.confidence is None or request.scores is not None:
        raise ValueError("method gate requires confidence, between 0 and 1, and no scores.")
    return [request.confidence]


def _check_gate(stream: Stream, report: FeedbackRequest) -> None:
    """Raise unless a gate has no score, and others no probability."""
    gate = stream.state.config.method == "gate"
    if report.probability is not None and not gate:
        raise ValueError("probability applies to method gate only: omit it.")
    if report.score is not None and gate:
        raise ValueError("method gate learns from losses of 1 and 0 without a score: omit it.")


def _is_withheld(stream: Stream, answered: Answered) -> bool:
    """Whether a gate withheld the answer, so that only an audit can tell of it."""
    return stream.state.config.method == "gate" and answered.outcome == WITHHELD


def _same_report(answered: Answered, body: FeedbackRequest) -> bool:
    if is_passed_over(body):
        return (answered.outcome, answered.score) == (PASSED_OVER, body.probability)
    if body.true_value is not None or answered.outcome is not None:
        return answered.outcome == body.true_value
    stated = body.score if body.probability is None else body.probability
    return (answered.loss, answered.score) == (body.loss, stated)


def _reported(answered: Answered) -> str:
    if answered.outcome == PASSED_OVER and answered.loss is None:
        return "the report that it was not looked at"
    if answered.outcome is not None:
        return f"y = {answered.outcome!r}"
    score = "" if answered.score is None else f" with the score {answered.score}"
    return f"the loss {answered.loss}{score}"


def _new_id(stream: Stream) -> str:
    while (key := secrets.token_hex(8)) in stream.state.pending or key in stream.state.answered:
        pass
    return key


def _as_422(work: Callable[[], Result]) -> Result:
    """The result; an error in the values of a request becomes a 422."""
    try:
        return work()
    except (ValueError, TypeError, ArithmeticError, MemoryError) as error:
        raise ApiError(422, str(error)) from error
