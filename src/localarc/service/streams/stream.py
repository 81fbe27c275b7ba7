"""A stream in memory. `apply(entry)` is the only way in which it changes, live and in replay."""

from __future__ import annotations

import math
from typing import Self, assert_never

import msgspec
import numpy as np

from localarc import LARC, serialization
from localarc.guarantees import Certificate
from localarc.service.storage import events
from localarc.service.storage.events import AnyEntry, Creation
from localarc.service.streams.calibrators import check_room, new_calibrator
from localarc.service.streams.prediction_sets import set_size
from localarc.service.streams.state import Answered, Book, Pending, digest
from localarc.wire import events as notices
from localarc.wire.events import ChangeEvent

_KIND = "Stream"


class Stream:
    """A calibrator, and the book about it."""

    def __init__(self, name: str, book: Book, calibrator: LARC) -> None:
        self.name = name
        self.book = book
        self.calibrator = calibrator
        self.replay_differs = 0  # thresholds that came out otherwise than they had been told

    @classmethod
    def created(cls, name: str, entry: Creation) -> Self:
        """A stream that has seen nothing yet."""
        return cls(name, Book(entry.config, entry.at), new_calibrator(entry.config))

    def birth(self) -> ChangeEvent:
        """What listeners are told of a new stream."""
        return self._notice(notices.CreatedEvent, self.book.created)

    def apply(self, entry: AnyEntry) -> ChangeEvent:
        """Let something happen; raises and changes nothing if it cannot."""
        if isinstance(entry, events.Prediction):
            return self._predicted(entry)
        if isinstance(entry, events.Feedback):
            return self._learned(entry)
        if isinstance(entry, events.Expiry):
            return self._expired(entry)
        if isinstance(entry, events.Import):
            return self._imported(entry)
        if isinstance(entry, Creation):
            raise ValueError(f"stream {self.name!r} was created already.")
        assert_never(entry)

    def replay(self, entry: AnyEntry) -> ChangeEvent:
        """`apply`, and compare the threshold with the one that was told, bit for bit."""
        if isinstance(entry, events.Prediction):
            self.replay_differs += self.threshold(entry.x) != entry.threshold
        return self.apply(entry)

    def threshold(self, x: list[float]) -> float:
        """The threshold for an input, now."""
        value = float(self.calibrator.threshold(np.array(x, dtype=np.float64)))
        if not math.isfinite(value):  # nothing in the log may be other than a number
            raise ValueError(
                f"the threshold at this input is {value}: the scale or rate is too large."
            )
        return value

    # ---- what happens ------------------------------------------------------------------------

    def _predicted(self, entry: events.Prediction) -> ChangeEvent:
        book = self.book
        x = np.array(entry.x, dtype=np.float64).tobytes()
        size = set_size(book.config.set, entry.scores, entry.threshold)
        told = digest(x, entry.group, entry.scores)
        book.outstanding = max(book.outstanding, len(book.pending))
        book.seq += 1
        book.predictions += 1
        book.see(entry.x, entry.group)
        book.pending[entry.id] = Pending(
            book.seq, entry.at, told, entry.threshold, x, entry.group, size
        )
        about = {"id": entry.id, "threshold": entry.threshold, "size": size, "group": entry.group}
        return self._notice(notices.PredictedEvent, entry.at, **about)

    def _learned(self, entry: events.Feedback) -> ChangeEvent:
        pending = self.book.pending[entry.id]
        self._learn(pending, entry.loss)
        self.book.late += pending.seq < self.book.newest_learnt
        self.book.newest_learnt = max(self.book.newest_learnt, pending.seq)
        self._close(entry.id, pending, entry.loss, expired=False)
        self._sample(entry.at, pending)
        return self._notice(
            notices.FeedbackEvent,
            entry.at,
            id=entry.id,
            loss=entry.loss,
            threshold=pending.threshold,
            size=pending.size,
            group=pending.group,
        )

    def _expired(self, entry: events.Expiry) -> ChangeEvent:
        pending = self.book.pending[entry.id]
        if entry.loss is not None:
            self._learn(pending, entry.loss)
        self.book.expired += 1
        self._close(entry.id, pending, entry.loss, expired=True)
        if entry.loss is not None:
            self._sample(entry.at, pending)
        about = {"id": entry.id, "loss": entry.loss, "group": pending.group}
        return self._notice(notices.ExpiredEvent, entry.at, **about)

    def _imported(self, entry: events.Import) -> ChangeEvent:
        self.calibrator = self.restored_calibrator(entry.state)
        self.book.seq += 1
        certificate = self.calibrator.certificate()
        self.book.begin_again(certificate.rounds, certificate.risk)
        return self._notice(notices.ImportedEvent, entry.at)

    def _learn(self, pending: Pending, loss: float) -> None:
        check_room(self.book.config, self.book.rounds)
        self.calibrator.update(np.frombuffer(pending.x), loss)  # raises before any change
        self.book.count(loss, pending.group)

    def _close(self, key: str, pending: Pending, loss: float | None, expired: bool) -> None:
        book = self.book
        book.seq += 1
        told = pending.seq, pending.digest, pending.threshold
        book.answer(key, Answered(*told, loss, book.seq, book.rounds, expired))

    def _sample(self, at: float, pending: Pending) -> None:
        book = self.book
        if not book.series.wants(book.rounds):
            return
        book.series.add(
            book.rounds,
            at,
            book.loss_sum / book.rounds,
            pending.threshold,
            pending.size,
            finite(self.calibrator.certificate().observed.value),
            len(book.pending),
            book.late,
            book.expired,
        )

    def _notice(self, kind: type[ChangeEvent], at: float, **about: object) -> ChangeEvent:
        book = self.book
        return kind(
            seq=book.seq,
            at=at,
            rounds=book.rounds,
            risk=book.risk,
            pending=len(book.pending),
            late=book.late,
            expired=book.expired,
            **about,
        )

    # ---- whether it adds up ------------------------------------------------------------------

    def certificate(self) -> Certificate:
        """The calibrator's certificate, with the losses that were awaited at the worst moment."""
        return self.calibrator.certificate(outstanding=self.book.outstanding)

    @property
    def healthy(self) -> bool:
        """Whether the identity holds, and the calibrator has learnt what the book counted."""
        own, rounds, total = self.calibrator, self.book.rounds, self.book.loss_sum
        if own.rounds != rounds or not own.identity_holds:
            return False
        return not rounds or math.isclose(own.risk * rounds, total, rel_tol=1e-9, abs_tol=1e-9)

    # ---- to be stored ------------------------------------------------------------------------

    def snapshot(self) -> bytes:
        """All of the stream, in our state format: sealed, without pickle."""
        parts = {
            "book": np.frombuffer(msgspec.msgpack.encode(self.book), np.uint8),
            "calibrator": np.frombuffer(self.calibrator.state(), np.uint8),
        }
        return serialization.encode(
            _KIND, {"name": self.name, "differs": self.replay_differs}, parts
        )

    @classmethod
    def restored(cls, data: bytes) -> Self:
        """The stream whose `snapshot` this was."""
        kind, content, arrays = serialization.decode(data)
        if kind != _KIND:
            raise serialization.StateError(f"a snapshot is of kind {kind}, not {_KIND}.")
        book = msgspec.msgpack.decode(arrays["book"].tobytes(), type=Book)
        calibrator = new_calibrator(book.config).restore(arrays["calibrator"].tobytes())
        stream = cls(content["name"], book, calibrator)
        stream.replay_differs = content["differs"]
        return stream

    def restored_calibrator(self, data: bytes) -> LARC:
        """A calibrator from outside, which must have this stream's settings and add up."""
        try:
            calibrator = new_calibrator(self.book.config).restore(data)
        except (KeyError, IndexError, AttributeError, RecursionError) as error:
            raise serialization.StateError(
                f"the state is not one of localarc's: {error!r}."
            ) from error
        if not calibrator.identity_holds:
            raise serialization.StateError(
                "the state's own losses do not add up: the identity is broken."
            )
        here = calibrator.threshold(np.zeros((1, self.book.config.features)))  # the same features
        if not np.isfinite(here).all():
            raise serialization.StateError("the state's thresholds are not finite: it is damaged.")
        return calibrator


def finite(value: float) -> float | None:
    """A number for JSON, None where there is none."""
    return value if math.isfinite(value) else None
