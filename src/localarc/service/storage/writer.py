"""The writer: one thread that owns all streams, and answers only what is on disk.

Requests wait in a queue. The writer takes all that are there, works them out in memory, commits
their rows together, and only then answers. While a commit waits for the disk, the next requests
gather: so the busier the service, the larger its commits. If a commit fails, the streams go back to
what is on disk, and nothing of it was ever told.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from localarc.service.api.errors import Refusal
from localarc.service.metrics import Metrics
from localarc.service.storage.jobs import Job, Jobs, Work
from localarc.service.storage.store import Log
from localarc.service.streams.calibrators import warm_up
from localarc.service.streams.manager import Desk, Row
from localarc.service.streams.stream import Stream
from localarc.wire.events import ChangeEvent

SNAPSHOTS_AT_ONCE = 4
_MOST_WAITING = 10_000
_TICK = 0.2  # seconds between looks at what has expired
_log = logging.getLogger("localarc.service")

Result = TypeVar("Result")
Published = Callable[[str, ChangeEvent], None]


class Writer:
    """The thread, and the way to it."""

    def __init__(self, log: Log, desk: Desk, metrics: Metrics, publish: Published) -> None:
        self._log = log
        self._desk = desk
        self._metrics = metrics
        self._publish = publish
        self._jobs = Jobs()
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._failing = ""  # why nothing can be written, or nothing
        self._astray: set[str] = set()  # streams that are ahead of the disk
        self._unstorable: set[str] = set()  # streams of which no snapshot can be made
        self._serving: list[Job] = []
        self._looked = 0.0
        self.ready = False
        self.waiting_for = "the log is being replayed"
        self.on_failure: Callable[[BaseException], None] = lambda error: None

    # ---- from the event loop -----------------------------------------------------------------

    @property
    def trouble(self) -> str:
        """Why requests are not taken, or nothing."""
        return self._failing if self.ready else self.waiting_for

    async def ask(self, work: Callable[[Desk], Result], writes: int = 0) -> Result:
        """Have work done on the streams; returns when all that it saw or did is on disk."""
        if not self.ready:
            raise Refusal(503, f"not ready: {self.waiting_for}.")
        if len(self._jobs) > _MOST_WAITING:
            raise Refusal(503, "too many requests wait for the disk: try again in a moment.")
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._jobs.put(Job(work, writes, future))
        return await future

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Replay the log, then take requests; answers are given in the event loop."""
        self._loop = loop
        self._thread.start()

    def stop(self) -> None:
        """Do what was asked so far, keep snapshots, close the log; returns when it is done."""
        self._jobs.end()
        self._thread.join()

    # ---- the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._load()
            while (jobs := self._jobs.gather(_TICK)) is not None:
                self._serving = jobs
                self._serve(jobs)
                self._tidy()
            self._finish()
        except BaseException as error:
            self.ready, self.waiting_for = False, "the service has stopped"
            _log.exception("the writer stopped")
            self._loop.call_soon_threadsafe(self._abandon, error)

    def _abandon(self, error: BaseException) -> None:
        """Nobody will be answered any more: say so to all who wait."""
        self._jobs.end()
        jobs = [*self._serving, *(self._jobs.gather(0.0) or [])]
        stopped = Refusal(503, f"{self.waiting_for}: try again when it is back.")
        _answer(jobs, [stopped] * len(jobs), [], self._publish)
        self.on_failure(error)

    def _load(self) -> None:
        started = time.perf_counter()
        desk = self._desk
        desk.streams = self._log.load(told=self._publish)
        self.waiting_for = "the engine is being compiled"
        warm_up(stream.book.config for stream in desk.streams.values())
        self._examine(desk.streams)
        self._metrics.replay_seconds.set(time.perf_counter() - started)
        self.ready = True

    def _examine(self, streams: Mapping[str, Stream]) -> None:
        """The identity check of streams that come from the disk; names stay out of our log."""
        for name, stream in streams.items():
            self._desk.unhealthy.discard(name)
            if not stream.healthy:
                self._desk.unhealthy.add(name)
                _log.error("a stream does not add up: its identity check is broken")
            if stream.replay_differs:
                _log.error(
                    "replay gave %d threshold(s) otherwise than they were told",
                    stream.replay_differs,
                )

    def _serve(self, jobs: list[Job]) -> None:
        desk = self._desk
        desk.rows = []
        able = self._able_to_write()
        if able and time.monotonic() - self._looked >= _TICK:
            self._looked = time.monotonic()
            self._outcome(Desk.expire, 1, able)
        outcomes = [self._outcome(job.work, job.writes, able) for job in jobs]
        if self._astray:
            outcomes = self._go_back(jobs, outcomes)
        elif desk.rows:
            try:
                self._commit(desk.rows)
            except sqlite3.Error as error:
                self._fail(error)
                outcomes = self._go_back(jobs, outcomes)
        if jobs or desk.rows:
            self._loop.call_soon_threadsafe(_answer, jobs, outcomes, desk.rows, self._publish)

    def _outcome(self, work: Work, writes: int, able: bool) -> Any:
        try:
            if self._astray or (writes and not able):
                reason = self._failing or "another request failed beside this one"
                raise Refusal(503, f"nothing can be written: {reason}. Try again later.")
            return work(self._desk)
        except Refusal as refusal:
            return refusal
        except Exception:
            _log.exception("a request failed")
            if writes:  # a defect of ours: trust nothing in memory, go back to the disk
                self._astray |= set(self._desk.streams)
            return Refusal(500, "the service made a mistake; nothing was changed.")

    def _commit(self, rows: list[Row]) -> None:
        started = time.perf_counter()
        self._log.append(rows)
        self._metrics.committed(rows, time.perf_counter() - started)

    def _go_back(self, jobs: list[Job], outcomes: list[Any]) -> list[Any]:
        """Forget what is not on disk; who only looked, looks again."""
        self._astray |= {row.stream for row in self._desk.rows}
        self._desk.rows = []
        self._return_to_disk()
        return [
            outcome if _is_defect(outcome) else self._outcome(job.work, job.writes, able=False)
            for job, outcome in zip(jobs, outcomes, strict=True)
        ]

    def _return_to_disk(self) -> None:
        try:
            found = self._log.load(self._astray)
        except sqlite3.Error as error:
            self._fail(error)
            return
        for name in self._astray:
            self._desk.streams.pop(name, None)
        self._desk.streams.update(found)
        self._examine(found)
        self._astray = set()

    def _able_to_write(self) -> bool:
        if self._failing:
            try:
                self._log.probe()
                self._failing = ""
                _log.warning("writing works again")
            except sqlite3.Error as error:
                self._fail(error)
        if self._astray:
            self._return_to_disk()
        return not self._failing and not self._astray

    def _fail(self, error: sqlite3.Error) -> None:
        if not self._failing:
            _log.error("writing failed: %s", error)
        self._failing = str(error)
        self._metrics.failures.inc()

    def _tidy(self) -> None:
        """Keep the log short: from half its limits on a little at a time, beyond them at once."""
        log = self._log
        self._metrics.log_events.set(log.events)
        self._metrics.log_bytes.set(log.bytes)
        if self._failing or self._astray:
            return
        try:
            if self._fullness() > 0.5 and not log.prune():
                self._snapshot(SNAPSHOTS_AT_ONCE)
            while self._fullness() > 1.0:
                self._snapshot()
                if not log.prune():
                    break  # what is left belongs to streams that cannot be stored
        except sqlite3.Error as error:
            self._fail(error)

    def _fullness(self) -> float:
        log, limits = self._log, self._desk.limits
        return max(log.events / limits.log_events, log.bytes / limits.log_bytes)

    def _snapshot(self, most: int | None = None) -> None:
        """Store streams, the one that holds the log longest first."""
        storable = (name for name in self._log.unsaved if name not in self._unstorable)
        for name in list(itertools.islice(storable, most)):
            try:
                self._log.snapshot(self._desk.streams[name])
                self._metrics.snapshots.inc()
            except (sqlite3.DataError, ValueError, OverflowError, MemoryError):
                # A defect of ours: the log keeps all of the stream, and the others go on.
                _log.exception("a stream cannot be stored")
                self._unstorable.add(name)
                self._desk.unhealthy.add(name)

    def _finish(self) -> None:
        self.ready, self.waiting_for = False, "the service is stopping"
        try:
            if self._able_to_write():
                self._snapshot()
            self._log.close()
        except sqlite3.Error as error:  # the log has all of it; the next start replays more
            _log.error("no snapshot could be kept at the end: %s", error)


def _is_defect(outcome: Any) -> bool:
    return isinstance(outcome, Refusal) and outcome.status == 500


def _answer(jobs: list[Job], outcomes: list[Any], rows: list[Row], publish: Published) -> None:
    """Answer who waits, and tell listeners, in the event loop."""
    for job, outcome in zip(jobs, outcomes, strict=True):
        if job.future.done():
            continue  # the client is gone
        if isinstance(outcome, Refusal):
            job.future.set_exception(outcome)
        else:
            job.future.set_result(outcome)
    for row in rows:
        publish(row.stream, row.notice)
