"""The server process: use the data folder or the database, listen, and shut down cleanly."""

from __future__ import annotations

import contextlib
import fcntl
import ipaddress
import logging
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from localarc_service import compile_cache, garbage_collection
from localarc_service.access.audit import AuditLog
from localarc_service.access.counts import AccessCounts
from localarc_service.api.auth import Tokens
from localarc_service.app_state import AppState
from localarc_service.http_server import Server, allowed_connections, listen, url_of
from localarc_service.limits import Limits
from localarc_service.logs import LogOptions, configure
from localarc_service.storage.held_files import HeldFile
from localarc_service.webhook import Target
from localarc_service.workers import layout

if TYPE_CHECKING:
    from localarc_service.storage.postgres.connection import Address

_log = logging.getLogger("localarc.service")
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Options:
    """The options of `localarc serve`. With a database, the folder holds compiled loops alone."""

    data: Path | None
    database: Address | None = None
    host: str = "127.0.0.1"
    port: int = 8090
    health_port: int | None = None
    token_file: Path | None = None
    limits: Limits = field(default_factory=Limits)
    synchronous: str = "FULL"
    stream_metrics: int = 0
    webhook: Target | None = None
    logs: LogOptions = field(default_factory=LogOptions)
    workers: int = 1


Run: TypeAlias = Callable[[Options, AppState], None]


class FolderLock:
    """Lets one process use a data folder; held until `release`, or until the process ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._handle)
            raise ValueError(
                f"{folder} is in use by another process: stop it first, or choose another folder "
                "with --data."
            ) from error

    @property
    def file(self) -> HeldFile:
        """The locked file, which must stay in its place."""
        return HeldFile.at(self._path, self._handle)

    def release(self) -> None:
        """Let another process use the folder."""
        os.close(self._handle)


def serve(
    options: Options,
    run: Run | None = None,
    counts: AccessCounts | None = None,
    held: Iterable[HeldFile] = (),
) -> None:
    """Serve until stopped; raises ValueError if the service cannot start.

    `run` listens and serves the application's state, in place of a process on its own; `counts`
    and files in `held` are then those of all workers.
    """
    tokens = check_access(options, counts)
    configure(options.logs)
    os.umask(0o077)  # only the owner can read the data folder
    with _folder(options) as own:
        hosts = None if tokens else _LOOPBACK | {options.host}
        app_state = _open(options, tokens, hosts, [*held, *own])
        (run or _run)(options, app_state)


def check_access(options: Options, counts: AccessCounts | None = None) -> Tokens:
    """The tokens; raises ValueError if the options about access cannot be used."""
    file = options.token_file
    tokens = Tokens({}, counts=counts) if file is None else Tokens.read(file, counts)
    if not _is_loopback(options.host) and not tokens:
        raise ValueError(
            f"{options.host} is reachable from other machines and requires tokens: pass "
            "--token-file, or listen on 127.0.0.1."
        )
    if options.logs.audit_predictions and options.logs.audit_log is None:
        raise ValueError("--audit-predictions requires --audit-log FILE.")
    return tokens


@contextlib.contextmanager
def _folder(options: Options) -> Iterator[list[HeldFile]]:
    """Use the folder; one that keeps streams is locked, in a database the owner is."""
    if options.data is None:
        yield []
        return
    options.data.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(options.data) if options.database is None else None
    os.environ.setdefault("SQLITE_TMPDIR", str(options.data))  # for the copy that erasure makes
    compile_cache.use(options.data / "compiled")
    try:
        if options.database is None:
            layout.use(options.data, options.workers)
        yield [] if lock is None else [lock.file]
    finally:
        if lock is not None:
            lock.release()


def _open(
    options: Options, tokens: Tokens, hosts: frozenset[str] | None, held: list[HeldFile]
) -> AppState:
    connections = allowed_connections(options.limits.connections)
    limits = replace(options.limits, connections=connections)
    place = options.database or options.data
    if place is None:
        raise ValueError("a service requires a data folder or a database.")
    try:
        return AppState.create(
            place,
            limits,
            tokens,
            hosts,
            options.synchronous,
            stream_metrics=options.stream_metrics,
            webhook=options.webhook,
            audit=_audit(options.logs),
            token_file=options.token_file,
            held=held,
        )
    except sqlite3.Error as error:
        raise ValueError(f"the data folder {options.data} cannot be used: {error}.") from error


def _audit(logs: LogOptions) -> AuditLog | None:
    if logs.audit_log is None:
        return None
    file = None if logs.audit_log == Path("-") else logs.audit_log
    return AuditLog(file, logs.audit_predictions)


def _run(options: Options, app_state: AppState) -> None:
    listener = listen(options.host, options.port)
    port = options.health_port
    health = None if port is None else listen(options.host, port)
    address = url_of(options.host, listener)
    lines = [f"localarc serve: {address}"]
    if health is not None:
        lines.append(f"localarc serve: {url_of(options.host, health)}/livez and /readyz")
    _log.info("starting on %s: the address is printed when requests are accepted", address)
    server = Server(app_state, health)
    app_state.writer.on_ready = partial(_ready, lines)
    app_state.writer.on_failure = server.fail
    server.run([listener])
    if server.failure is not None:
        raise ValueError(f"the service failed: {server.failure}") from server.failure


def _ready(lines: list[str]) -> None:
    garbage_collection.collect_rarely()
    print("\n".join(lines), flush=True)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
