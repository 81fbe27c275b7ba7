"""The audit log: who changed what, one JSON object per line on the logger `localarc.audit`.

A change has a line of its own. Predictions and losses are counted: a line per token and stream says
how many there were, once a minute, unless each one is wanted.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from logging.handlers import WatchedFileHandler
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from localarc_client.wire.predictions import BatchResponse, FeedbackOperation
from localarc_service.errors import ApiError

LOGGER = logging.getLogger("localarc.audit")
COUNT_SECONDS = 60.0
_MAX_TEXT = 200
_log = logging.getLogger("localarc.service")
Counted: TypeAlias = tuple[str, str | None, str | None, int]
"""An action, a stream, the name of a token and a status."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that could change something, and what became of it; `token` is a name."""

    action: str
    stream: str | None
    token: str | None
    address: str
    request_id: str
    status: int
    detail: str = ""


class AuditLog:
    """Writes the lines, to a file or to standard error."""

    def __init__(
        self,
        file: Path | None,
        every_prediction: bool = False,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._every_prediction = every_prediction
        self._clock = clock
        self._since = clock()
        self._counts: Counter[Counted] = Counter()
        self._handler = _handler(file)
        LOGGER.setLevel(logging.INFO)
        LOGGER.propagate = False  # the log of the service contains no names of streams
        LOGGER.addHandler(self._handler)

    @property
    def failures(self) -> int:
        """How many lines could not be written."""
        return self._handler.failures if isinstance(self._handler, AuditFile) else 0

    def add(self, attempt: Attempt, counted: bool) -> None:
        """Write a line, or count it; what was rejected is counted without names of streams."""
        if counted and not self._every_prediction:
            stream = attempt.stream if attempt.status < 400 else None
            self._counts[attempt.action, stream, attempt.token, attempt.status] += 1
        else:
            self.write(**asdict(attempt))

    def write_counts(self, at_once: bool = False) -> None:
        """Write what was counted, if a minute has passed."""
        now = self._clock()
        if not at_once and now - self._since < COUNT_SECONDS:
            return
        for (action, stream, token, status), count in sorted(self._counts.items(), key=str):
            about = {"action": action, "stream": stream, "token": token, "status": status}
            self.write(**about, count=count, since=_iso(self._since))
        self._counts.clear()
        self._since = now

    def write(self, **fields: Any) -> None:
        """Write a line; empty fields are left out, and long ones are cut."""
        told = {
            key: value[:_MAX_TEXT] if isinstance(value, str) else value
            for key, value in fields.items()
            if value != ""
        }
        LOGGER.info(msgspec.json.encode({"time": _iso(self._clock()), **told}).decode())

    def close(self) -> None:
        """Write what was counted, and close the file."""
        self.write_counts(at_once=True)
        LOGGER.removeHandler(self._handler)
        with contextlib.suppress(OSError):  # what could not be written was counted
            self._handler.close()


class AuditFile(WatchedFileHandler):
    """Appends to a file, which may be moved away at any time; then a new one begins."""

    failures = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; logging itself would raise where the file cannot be opened again."""
        try:
            super().emit(record)
        except OSError:
            self.handleError(record)

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - of logging
        """Count a line that could not be written; the log of the service says so once."""
        if not self.failures:
            _log.error("the audit log cannot be written: %s", sys.exc_info()[1])
        self.failures += 1


def _handler(file: Path | None) -> logging.Handler:
    handler: logging.Handler
    if file is None:
        handler = logging.StreamHandler(sys.stderr)
    else:
        file.parent.mkdir(parents=True, exist_ok=True)
        handler = AuditFile(file, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(message)s"))
    return handler


def batch_attempts(
    batch: Attempt, operations: Sequence[Any], response: BatchResponse
) -> Iterator[Attempt]:
    """The operations of a batch, each on its own; those that could not be read have no stream."""
    for operation, result in zip(operations, response.results, strict=True):
        if not isinstance(operation, ApiError):
            action = "feedback" if isinstance(operation, FeedbackOperation) else "predict"
            yield replace(batch, action=action, stream=operation.stream, status=result.status)


def _iso(time: float) -> str:
    return datetime.fromtimestamp(time, UTC).isoformat(timespec="milliseconds")
