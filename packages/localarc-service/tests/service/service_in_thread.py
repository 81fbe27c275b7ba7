"""A service in the test's own process, with a clock that the test controls."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import msgspec

from localarc_client.wire.status import History, HistoryPoint
from localarc_service.api.auth import Tokens
from localarc_service.app_state import AppState
from localarc_service.connections import Connections
from localarc_service.http_server import Server, listen
from localarc_service.limits import Limits
from localarc_service.streams.manager import StreamManager
from service.service_process import COMPILING, PATIENCE, Answer, Caller

Result = TypeVar("Result")


@dataclass
class Clock:
    """A clock that stands still until it is changed."""

    now: float

    def __call__(self) -> float:
        return self.now


class ServerInThread(Server):
    """A server that leaves signals to the test's own process."""

    def capture_signals(self) -> contextlib.AbstractContextManager[None]:  # type: ignore[override]
        return contextlib.nullcontext()


class Inside:
    """The service on a folder or a database, listening on a port of its own, in a thread."""

    def __init__(
        self,
        place: Any,
        limits: Limits,
        tokens: Tokens,
        hosts: frozenset[str] | None = None,
        now: float = 1_000.0,
        **options: Any,
    ) -> None:
        self.clock = Clock(now)
        self.app_state = AppState.create(place, limits, tokens, hosts, clock=self.clock, **options)
        listener = listen("127.0.0.1", 0)
        self.port = listener.getsockname()[1]
        self._server = ServerInThread(self.app_state)
        self._thread = threading.Thread(target=self._server.run, args=([listener],), daemon=True)

    @property
    def connections(self) -> Connections:
        """Its open connections."""
        return self._server._connections[0]

    def start(self) -> Self:
        self._thread.start()
        wait_for(lambda: self._server.started and self.app_state.writer.ready, COMPILING)
        self.http = Caller(self.port)
        return self

    def stop(self) -> None:
        self.http.close()
        self.app_state.event_bus.close()
        self._server.should_exit = True
        self._thread.join(PATIENCE)

    def create(self, stream: str = "s", **config: Any) -> Answer:
        usual = {} if "kernel" in config else {"method": "arc"}
        return self.http.create(stream, {"alpha": 0.1, **usual, **config})

    def predict(self, key: str | None = None, stream: str = "s", **body: Any) -> Answer:
        return self.http.predict(stream, **body, **({} if key is None else {"id": key}))

    def feedback(self, key: str, loss: float | None = None, stream: str = "s", **m: Any) -> Answer:
        return self.http.feedback(stream, key, loss, **m)

    def get(self, path: str = "", stream: str = "s") -> Any:
        status, answer = self.http.call("GET", f"/v1/streams/{stream}{path}")
        assert status == 200, answer
        return answer

    def history(self, stream: str = "s") -> list[HistoryPoint]:
        return msgspec.convert(self.get("/history", stream), History).points

    def ask(self, work: Callable[[StreamManager], Result], writes: int = 0) -> Result:
        """Run work on the writer's thread, as a request does."""
        asked = self.app_state.writer.ask(work, writes)
        return asyncio.run_coroutine_threadsafe(asked, self.app_state.writer._loop).result(PATIENCE)

    def everything(self, stream: str = "s") -> bytes:
        """All of a stream, calibrator and state, as a snapshot stores it."""
        return self.ask(lambda manager: manager.stream(stream).snapshot())


def wait_for(condition: Callable[[], object], patience: float = PATIENCE) -> None:
    until = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < until, "timed out"
        time.sleep(0.005)
