"""A TCP proxy that cuts connections to PostgreSQL at the worst moment: around a commit."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from typing import Literal, Self

Moment = Literal["before the commit", "after the commit", "during the commit"]


class CuttingProxy:
    """Forwards to a port of 127.0.0.1. `cut` is when to cut next; then it is None again.

    Before: the commit is not forwarded. After: its answer is not. During: it is forwarded, and the
    server may find the connection closed before it has committed, or after.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.cut: Moment | None = None
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                for forward in (self._to_server, self._to_client):
                    threading.Thread(target=forward, args=(client, server), daemon=True).start()

    def _to_server(self, client: socket.socket, server: socket.socket) -> None:
        with _closing(client, server):
            while data := client.recv(2**16):
                if self.cut is None or b"COMMIT" not in data:
                    server.sendall(data)
                    continue
                if self.cut != "before the commit":
                    server.sendall(data)
                if self.cut == "after the commit":
                    continue  # the other direction cuts
                self.cut = None
                return

    def _to_client(self, client: socket.socket, server: socket.socket) -> None:
        with _closing(client, server):
            while data := server.recv(2**16):
                if self.cut == "after the commit" and b"COMMIT" in data:  # the server's answer
                    self.cut = None
                    return
                client.sendall(data)

    def close(self) -> None:
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@contextlib.contextmanager
def _closing(*both: socket.socket) -> Iterator[None]:
    """Close both ends; the other direction's thread ends with them."""
    try:
        with contextlib.suppress(OSError):
            yield
    finally:
        for each in both:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
