"""Serve: own a data folder, listen, and stop in good order."""

from __future__ import annotations

import contextlib
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

from localarc.service.api.auth import Tokens
from localarc.service.app import application
from localarc.service.limits import Limits
from localarc.service.lock import FolderLock
from localarc.service.parts import Parts

_STOPPING = signal.SIGINT, signal.SIGTERM
_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True)
class Options:
    """Where to serve from, and to whom."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 8090
    token_file: Path | None = None
    limits: Limits = field(default_factory=Limits)
    synchronous: str = "FULL"


class Server(uvicorn.Server):
    """uvicorn, which lets event streams end when it is told to stop."""

    parts: Parts
    failure: BaseException | None = None

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Be stopped by SIGINT and SIGTERM, and leave with exit code 0 then."""
        before = {each: signal.signal(each, self.handle_exit) for each in _STOPPING}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop taking requests, answer those that were taken, then leave."""
        super().handle_exit(sig, frame)
        self.parts.hub.close()

    def fail(self, error: BaseException) -> None:
        """The writer cannot go on: leave, and say why."""
        self.failure = error
        self.should_exit = True
        self.parts.hub.close()


def serve(options: Options) -> None:
    """Serve until told to stop; raises with one sentence if it cannot start."""
    tokens = Tokens({}) if options.token_file is None else Tokens.read(options.token_file)
    loopback = _is_loopback(options.host)
    if not loopback and not tokens:
        raise ValueError(
            f"refusing to listen on {options.host} without tokens, where others can reach it: "
            "give --token-file, or listen on 127.0.0.1."
        )
    os.umask(0o077)  # what is written is nobody else's business
    options.data.mkdir(parents=True, exist_ok=True)
    lock = FolderLock(options.data)
    try:
        hosts = None if tokens else _LOOPBACK | {options.host}
        parts = _parts(options, tokens, hosts)
        _run(options, parts)
    finally:
        lock.release()


def _parts(options: Options, tokens: Tokens, hosts: frozenset[str] | None) -> Parts:
    try:
        return Parts.assembled(options.data, options.limits, tokens, hosts, options.synchronous)
    except sqlite3.Error as error:
        raise ValueError(f"the log in {options.data} cannot be used: {error}.") from error


def _run(options: Options, parts: Parts) -> None:
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    config = uvicorn.Config(
        application(parts),
        access_log=False,  # paths name streams
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
    server.parts = parts
    parts.writer.on_failure = server.fail
    listening = _listening(options.host, options.port)
    port = listening.getsockname()[1]
    shown = f"[{options.host}]" if ":" in options.host else options.host
    print(f"localarc serve: http://{shown}:{port}", flush=True)
    server.run([listening])
    if server.failure is not None:
        raise ValueError(f"the service had to stop: {server.failure}") from server.failure


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named as TCP, or asyncio leaves small answers waiting 40 ms for company.
    made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((host, port))
    except OSError as error:
        made.close()
        raise ValueError(f"cannot listen on {host}, port {port}: {error.strerror}.") from error
    made.listen(1024)
    return made


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
