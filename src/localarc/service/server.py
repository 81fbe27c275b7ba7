"""The server process: lock the data folder, listen, and shut down cleanly."""

from __future__ import annotations

import contextlib
import fcntl
import ipaddress
import logging
import os
import signal
import socket
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import uvicorn

from localarc.service import compile_cache
from localarc.service.api.auth import Tokens
from localarc.service.app import application
from localarc.service.app_state import AppState
from localarc.service.limits import Limits

_log = logging.getLogger("localarc.service")
_STOP_SIGNALS = signal.SIGINT, signal.SIGTERM
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Options:
    """The options of `localarc serve`."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 8090
    token_file: Path | None = None
    limits: Limits = field(default_factory=Limits)
    synchronous: str = "FULL"


class Server(uvicorn.Server):
    """uvicorn, which closes event connections on shutdown."""

    app_state: AppState
    failure: BaseException | None = None

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM, with exit code 0."""
        previous = {number: signal.signal(number, self.handle_exit) for number in _STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop accepting requests, finish those that were accepted, then exit."""
        super().handle_exit(sig, frame)
        self.app_state.event_bus.close()

    def fail(self, error: BaseException) -> None:
        """Exit with an error after the writer has failed."""
        self.failure = error
        self.should_exit = True
        self.app_state.event_bus.close()


class FolderLock:
    """Lets one process use a data folder; held until `release`, or until the process ends."""

    def __init__(self, folder: Path) -> None:
        path = folder / "lock"
        self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._handle)
            raise ValueError(
                f"{folder} is in use by another process: stop it first, or choose another folder "
                "with --data."
            ) from error

    def release(self) -> None:
        """Let another process use the folder."""
        os.close(self._handle)


def serve(options: Options) -> None:
    """Serve until stopped; raises ValueError if the service cannot start."""
    tokens = Tokens({}) if options.token_file is None else Tokens.read(options.token_file)
    loopback = _is_loopback(options.host)
    if not loopback and not tokens:
        raise ValueError(
            f"{options.host} is reachable from other machines and requires tokens: pass "
            "--token-file, or listen on 127.0.0.1."
        )
    os.umask(0o077)  # only the owner can read the data folder
    options.data.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(options.data)
    compile_cache.use(options.data / "compiled")
    try:
        hosts = None if tokens else _LOOPBACK | {options.host}
        app_state = _open(options, tokens, hosts)
        _run(options, app_state)
    finally:
        lock.release()


def _open(options: Options, tokens: Tokens, hosts: frozenset[str] | None) -> AppState:
    try:
        return AppState.create(options.data, options.limits, tokens, hosts, options.synchronous)
    except sqlite3.Error as error:
        raise ValueError(f"the data folder {options.data} cannot be used: {error}.") from error


def _run(options: Options, app_state: AppState) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    config = uvicorn.Config(
        application(app_state),
        access_log=False,  # paths contain names of streams
        log_config=None,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        limit_concurrency=2048,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=20,
        ws="none",
    )
    server = Server(config)
    server.app_state = app_state
    app_state.writer.on_failure = server.fail
    listener = _listen(options.host, options.port)
    port = listener.getsockname()[1]
    shown = f"[{options.host}]" if ":" in options.host else options.host
    address = f"http://{shown}:{port}"
    _log.info("starting on %s: the address is printed when requests are accepted", address)
    app_state.writer.on_ready = lambda: print(f"localarc serve: {address}", flush=True)
    server.run([listener])
    if server.failure is not None:
        raise ValueError(f"the service failed: {server.failure}") from server.failure


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without the protocol, asyncio leaves Nagle's algorithm on: 40 ms for small responses.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ValueError(f"cannot listen on {host}, port {port}: {error.strerror}.") from error
    listener.listen(1024)
    return listener


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
