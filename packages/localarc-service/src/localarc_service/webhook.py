"""The webhook: changes of health are sent to one URL, signed, and again until they arrive.

A thread of its own sends them in order: a receiver that is slow or gone delays nothing else.
"""

from __future__ import annotations

import http.client
import logging
import random
import threading
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

import msgspec

from localarc_client.wire.events import HealthEvent
from localarc_client.wire.webhook import (
    ID,
    SIGNATURE,
    TIMESTAMP,
    HealthNotice,
    secret_key,
    signature,
)
from localarc_service.metrics import WebhookMetrics
from localarc_service.streams.manager import PendingWrite, StreamManager
from localarc_service.streams.watch import SEVERITY

MAX_WAITING = 1_000  # notices; beyond it the oldest is dropped
_TIMEOUT = 10.0  # seconds for each step of one request
_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 60.0
_REJECTIONS = 10  # of one notice that the receiver understands and does not want
_LAST_WORDS = 2.0  # seconds to send what waits when the service stops
_log = logging.getLogger("localarc.service")


@dataclass(frozen=True)
class Target:
    """Where notices go, and the key that signs them."""

    url: SplitResult
    key: bytes

    @classmethod
    def checked(cls, url: str, secret: str) -> Target:
        """Raise ValueError unless it is an http(s) URL without a password, and a good secret."""
        try:
            parts = urlsplit(url)
            valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            valid = False
        if not valid:
            raise ValueError(
                f"the webhook must be a URL such as https://alerts.example/localarc, got {url!r}."
            )
        if parts.username is not None or parts.password is not None:
            raise ValueError(
                "the URL of the webhook must not contain a password: receivers recognize the "
                "service by its signature."
            )
        return cls(parts, secret_key(secret))

    def post(self, notice: HealthNotice) -> int:
        """Send a notice; returns the status of the response."""
        body = msgspec.json.encode(notice)
        stamp = str(int(time.time()))
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "localarc",
            ID: notice.id,
            TIMESTAMP: stamp,
            SIGNATURE: signature(self.key, notice.id, stamp, body),
        }
        secure = self.url.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        connection = kind(self.url.hostname or "", self.url.port, timeout=_TIMEOUT)
        path = (self.url.path or "/") + (f"?{self.url.query}" if self.url.query else "")
        try:
            connection.request("POST", path, body, headers)
            return connection.getresponse().status
        finally:
            connection.close()


def pause_after(failures: int) -> float:
    """Seconds to the next attempt: doubled each time, less a random part of up to one half."""
    return min(_FIRST_PAUSE * 2.0 ** min(failures, 10), _LONGEST_PAUSE) * random.uniform(0.5, 1.0)


def notices(writes: Iterable[PendingWrite]) -> list[HealthNotice]:
    """The changes of health among events that were committed."""
    return [
        HealthNotice(
            id=f"{write.stream}.{write.seq}",
            stream=write.stream,
            group=change.group,
            status=change.status,
            previous=change.previous,
            at=change.at,
            since_round=change.since_round,
            why=change.why,
        )
        for write in writes
        if isinstance(change := write.change, HealthEvent)
    ]


def reminders(manager: StreamManager) -> list[HealthNotice]:
    """What is not ok when the service starts, the worst first, up to the size of the queue.

    Notices of these changes may have been lost with the process.
    """
    found = [
        HealthNotice(
            id=f"{stream.name}.{told.seq}",
            stream=stream.name,
            group=part or None,
            status=told.state,
            previous=told.previous,
            at=told.at,
            since_round=told.since_round,
            why=told.why,
            repeated=True,
        )
        for stream in manager.streams.values()
        for part, told in stream.watch.announced.items()
    ]
    found.sort(key=lambda notice: (SEVERITY[notice.status], notice.at))
    return found[:MAX_WAITING]


class Webhook:
    """The queue of notices and the thread that sends them."""

    def __init__(self, target: Target, metrics: WebhookMetrics) -> None:
        self._target = target
        self._metrics = metrics
        self._waiting: deque[HealthNotice] = deque()
        self._changed = threading.Condition()
        self._deadline: float | None = None  # set when the service stops
        self._failing = False
        self._thread = threading.Thread(target=self._run, name="webhook", daemon=True)

    def start(self) -> None:
        """Begin to send."""
        self._thread.start()

    def put(self, notices: Iterable[HealthNotice]) -> None:
        """Queue notices; never waits. A full queue drops its oldest, which are counted."""
        with self._changed:
            for notice in notices:
                if len(self._waiting) >= MAX_WAITING:
                    self._waiting.popleft()
                    self._metrics.dropped.inc()
                self._waiting.append(notice)
            self._metrics.waiting.set(len(self._waiting))
            self._changed.notify_all()

    def stop(self) -> None:
        """Send what waits, for two seconds at most; blocks until done."""
        with self._changed:
            self._deadline = time.monotonic() + _LAST_WORDS
            self._changed.notify_all()
        self._thread.join(_LAST_WORDS)

    # ---- the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        failures = rejections = 0
        while (notice := self._next()) is not None:
            outcome = self._attempt(notice)
            rejections += outcome == "rejected"
            if outcome == "delivered" or rejections >= _REJECTIONS:
                self._remove(notice)
                self._metrics.dropped.inc(outcome == "rejected")
                failures = rejections = 0
            elif self._stops_within(pause_after(failures)):
                return
            else:
                failures += 1

    def _next(self) -> HealthNotice | None:
        """The oldest notice, left in the queue; None when the service stops."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._deadline is not None)
            late = self._deadline is not None and time.monotonic() > self._deadline
            return self._waiting[0] if self._waiting and not late else None

    def _stops_within(self, seconds: float) -> bool:
        """Wait; whether the service stops in the meantime."""
        with self._changed:
            return self._changed.wait_for(lambda: self._deadline is not None, seconds)

    def _attempt(self, notice: HealthNotice) -> str:
        """Send once: "delivered", "rejected" or "failed"."""
        try:
            status = self._target.post(notice)
            problem = f"status {status}"
        except (OSError, http.client.HTTPException, UnicodeError) as error:
            status, problem = 503, type(error).__name__
        if 200 <= status < 300:
            outcome = "delivered"
        else:
            outcome = "rejected" if status < 500 and status not in (408, 429) else "failed"
        self._metrics.attempts.labels(outcome).inc()
        self._note(outcome, problem)
        return outcome

    def _note(self, outcome: str, problem: str) -> None:
        """Log when sending begins to fail, and when it works again; never a name or a path."""
        failing = outcome != "delivered"
        if failing and not self._failing:
            _log.error("the webhook cannot be delivered (%s); trying again", problem)
        elif self._failing and not failing:
            _log.warning("the webhook is delivered again")
        self._failing = failing

    def _remove(self, notice: HealthNotice) -> None:
        with self._changed:
            if self._waiting and self._waiting[0] is notice:
                self._waiting.popleft()
            self._metrics.waiting.set(len(self._waiting))
