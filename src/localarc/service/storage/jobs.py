"""Jobs: work that somebody waits for, in the order in which it came."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from localarc.service.streams.manager import Desk

OPERATIONS_AT_ONCE = 1024

Work = Callable[[Desk], Any]


@dataclass(frozen=True)
class Job:
    """Work on the streams, how many operations of it may change something, and who waits."""

    work: Work
    writes: int
    future: asyncio.Future[Any]


class Jobs:
    """The queue between the event loop and the writer."""

    def __init__(self) -> None:
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()

    def __len__(self) -> int:
        return self._queue.qsize()

    def put(self, job: Job) -> None:
        """Join the queue."""
        self._queue.put(job)

    def end(self) -> None:
        """Let the queue end after the jobs that are in it."""
        self._queue.put(None)

    def gather(self, timeout: float) -> list[Job] | None:
        """All jobs that wait, once there is one; none after a while; None at the end."""
        jobs: list[Job] = []
        operations = 0
        try:
            job = self._queue.get(timeout=timeout)
            while job is not None:
                jobs.append(job)
                operations += max(1, job.writes)
                if operations >= OPERATIONS_AT_ONCE:
                    return jobs
                job = self._queue.get_nowait()
        except queue.Empty:
            return jobs
        if not jobs:
            return None
        self.end()  # was found behind them: next time
        return jobs
