"""Jobs: work on the streams that requests wait for, and their responses."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from localarc_client.wire.events import ChangeEvent
from localarc_service.errors import ApiError
from localarc_service.streams.manager import PendingWrite, StreamManager

Work = Callable[[StreamManager], Any]
Publish = Callable[[str, ChangeEvent], None]


@dataclass(frozen=True)
class Job:
    """Work on the streams, how many operations of it can write, and who waits for the result."""

    work: Work
    writes: int
    future: asyncio.Future[Any]


def is_bug(outcome: Any) -> bool:
    """Whether a request failed because of a bug in the service."""
    return isinstance(outcome, ApiError) and outcome.status == 500


def respond(
    jobs: list[Job], outcomes: list[Any], writes: list[PendingWrite], publish: Publish
) -> None:
    """Respond to the waiting requests, and publish the changes, in the event loop."""
    for job, outcome in zip(jobs, outcomes, strict=True):
        if job.future.done():
            continue  # the client is gone
        if isinstance(outcome, ApiError):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)
    for write in writes:
        publish(write.stream, write.change)
