"""A real service in its own process, which tests can kill and restart."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Self

PATIENCE = 120.0  # seconds, for busy machines
COMPILING = 900.0  # seconds, for busy machines without compiled loops

Answer = tuple[int, Any]


class Caller:
    """One connection; not thread-safe."""

    def __init__(self, port: int, token: str | None = None) -> None:
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._headers = {"Content-Type": "application/json"}
        if token is not None:
            self._headers["Authorization"] = f"Bearer {token}"

    def call(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Status and body, parsed if it is JSON; raises OSError if the connection is lost."""
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        try:
            self._connection.request(method, path, data, self._headers | headers)
            response = self._connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            self._connection.close()
            raise ConnectionError(str(error)) from error
        is_json = "json" in (response.getheader("Content-Type") or "")
        return response.status, json.loads(content) if is_json else content

    def create(self, stream: str, config: dict[str, Any]) -> Answer:
        """Create a stream, however long the service compiles for it."""
        while True:
            answer = self.call("PUT", f"/v1/streams/{stream}", config)
            if answer[0] != 503 or "compiles" not in answer[1]["detail"]:
                return answer
            time.sleep(0.2)

    def predict(self, stream: str, **body: Any) -> Answer:
        return self.call("POST", f"/v1/streams/{stream}/predict", body)

    def feedback(self, stream: str, key: str, loss: float | None = None, **more: Any) -> Answer:
        path = f"/v1/streams/{stream}/predictions/{key}/feedback"
        return self.call("PUT", path, more if loss is None else {"loss": loss, **more})

    def state(self, stream: str) -> bytes:
        status, content = self.call("GET", f"/v1/streams/{stream}/state")
        assert status == 200, content
        assert isinstance(content, bytes)
        return content

    def close(self) -> None:
        self._connection.close()


class Server:
    """`localarc serve` on a folder; leaving the block kills it."""

    def __init__(
        self, folder: Path, *options: str, port: int = 0, environment: dict[str, str] | None = None
    ) -> None:
        self.folder = folder
        self.port = port
        self.first_line = ""
        self._options = options
        self._environment = os.environ | (environment or {})
        self._errors = folder.parent / f"{folder.name}.stderr"
        self._callers: list[Caller] = []
        self.process: subprocess.Popen[str] | None = None

    def start(self, wait: bool = True) -> Self:
        """Start it, and wait until it accepts requests and has printed its address."""
        with self._errors.open("a") as errors:
            self.process = subprocess.Popen(
                [*command(self.folder), "--port", str(self.port), *self._options],
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=self._environment,
            )
        if wait:
            self.first_line = self.read_line()
            assert self.first_line, self.errors
            self.port = int(self.first_line.rpartition(":")[2])
            self.wait_until_ready()
        return self

    def read_line(self) -> str:
        """The next line of its standard output."""
        assert self.process is not None
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def errors(self) -> str:
        """Its standard error, of all starts."""
        return self._errors.read_text()

    def caller(self, token: str | None = None) -> Caller:
        """A new connection, closed with the server."""
        self._callers.append(Caller(self.port, token))
        return self._callers[-1]

    def is_listening(self) -> bool:
        """Whether it accepts connections, ready or not."""
        with socket.socket() as made:
            return made.connect_ex(("127.0.0.1", self.port)) == 0

    def wait_until_ready(self) -> None:
        until = time.monotonic() + COMPILING
        caller = self.caller()
        while time.monotonic() < until:
            assert self.process is not None
            assert self.process.poll() is None, self.errors
            try:
                if caller.call("GET", "/readyz")[0] == 200:
                    return
            except ConnectionError:
                pass
            time.sleep(0.02)
        raise AssertionError(f"the service did not get ready: {self.errors}")

    def kill(self) -> None:
        """Kill it without warning."""
        self._signal(signal.SIGKILL)

    def stop(self) -> int:
        """Terminate it; returns the exit code."""
        return self._signal(signal.SIGTERM)

    def _signal(self, number: int) -> int:
        process = self.process
        assert process is not None
        process.send_signal(number)
        code = process.wait(PATIENCE)
        assert process.stdout is not None
        process.stdout.close()
        self.process = None
        return code

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        for caller in self._callers:
            caller.close()
        if self.process is not None:
            self.kill()


def command(folder: Path) -> list[str]:
    return [sys.executable, "-m", "localarc.cli", "serve", "--data", str(folder)]


def failed_start(folder: Path, *options: str) -> str:
    """The error message of a service that does not start."""
    done = subprocess.run(
        [*command(folder), *options], capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 2, done
    assert done.stdout == ""
    return done.stderr


def free_port() -> int:
    """A port that stays free across restarts: below the range of ephemeral ports."""
    while True:
        port = random.randrange(20_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as made:
            made.bind(("127.0.0.1", port))
            return port
