"""The desk: what a request means for the streams, decided and applied in memory.

Nothing here is on disk yet. Each change leaves a row in `rows` for the log; the writer commits rows
before anybody hears of them.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from localarc.service.api.errors import Refusal
from localarc.service.limits import Limits
from localarc.service.storage import events
from localarc.service.storage.events import AnyEntry
from localarc.service.streams.prediction_sets import made_set
from localarc.service.streams.state import Answered, Pending, digest
from localarc.service.streams.stream import Stream
from localarc.wire.config import CreateResponse, StreamConfig
from localarc.wire.events import ChangeEvent
from localarc.wire.predictions import (
    BatchResult,
    FeedbackOperation,
    FeedbackResponse,
    Operation,
    PredictOperation,
    PredictRequest,
    PredictResponse,
)
from localarc.wire.status import ImportResponse

_EXPIRIES_AT_ONCE = 1_000

Result = TypeVar("Result")


@dataclass(frozen=True)
class Row:
    """A change that is to be logged, and what listeners will be told about it."""

    stream: str
    seq: int
    entry: AnyEntry
    notice: ChangeEvent


class Desk:
    """All streams of a service."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self.limits = limits
        self.streams: dict[str, Stream] = {}
        self.unhealthy: set[str] = set()
        self.rows: list[Row] = []
        self._clock = clock

    def stream(self, name: str) -> Stream:
        """The stream of that name."""
        if name not in self.streams:
            raise Refusal(404, f"there is no stream {name!r}: create it with PUT first.")
        return self.streams[name]

    # ---- requests ----------------------------------------------------------------------------

    def create(self, name: str, config: StreamConfig) -> tuple[CreateResponse, bool]:
        """The stream, and whether it is new."""
        if name in self.streams:
            if self.streams[name].book.config != config:
                raise Refusal(409, f"stream {name!r} exists with another config: take a new name.")
            return CreateResponse(name, config), False
        if len(self.streams) >= self.limits.streams:
            raise Refusal(429, f"the service holds {self.limits.streams} streams, its limit.")
        entry = events.Creation(self._clock(), config)
        stream = self.streams[name] = _sound(lambda: Stream.created(name, entry))
        self.rows.append(Row(name, 0, entry, stream.birth()))
        return CreateResponse(name, config), True

    def predict(self, name: str, request: PredictRequest | PredictOperation) -> PredictResponse:
        """A threshold for x; the same one if the same request came before."""
        stream = self._writable(name)
        known = self._known(stream, request)
        if known is None:
            self._check_room(stream, request)
            key = request.id or _fresh_id(stream)
            threshold = _sound(lambda: stream.threshold(request.x))
            about = key, request.x, threshold, request.group, request.scores
            self._do(stream, events.Prediction(self._clock(), *about))
            seq = stream.book.seq
        else:
            key, seq, threshold = request.id or "", known.seq, known.threshold
        made = made_set(stream.book.config.set, request.scores, threshold)
        return PredictResponse(key, seq, threshold, made)

    def feedback(self, name: str, key: str, loss: float) -> FeedbackResponse:
        """Learn a loss, once."""
        stream = self._writable(name)
        book = stream.book
        if key in book.pending:
            self._do(stream, events.Feedback(self._clock(), key, loss))
            return FeedbackResponse(book.seq, book.rounds)
        if key not in book.answered:
            raise Refusal(
                404,
                f"there is no prediction {key!r}: it was never made, or has been answered and "
                f"forgotten since (the latest {book.config.retain} answers are remembered).",
            )
        answered = book.answered[key]
        if answered.expired:
            raise Refusal(410, f"prediction {key!r} expired: its loss is no longer awaited.")
        if answered.loss != loss:
            raise Refusal(409, f"prediction {key!r} already has the loss {answered.loss}.")
        return FeedbackResponse(answered.feedback_seq, answered.rounds)

    def operations(self, operations: list[Operation | Refusal]) -> list[BatchResult]:
        """Many requests in order; each one succeeds or fails on its own."""
        return [self._result(operation) for operation in operations]

    def import_state(self, name: str, state: bytes) -> ImportResponse:
        """Replace the calibrator; predictions that await their losses stay."""
        stream = self.stream(name)
        self._do(stream, events.Import(self._clock(), state))
        self.unhealthy.discard(name)
        return ImportResponse(stream.book.seq, stream.book.rounds)

    def expire(self) -> None:
        """Stop awaiting losses that are overdue."""
        now = self._clock()
        for stream in self.streams.values():
            if stream.name not in self.unhealthy:
                for key in list(_overdue(stream, now)):
                    self._expire(stream, key, now)

    # ---- how ---------------------------------------------------------------------------------

    def _do(self, stream: Stream, entry: AnyEntry) -> None:
        notice = _sound(lambda: stream.apply(entry))
        self.rows.append(Row(stream.name, stream.book.seq, entry, notice))

    def _expire(self, stream: Stream, key: str, now: float) -> None:
        try:
            self._do(stream, events.Expiry(now, key, stream.book.config.default_loss))
        except Refusal:  # such as a full lattice: then nothing can be learnt
            self._do(stream, events.Expiry(now, key))

    def _writable(self, name: str) -> Stream:
        stream = self.stream(name)
        if not stream.healthy:
            self.unhealthy.add(name)
        if name in self.unhealthy:
            raise Refusal(
                503,
                f"stream {name!r} does not add up (its identity check is broken) or cannot be "
                "stored: import a good state, as an admin, or go on with a new stream.",
            )
        return stream

    def _known(
        self, stream: Stream, request: PredictRequest | PredictOperation
    ) -> Pending | Answered | None:
        """What was answered to this id before."""
        if request.id is None:
            return None
        book = stream.book
        known = book.pending.get(request.id) or book.answered.get(request.id)
        if known is None:
            return None
        x = np.array(request.x, dtype=np.float64).tobytes()
        if known.digest != digest(x, request.group, request.scores):
            raise Refusal(409, f"prediction {request.id!r} was made with another body.")
        return known

    def _check_room(self, stream: Stream, request: PredictRequest | PredictOperation) -> None:
        book, limits = stream.book, self.limits
        if len(request.x) != book.config.features:
            raise Refusal(
                422,
                f"x must hold {book.config.features} number(s), as the config says, got "
                f"{len(request.x)}.",
            )
        if len(book.pending) >= limits.pending:
            raise Refusal(
                429,
                f"{limits.pending} predictions await their losses, the limit: send losses, or set "
                "a timeout.",
            )
        new = request.group is not None and request.group not in book.groups
        if new and len(book.groups) >= limits.groups:
            raise Refusal(429, f"the stream has {limits.groups} groups, the limit.")

    def _result(self, operation: Operation | Refusal) -> BatchResult:
        try:
            if isinstance(operation, Refusal):
                raise operation
            if isinstance(operation, FeedbackOperation):
                about = operation.stream, operation.id, operation.loss
                return BatchResult(200, feedback=self.feedback(*about))
            return BatchResult(200, prediction=self.predict(operation.stream, operation))
        except Refusal as refusal:
            return BatchResult(refusal.status, problem=refusal.problem())


def _overdue(stream: Stream, now: float) -> Iterator[str]:
    timeout = stream.book.config.timeout
    if timeout is None:
        return
    for key, pending in itertools.islice(stream.book.pending.items(), _EXPIRIES_AT_ONCE):
        if pending.at + timeout <= now:
            yield key


def _fresh_id(stream: Stream) -> str:
    while (key := secrets.token_hex(8)) in stream.book.pending or key in stream.book.answered:
        pass
    return key


def _sound(work: Callable[[], Result]) -> Result:
    """The result, or what was wrong with the request."""
    try:
        return work()
    except (ValueError, TypeError, ArithmeticError, MemoryError) as error:
        raise Refusal(422, str(error)) from error
