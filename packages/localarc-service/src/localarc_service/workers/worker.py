"""One worker: a service on a folder of its own, which listens on the port that all share."""

from __future__ import annotations

import math
import os
import signal
import socket
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from prometheus_client import CollectorRegistry, Counter

from localarc_client.wire.workers import WORKERS_HEADER, owner_of
from localarc_service import garbage_collection
from localarc_service.access.counts import AccessCounts
from localarc_service.app import application
from localarc_service.app_state import AppState
from localarc_service.http_server import Server, listen
from localarc_service.limits import Limits
from localarc_service.server import Options, serve
from localarc_service.storage.held_files import HeldFile
from localarc_service.workers.app import Place, WorkerApp
from localarc_service.workers.connection import WorkerConnection
from localarc_service.workers.directory import SharedDirectory
from localarc_service.workers.handover import Handover
from localarc_service.workers.layout import worker_folder
from localarc_service.workers.shared_lock import SharedLock
from localarc_service.workers.shared_text import SharedText

READY, STANDBY = b"ready\n", b"standby\n"  # what a worker reports; then, maybe, why it ended
_ACCESS_LOCK_SECONDS = 0.01  # then a quota is not exact, rather than all requests wait
_NAMES_LOCK_SECONDS = 0.5  # then a stream is not created
_COMMIT_DELAY = 0.00015  # seconds a request: workers share what one process would commit together
STOP_SIGNALS = signal.SIGINT, signal.SIGTERM


@dataclass(frozen=True)
class Shared:
    """What workers have in common, made before they are forked.

    `hindrance` says why they may not own their streams, for as long as they may not. `files` must
    stay in their place.
    """

    hindrance: SharedText
    files: tuple[HeldFile, ...]
    access: AccessCounts = field(
        default_factory=lambda: AccessCounts(SharedLock(_ACCESS_LOCK_SECONDS))
    )
    names_lock: SharedLock = field(default_factory=lambda: SharedLock(_NAMES_LOCK_SECONDS))


def work(
    options: Options, place: Place, restarts: int, report: Callable[[bytes], None], shared: Shared
) -> None:
    """Serve until stopped, or until the parent is gone; reports when requests are accepted."""
    own = replace(options, limits=share(options.limits, place.workers), workers=1)
    run = partial(_run, place=place, restarts=restarts, report=report, shared=shared)
    serve(_with_own_store(own, place.index), run, shared.access, shared.files)


def _with_own_store(options: Options, index: int) -> Options:
    """A schema of the database, or a folder in the data folder."""
    if options.database is not None:
        from localarc_service.storage.postgres.group import member

        return replace(options, database=member(options.database, index))
    assert options.data is not None
    return replace(options, data=worker_folder(options.data, index))


def share(limits: Limits, workers: int) -> Limits:
    """The limits of one worker. Streams are counted over all of them, others have no sum."""
    memory = limits.memory_bytes
    return replace(
        limits,
        connections=math.ceil(limits.connections / workers),
        connections_per_address=math.ceil(limits.connections_per_address / workers),
        memory_bytes=None if memory is None else memory // workers,
    )


def _run(
    options: Options,
    app_state: AppState,
    place: Place,
    restarts: int,
    report: Callable[[bytes], None],
    shared: Shared,
) -> None:
    listener = listen(options.host, options.port, shared=True)
    port = options.health_port
    health = None if port is None else listen(options.host, port, shared=True)
    app = WorkerApp(app_state, application(app_state), place, options.stream_metrics)
    connect = partial(WorkerConnection, app.neighbours)
    headers = [(WORKERS_HEADER, str(place.workers))]
    server = Server(app_state, health, app, app.health, connect, headers)
    app.on_orphaned = partial(server.handle_exit, signal.SIGTERM, None)
    app.on_connection = partial(_adopt, server, app.handover)
    app_state.metrics.register(_restarts(restarts))
    app_state.writer.restrict(
        lambda name: owner_of(name, place.workers) == place.index,
        SharedDirectory(place.sockets, place.index, place.workers, shared.names_lock),
    )
    app_state.writer.hindrance = shared.hindrance.read
    app_state.writer.on_standby = partial(report, STANDBY)
    app_state.writer.on_ready = partial(_ready, report)
    app_state.writer.on_failure = server.fail
    app_state.writer.commit_delay = _COMMIT_DELAY
    server.run([listener])
    if server.failure is not None:
        raise ValueError(f"worker {place.index} failed: {server.failure}") from server.failure


def _adopt(
    server: Server, handover: Handover, connection: socket.socket, giver: int, returned: bool
) -> None:
    """Serve a connection of another worker, or return it if there is no room for it."""
    try:
        host = connection.getpeername()[0]
    except OSError:  # its client is gone
        connection.close()
        return
    if returned or server.has_room(host):
        server.adopt(connection, adopted=True, stays=returned)
    else:
        with connection:
            handover.give(connection.fileno(), giver, returned=True)


def _ready(report: Callable[[bytes], None]) -> None:
    garbage_collection.collect_rarely()
    report(READY)


def _restarts(count: int) -> Any:
    registry = CollectorRegistry()
    Counter("localarc_worker_restarts", "Workers that died.", registry=registry).inc(count)
    return registry


def run_forked(work: Callable[[], None], report: Callable[[bytes], None]) -> None:
    """Run a worker in a process that was just forked, and end the process; never returns."""
    code = 1
    try:
        for number in STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
        work()
        code = 0
    except (ValueError, OSError) as error:
        report(str(error).encode())
        code = 2
    finally:
        os._exit(code)  # what the parent has to clean up is the parent's
