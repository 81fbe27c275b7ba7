"""The parent of the workers: starts them, starts those again that die, and stops them all.

It holds the claim to their data and the address, and serves nothing itself.
"""

from __future__ import annotations

import contextlib
import logging
import os
import selectors
import signal
import socket
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType

from localarc_service.http_server import bind, url_of
from localarc_service.logs import configure
from localarc_service.server import Options, check_access
from localarc_service.workers import claim
from localarc_service.workers.app import Place
from localarc_service.workers.claim import Claim
from localarc_service.workers.shared_text import SharedText
from localarc_service.workers.worker import (
    READY,
    STANDBY,
    STOP_SIGNALS,
    Shared,
    run_forked,
    work,
)

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 5.0  # seconds before a worker that keeps dying is started again
_SETTLED = 10.0  # seconds after which a death is no longer counted as one of a series
_CLAIM_SECONDS = 0.2  # between two looks at the claim
_PORT_SECONDS = 10.0  # in which workers of a killed parent leave the port
_log = logging.getLogger("localarc.service")


def serve(options: Options) -> None:
    """Serve with several workers until stopped; raises ValueError if they cannot start."""
    check_access(options)
    configure(options.logs)
    os.umask(0o077)
    if options.data is not None and not options.data.exists():
        with _address(options):
            pass  # if it cannot be used, no folder is made
    held = claim.made(options)
    try:
        with _address(options) as (fixed, lines), tempfile.TemporaryDirectory() as sockets:
            Supervisor(fixed, Path(sockets), lines, held).run()
    finally:
        held.release()


@contextlib.contextmanager
def _address(options: Options) -> Iterator[tuple[Options, list[str]]]:
    """Reserve the ports; yields the options with their numbers, and what is printed about them."""
    with contextlib.ExitStack() as stack:

        def reserve(port: int) -> tuple[int, str]:
            with _bind_alone(options, port) as alone:
                port = alone.getsockname()[1]
            shared = stack.enter_context(bind(options.host, port, shared=True))
            return port, url_of(options.host, shared)

        port, url = reserve(options.port)
        fixed, lines = replace(options, port=port), [f"localarc serve: {url}"]
        if options.health_port is not None:
            port, url = reserve(options.health_port)
            fixed = replace(fixed, health_port=port)
            lines.append(f"localarc serve: {url}/livez and /readyz")
        yield fixed, lines


def _bind_alone(options: Options, port: int) -> socket.socket:
    """A socket on an address of its own; raises ValueError if the address is in use.

    With a folder, its lock has waited for workers of a killed parent. With a database, they can
    still listen here for a moment.
    """
    until = time.monotonic() + (_PORT_SECONDS if options.database is not None else 0.0)
    while True:
        try:
            return bind(options.host, port)
        except ValueError:
            if time.monotonic() > until:
                raise
            time.sleep(0.05)


@dataclass
class Process:
    """A running worker: what it reports, and a pipe that is closed when the parent is gone."""

    index: int
    pid: int
    reports: int
    lifeline: int
    started: float
    said: bytes = b""

    @property
    def is_ready(self) -> bool:
        """Whether it has accepted requests."""
        return READY in self.said

    @property
    def has_started(self) -> bool:
        """Whether it has accepted requests, or stands by."""
        return self.said.startswith((READY, STANDBY))

    @property
    def reason(self) -> str:
        """Why it ended, if it said so."""
        return self.said.rpartition(b"\n")[2].decode()


class Supervisor:
    """Starts workers until it is stopped."""

    def __init__(self, options: Options, sockets: Path, lines: list[str], held: Claim) -> None:
        self._options = options
        self._sockets = sockets
        self._lines = lines
        self._claim = held
        self._shared = Shared(SharedText(held.claim()), held.files)
        self._processes: dict[int, Process] = {}
        self._due = {0: 0.0}  # when workers are to be started; the others once the first is ready
        self._deaths = dict.fromkeys(range(options.workers), 0)  # in a row
        self._restarts = dict.fromkeys(range(options.workers), 0)
        self._selector = selectors.DefaultSelector()
        self._announced = self._stopping = False
        self._failure = ""

    def run(self) -> None:
        """Keep the workers running until SIGTERM or SIGINT; then stop them and return."""
        before = {number: signal.signal(number, self._stop) for number in STOP_SIGNALS}
        if self._options.token_file is not None:
            before[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._reload)
        try:
            while self._processes or not self._stopping:
                self._renew_claim()
                self._start_due()
                for key, _ in self._selector.select(self._pause()):
                    self._hear(key.data)
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            for process in self._processes.values():
                os.kill(process.pid, signal.SIGKILL)  # after a bug here; usually there are none
        if self._failure:
            raise ValueError(self._failure)

    def _renew_claim(self) -> None:
        if self._stopping:
            return
        try:
            self._shared.hindrance.write(self._claim.claim())
        except ValueError as error:  # the database was made for another number of workers
            self._failure = str(error)
            self._stop(signal.SIGTERM, None)

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopping = True
        for process in self._processes.values():
            os.kill(process.pid, signal.SIGTERM)

    def _reload(self, number: int, frame: FrameType | None) -> None:
        """Let the workers read the token file again."""
        for process in self._processes.values():
            if process.has_started:  # those that are starting read it anyway
                os.kill(process.pid, signal.SIGHUP)

    def _pause(self) -> float:
        """How long nothing has to be done; signals are noticed when their workers end."""
        if self._stopping or not self._due:
            return _CLAIM_SECONDS
        return min(_CLAIM_SECONDS, max(0.0, min(self._due.values()) - time.monotonic()))

    # ---- starting ----------------------------------------------------------------------------

    def _start_due(self) -> None:
        now = time.monotonic()
        for index in [index for index, when in self._due.items() if when <= now]:
            if not self._stopping:
                del self._due[index]
                self._start(index)

    def _start(self, index: int) -> None:
        reports, report_end = os.pipe()
        child_lifeline, lifeline = os.pipe()
        place = Place(index, self._options.workers, self._sockets, child_lifeline)
        report = partial(_write, report_end)
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)  # until the child is known
        pid = os.fork()
        if pid == 0:
            self._forget_in_child(reports, lifeline)
            restarts = self._restarts[index]
            run_forked(partial(work, self._options, place, restarts, report, self._shared), report)
        os.close(report_end)
        os.close(child_lifeline)
        process = Process(index, pid, reports, lifeline, time.monotonic())
        self._processes[index] = process
        self._selector.register(reports, selectors.EVENT_READ, process)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)

    def _forget_in_child(self, *ends: int) -> None:
        """Close what belongs to the parent: its claim, and its ends of pipes."""
        self._claim.forget()
        self._selector.close()
        for process in self._processes.values():
            ends += process.reports, process.lifeline
        for end in ends:
            os.close(end)

    # ---- listening ---------------------------------------------------------------------------

    def _hear(self, process: Process) -> None:
        said = os.read(process.reports, 65_536)
        process.said += said
        if not said:
            self._bury(process)
        elif process.has_started and not self._announced:
            self._announce()

    def _announce(self) -> None:
        """Start the others after the first, and print the address when all are ready."""
        processes = self._processes.values()
        if all(each.has_started for each in processes):
            known = self._processes.keys() | self._due.keys()
            self._due.update(dict.fromkeys({*range(self._options.workers)} - known, 0.0))
        if len(processes) == self._options.workers and all(each.is_ready for each in processes):
            self._announced = True
            print("\n".join(self._lines), flush=True)

    def _bury(self, process: Process) -> None:
        """A worker has ended: on request, before it ever worked, or unexpectedly."""
        self._selector.unregister(process.reports)
        os.close(process.reports)
        os.close(process.lifeline)
        del self._processes[process.index]
        _, status = os.waitpid(process.pid, 0)
        code = os.waitstatus_to_exitcode(status)
        if self._stopping:
            if code not in (0, -signal.SIGTERM):  # the latter before it has begun
                self._failure = f"worker {process.index} ended with status {code}."
        elif not (self._announced or process.has_started or self._restarts[process.index]):
            self._failure = process.reason or f"a worker ended with status {code}."
            self._stop(signal.SIGTERM, None)
        else:
            self._restart_later(process, code)

    def _restart_later(self, process: Process, code: int) -> None:
        index, now = process.index, time.monotonic()
        if now - process.started > _SETTLED:
            self._deaths[index] = 0
        deaths = self._deaths[index]
        pause = 0.0 if not deaths else min(_LONGEST_PAUSE, _FIRST_PAUSE * 2.0 ** (deaths - 1))
        why = process.reason or f"exit status {code}"
        _log.error("worker %d died (%s); starting it again in %g s", index, why, pause)
        self._deaths[index] += 1
        self._restarts[index] += 1
        self._due[index] = now + pause


def _write(end: int, message: bytes) -> None:
    """Tell the parent, if it is still there."""
    with contextlib.suppress(BrokenPipeError):
        os.write(end, message[:4096])
