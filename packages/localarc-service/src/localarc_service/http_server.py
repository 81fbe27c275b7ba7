"""The HTTP server: uvicorn on one or two sockets, with limits for connections."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import resource
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import FrameType
from typing import Any, cast

import uvicorn
from starlette.types import ASGIApp

from localarc_service.access.reload import WATCH_SECONDS
from localarc_service.app import application, health_application
from localarc_service.app_state import AppState
from localarc_service.connections import Connections
from localarc_service.limits import Limits
from localarc_service.protocol import Connection

_log = logging.getLogger("localarc.service")
_STOP_SIGNALS = signal.SIGINT, signal.SIGTERM
_OTHER_FILES = 256  # open files that are not connections
_HEALTH_LIMITS = Limits(connections=64, connections_per_address=64)


class Server(uvicorn.Server):
    """uvicorn, which limits connections, and closes those of events on shutdown.

    Health checks may have a socket of their own: their connections are counted apart.
    """

    def __init__(
        self,
        app_state: AppState,
        health: socket.socket | None = None,
        app: ASGIApp | None = None,
        health_app: ASGIApp | None = None,
        connect: Callable[..., Connection] = Connection,
        headers: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._connections = [Connections(app_state.limits)]
        served = app or application(app_state)
        super().__init__(_config(served, self._connections[0], connect, headers))
        self._health_app = health_app or health_application(app_state)
        self.app_state = app_state
        self.failure: BaseException | None = None
        self._health = health
        self._watching: list[asyncio.Task[None]] = []

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections."""
        await super().startup(sockets)
        if self._health is not None:
            await self._serve_health(self._health)
        self._watching = [asyncio.create_task(each.watch()) for each in self._connections]
        self._watching.append(asyncio.create_task(self._follow_tokens()))

    def has_room(self, host: str) -> bool:
        """Whether one more connection of an address can be served."""
        return not self.should_exit and self._connections[0].has_room(host)

    def adopt(self, connection: socket.socket, **about: bool) -> None:
        """Serve a connection that another process has accepted."""
        if self.should_exit:
            connection.close()
            return
        make: Any = self.config.http_protocol_class
        state: Any = {"server_state": self.server_state, "app_state": self.lifespan.state}
        connect = partial(make, config=self.config, **state, **about)
        loop, tasks = asyncio.get_running_loop(), cast(set[Any], self.server_state.tasks)
        task = loop.create_task(loop.connect_accepted_socket(connect, connection))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _follow_tokens(self) -> None:
        """Read tokens again when they change, and write what the audit log counts."""
        reloader, audit = self.app_state.reloader, self.app_state.audit
        while reloader is not None or audit is not None:
            await asyncio.sleep(WATCH_SECONDS)
            if reloader is not None:
                await asyncio.to_thread(reloader.check)
            if audit is not None:
                audit.write_counts()

    async def _serve_health(self, listener: socket.socket) -> None:
        connections = Connections(_HEALTH_LIMITS)
        self._connections.append(connections)
        config = _config(self._health_app, connections)
        config.load()
        parts: Any = {"config": config, "server_state": self.server_state, "app_state": {}}
        loop = asyncio.get_running_loop()
        server = await loop.create_server(partial(Connection, connections, **parts), sock=listener)
        self.servers.append(server)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Finish accepted requests, then stop the writer."""
        await super().shutdown(sockets)
        for task in self._watching:
            task.cancel()
        if self.app_state.audit is not None:
            self.app_state.audit.close()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop on SIGINT and SIGTERM, with exit code 0."""
        previous = {number: signal.signal(number, self.handle_exit) for number in _STOP_SIGNALS}
        if self.app_state.reloader is not None:
            previous[signal.SIGHUP] = signal.signal(signal.SIGHUP, self._handle_hangup)
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _handle_hangup(self, sig: int, frame: FrameType | None) -> None:
        """Read the tokens again, soon."""
        if self.app_state.reloader is not None:
            self.app_state.reloader.requested = True

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop accepting requests, finish those that were accepted, then exit."""
        super().handle_exit(sig, frame)
        self.app_state.event_bus.close()

    def fail(self, error: BaseException) -> None:
        """Exit with an error after the writer has failed."""
        self.failure = error
        self.should_exit = True
        self.app_state.event_bus.close()


def _config(
    app: Any,
    connections: Connections,
    connect: Callable[..., Connection] = Connection,
    headers: Sequence[tuple[str, str]] = (),
) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=partial(connect, connections),  # type: ignore[arg-type]
        access_log=False,  # paths contain names of streams
        log_config=None,
        log_level="error",  # clients must not be able to fill the log
        headers=list(headers),
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=20,
        ws="none",
    )


def listen(host: str, port: int, shared: bool = False) -> socket.socket:
    """A listening socket; raises ValueError if the address cannot be used.

    Connections to a shared address are distributed among the processes that listen on it.
    """
    listener = bind(host, port, shared)
    listener.listen(1024)
    return listener


def bind(host: str, port: int, shared: bool = False) -> socket.socket:
    """A socket with an address, which it keeps from others, but accepts no connections."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Without the protocol, asyncio leaves Nagle's algorithm on: 40 ms for small responses.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    if shared:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    try:
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise ValueError(f"cannot listen on {host}, port {port}: {error.strerror}.") from error
    return listener


def url_of(host: str, listener: socket.socket) -> str:
    """The address that clients use."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{listener.getsockname()[1]}"


def allowed_connections(count: int) -> int:
    """Raise the process's limit of open files for that many connections; how many it permits."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    unlimited = resource.RLIM_INFINITY
    needed = count + _OTHER_FILES
    allowed = needed if hard == unlimited else min(needed, hard)
    if soft not in (unlimited, hard) and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
    if allowed < needed:
        count = max(1, allowed - _OTHER_FILES)
        _log.warning("at most %d connections: this process may open %d files", count, allowed)
    return count
