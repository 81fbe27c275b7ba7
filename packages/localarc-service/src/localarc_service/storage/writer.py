"""The writer: one thread that owns all streams and responds only with what is on disk.

Requests wait in a queue. The writer takes all that are there, applies them in memory, commits their
events together, and only then responds. While a commit waits for the disk, the next requests
accumulate, so commits grow with the load. If a commit fails, the streams are restored from the
disk, and no client has seen any of it.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from localarc_client.wire.events import ChangeEvent
from localarc_service.compile_watch import report_compiling
from localarc_service.compiler import Compiler
from localarc_service.errors import ApiError
from localarc_service.metrics import Metrics
from localarc_service.storage.interface import Store
from localarc_service.storage.jobs import Job, Publish, Work, is_bug, respond
from localarc_service.streams.directory import Directory
from localarc_service.streams.lifecycle import remove_old_records
from localarc_service.streams.manager import PendingWrite, StreamManager
from localarc_service.streams.stream import Stream

_MAX_BATCH = 1024  # operations in one commit
_COMPANY = 4  # requests in one commit, after which others are waited for
_MAX_DELAY = 0.003  # seconds
_MAX_WAITING = 10_000  # requests in the queue
_SNAPSHOT_BATCH = 4
_EXPIRY_SECONDS = 0.2  # between checks for expired predictions
_STANDBY_SECONDS = 0.2  # between attempts to become the owner
_COMPILING = "the engine is being compiled"
_STANDBY = "standby: another process serves these streams"
_UNKNOWN = (
    "the connection to the database was lost: whether this request was stored shows when a service "
    "is ready again. Repeat it then, with the same id."
)
_log = logging.getLogger("localarc.service")

Result = TypeVar("Result")


class Writer:
    """The thread and its queue. The streams are served while this process owns the store."""

    def __init__(
        self,
        store: Store,
        manager: StreamManager,
        metrics: Metrics,
        publish: Publish,
        compiler: Compiler,
    ) -> None:
        self._store = store
        self._manager = manager
        self._metrics = metrics
        self._publish = publish
        self._compiler = compiler
        self._queue: queue.SimpleQueue[Job | None] = queue.SimpleQueue()  # None ends it
        self._closed = False  # the end of the queue has been read
        self._loop: asyncio.AbstractEventLoop
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._write_error = ""  # why nothing can be written; empty if it can
        self._ahead_of_disk: set[str] = set()  # streams with changes that are not on disk
        self._unstorable: set[str] = set()  # streams whose snapshot failed
        self._current_batch: list[Job] = []
        self._last_expiry_check = 0.0
        self.commit_delay = 0.0  # seconds per request of the last commit, to wait for the next
        self.ready = False
        self.status = "the event log is being replayed"
        self.hindrance: Callable[[], str] = lambda: ""  # why this process may not own the store
        self.on_standby: Callable[[], None] = lambda: None
        self.on_loss: Callable[[], None] = lambda: None  # in the event loop
        self.on_ready: Callable[[], None] = lambda: None
        self.on_failure: Callable[[BaseException], None] = lambda error: None
        self.on_load: Callable[[StreamManager], None] = lambda manager: None
        self.on_commit: Callable[[list[PendingWrite]], None] = lambda writes: None

    # ---- from the event loop -----------------------------------------------------------------

    @property
    def unavailable_reason(self) -> str:
        """Why requests are not accepted; empty if they are."""
        return self._write_error if self.ready else self.status

    def check_ready(self) -> None:
        """Raise unless requests are accepted."""
        if not self.ready:
            raise ApiError(503, f"not ready: {self.status}.")

    async def ask(self, work: Callable[[StreamManager], Result], writes: int = 0) -> Result:
        """Run work on the streams; returns when everything that it read or wrote is on disk."""
        self.check_ready()
        if self._queue.qsize() > _MAX_WAITING:
            raise ApiError(503, "too many requests are waiting for the disk: try again later.")
        future: asyncio.Future[Result] = asyncio.get_running_loop().create_future()
        self._queue.put(Job(work, writes, future))
        return await future

    def restrict(self, owns: Callable[[str], bool], directory: Directory) -> None:
        """Serve only streams with some names; the directory has the others. Before the start."""
        self._manager.owns = owns
        self._manager.directory = directory

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        """Replay the event log, then accept requests; responses are sent in the event loop."""
        self._loop = loop
        self._thread.start()

    def stop(self) -> None:
        """Finish the requests so far, store snapshots and close the store; blocks until done."""
        self._queue.put(None)
        self._thread.join()

    # ---- the thread --------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            while not self._closed:
                if self.ready:
                    self._work()
                else:
                    self._begin()
            self._finish()
        except BaseException as error:
            self.ready, self.status = False, "the service has stopped"
            _log.exception("the writer stopped")
            self._loop.call_soon_threadsafe(self._abandon, error)
            with contextlib.suppress(*self._store.errors):  # nothing more is stored here
                self._store.close()

    def _begin(self) -> None:
        """Load the streams if this process can own the store; else stand by for a moment."""
        try:
            hindrance = self.hindrance()
            if not hindrance and self._store.acquire():
                self._load()
            else:
                self._stand_by(hindrance or _STANDBY)
        except self._store.errors as error:
            if self._store.is_owner():
                raise
            self._stand_by(f"{self._store.place} cannot be used: {error}")

    def _stand_by(self, status: str) -> None:
        if self.status != status:
            _log.warning("%s", status)
            self.status = _COMPILING
            self._compiler.load_all(())  # so that taking over takes less time
            self.on_standby()
            self.status = status  # whoever reads it can rely on the report
        self._reject(self._drain(_STANDBY_SECONDS), f"not ready: {status}.")

    def _reject(self, jobs: list[Job], reason: str) -> None:
        refusals = [ApiError(503, reason)] * len(jobs)
        self._loop.call_soon_threadsafe(respond, jobs, refusals, [], self._publish)

    def _work(self) -> None:
        if self.commit_delay and len(self._current_batch) >= _COMPANY:  # others will come along
            time.sleep(min(self.commit_delay * len(self._current_batch), _MAX_DELAY))
        self._current_batch = self._drain(_EXPIRY_SECONDS)
        if self.hindrance():
            self._store.close()  # another process may own it
        if self._store.is_owner():
            self._serve(self._current_batch)
            self._store.flush()
            if self._store.degraded and not self._write_error:
                self._fail(self._store.degraded)
            self._limit_log()
        else:
            self._reject(self._current_batch, _UNKNOWN)
        if not self._store.is_owner():
            _log.error("the connection to the database was lost: the streams are loaded again")
            self.ready, self.status = False, "the connection to the database was lost"
            self._manager.directory.withdraw()
            self._loop.call_soon_threadsafe(self.on_loss)

    def _drain(self, timeout: float) -> list[Job]:
        """All waiting jobs, up to the size of a batch; waits for the first one."""
        jobs: list[Job] = []
        operations = 0
        try:
            while operations < _MAX_BATCH:
                job = self._queue.get_nowait() if jobs else self._queue.get(timeout=timeout)
                if job is None:
                    self._closed = True
                    break
                jobs.append(job)
                operations += max(1, job.writes)
        except queue.Empty:
            pass
        return jobs

    def _abandon(self, error: BaseException) -> None:
        """Fail every waiting request: no more responses will come."""
        jobs = list(self._current_batch)
        while waiting := self._drain(0.0):
            jobs += waiting
        stopped = ApiError(503, f"{self.status}: try again when it is back.")
        respond(jobs, [stopped] * len(jobs), [], self._publish)
        self.on_failure(error)

    def _load(self) -> None:
        started = time.perf_counter()
        manager = self._manager
        self._write_error, self._ahead_of_disk, self._unstorable = "", set(), set()
        manager.begin(self._store.load(publish=self._publish_replayed))
        self._set_aside()
        if self._store.degraded:
            self._fail(self._store.degraded)
        self.status = _COMPILING
        self._compiler.load_all(stream.state.config for stream in manager.streams.values())
        report_compiling(_report_compiling)
        self._check_consistency(manager.streams)
        if overdue := manager.count_overdue():
            _log.warning(
                "%d pending prediction(s) timed out while the service was down: they expire in "
                "%g s. If the clock is wrong, stop the service and correct it before that.",
                overdue,
                manager.limits.expiry_grace,
            )
        self._metrics.replay_seconds.set(time.perf_counter() - started)
        manager.started = manager.clock()
        manager.publish_names()
        self.on_load(manager)
        self.ready = True
        self.on_ready()

    def _publish_replayed(self, stream: str, change: ChangeEvent) -> None:
        self._loop.call_soon_threadsafe(self._publish, stream, change)

    def _set_aside(self) -> None:
        """Let the manager know of streams that the store could not load; names are not logged."""
        new = self._store.quarantined.keys() - self._manager.quarantined.keys()
        self._manager.quarantined = dict(self._store.quarantined)
        if new:
            missing = sum(self._store.quarantined[name].missing for name in new)
            _log.error(
                "%d stream(s) are quarantined: their stored data is damaged or incomplete, at "
                "least %d acknowledged event(s) are missing. GET /v1/quarantine lists them.",
                len(new),
                missing,
            )

    def _check_consistency(self, streams: Mapping[str, Stream]) -> None:
        """The consistency check of loaded streams; names of streams are never logged."""
        for name, stream in streams.items():
            self._manager.read_only.discard(name)
            if not stream.consistent:
                self._manager.read_only.add(name)
                _log.error("a stream failed its consistency check")
        for count, told in (
            (sum(stream.replay_differs for stream in streams.values()), "differed by more"),
            (sum(stream.replay_rounded for stream in streams.values()), "differed by no more"),
        ):
            if count:
                _log.warning("%d threshold(s) %s than rounding on replay", count, told)

    def _serve(self, jobs: list[Job]) -> None:
        manager = self._manager
        manager.uncommitted, manager.replaced = [], {}
        able = self._able_to_write()
        if able and time.monotonic() - self._last_expiry_check >= _EXPIRY_SECONDS:
            self._last_expiry_check = time.monotonic()
            self._outcome(StreamManager.expire, 1, able)
            self._outcome(StreamManager.announce_stale, 1, able)
            self._outcome(remove_old_records, 1, able)
        outcomes = [self._outcome(job.work, job.writes, able) for job in jobs]
        if self._ahead_of_disk:
            outcomes = self._roll_back(jobs, outcomes)
        elif manager.uncommitted or manager.replaced:
            try:
                self._commit(manager.uncommitted, manager.replaced)
            except self._store.errors as error:
                self._fail(error)
                outcomes = self._roll_back(jobs, outcomes)
        manager.publish_names()
        writes = manager.uncommitted
        if jobs or writes:
            self._loop.call_soon_threadsafe(respond, jobs, outcomes, writes, self._publish)

    def _outcome(self, work: Work, writes: int, able: bool) -> Any:
        try:
            if self._ahead_of_disk or (writes and not able):
                reason = self._write_error or "another request of the same commit failed"
                told = f"cannot write to {self._store.place}: {reason}. Try again later."
                raise ApiError(503, told)
            return work(self._manager)
        except ApiError as error:
            return error
        except Exception:
            _log.exception("a request failed")
            if writes:  # a bug in the service: discard what is in memory, restore from disk
                self._ahead_of_disk |= set(self._manager.streams)
            return ApiError(500, "internal error; no changes were made.")

    def _commit(self, writes: list[PendingWrite], replaced: Mapping[str, Stream | None]) -> None:
        started = time.perf_counter()
        self._store.append([write for write in writes if write.event is not None], replaced)
        self._unstorable -= replaced.keys()
        self._metrics.count_commit(writes, time.perf_counter() - started)
        self.on_commit(writes)

    def _roll_back(self, jobs: list[Job], outcomes: list[Any]) -> list[Any]:
        """Discard what is not on disk, and run the reads again."""
        manager = self._manager
        self._ahead_of_disk |= {write.stream for write in manager.uncommitted}
        self._ahead_of_disk |= manager.replaced.keys()
        manager.uncommitted, manager.replaced = [], {}
        if not self._store.is_owner():
            return [ApiError(503, _UNKNOWN)] * len(jobs)
        self._restore_from_disk()
        return [
            outcome if is_bug(outcome) else self._outcome(job.work, job.writes, able=False)
            for job, outcome in zip(jobs, outcomes, strict=True)
        ]

    def _restore_from_disk(self) -> None:
        try:
            found = self._store.load(self._ahead_of_disk)
        except self._store.errors as error:
            self._fail(error)
            return
        self._manager.replace(found, self._ahead_of_disk)
        self._set_aside()
        self._check_consistency(found)
        self._ahead_of_disk = set()

    def _able_to_write(self) -> bool:
        if self._write_error:
            try:
                self._store.probe()
                self._write_error = ""
                _log.warning("writing to %s works again", self._store.place)
            except self._store.errors as error:
                self._fail(error)
        if self._ahead_of_disk:
            self._restore_from_disk()
        return not self._write_error and not self._ahead_of_disk

    def _fail(self, error: Exception | str) -> None:
        if not self._write_error:
            _log.error("writing to %s failed: %s", self._store.place, error)
        self._write_error = str(error)
        self._metrics.failures.inc()

    def _limit_log(self) -> None:
        """Keep the event log short: a little at a time from half its limits on, at once above."""
        store = self._store
        self._metrics.log_events.set(store.events)
        self._metrics.log_bytes.set(store.bytes)
        if self._write_error or self._ahead_of_disk:
            return
        try:
            if self._fullness() > 0.5 and not store.prune():
                self._snapshot(_SNAPSHOT_BATCH)
            while self._fullness() > 1.0:
                self._snapshot()
                if not store.prune():
                    break  # the rest belongs to streams that cannot be stored
        except self._store.errors as error:
            self._fail(error)

    def _fullness(self) -> float:
        store, limits = self._store, self._manager.limits
        return max(store.events / limits.log_events, store.bytes / limits.log_bytes)

    def _snapshot(self, count: int | None = None) -> None:
        """Store snapshots, first of the stream with the oldest event that is still needed."""
        storable = (name for name in self._store.unsaved if name not in self._unstorable)
        names = list(itertools.islice(storable, count))
        failed = self._store.snapshot(self._manager.streams[name] for name in names)
        self._metrics.snapshots.inc(len(names) - len(failed))
        self._unstorable.update(failed)
        self._manager.read_only.update(failed)

    def _finish(self) -> None:
        self.ready, self.status = False, "the service is stopping"
        try:
            if self._store.is_owner() and self._able_to_write():
                self._snapshot()
            self._store.close()
        except self._store.errors as error:
            # The log is complete; the next start replays more of it.
            _log.error("no snapshot was stored at shutdown: %s", error)


def _report_compiling(loop: str) -> None:
    _log.error("%s is compiled while all streams wait: please report this", loop)
