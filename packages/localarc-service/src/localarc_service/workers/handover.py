"""Connections of clients that move to the worker whose streams they use.

A connection that has asked for streams of one other worker several times in a row is handed to that
worker, between two requests: the kernel passes its file descriptor over a Unix socket. From then on
its requests make no detour.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

IN_A_ROW = 8  # requests for one other worker, after which a connection moves there
_AT_ONCE = 64  # connections that are received before other work

Adopt: TypeAlias = Callable[[socket.socket, int, bool], None]
"""Serves a connection, given the worker that it comes from, and whether it was returned."""


class Handover:
    """The sockets over which this worker gives connections to others, and receives theirs."""

    def __init__(self, sockets: Path, index: int) -> None:
        self._sockets = sockets
        self._index = index
        self._outgoing = _datagram_socket()
        self._incoming: socket.socket | None = None

    def start(self, adopt: Adopt) -> None:
        """Receive connections from now on."""
        path = self._address(self._index)
        with contextlib.suppress(FileNotFoundError):
            Path(path).unlink()  # of a process that was killed
        self._incoming = _datagram_socket()
        self._incoming.bind(path)
        asyncio.get_running_loop().add_reader(self._incoming, self._receive, self._incoming, adopt)

    def give(self, connection: int, to: int, returned: bool = False) -> bool:
        """Hand over a file descriptor; False if the other worker cannot take it now."""
        rights = socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", [connection])
        about = bytes([self._index, returned])
        try:  # `socket.send_fds` ignores its address
            self._outgoing.sendmsg([about], [rights], 0, self._address(to))
        except OSError:  # it does not run, or its queue is full
            return False
        return True

    def close(self) -> None:
        """Give and receive nothing more; connections that are under way are closed."""
        if self._incoming is not None:
            asyncio.get_running_loop().remove_reader(self._incoming)
            self._incoming.close()
        self._outgoing.close()

    def _receive(self, incoming: socket.socket, adopt: Adopt) -> None:
        for _ in range(_AT_ONCE):
            try:
                (giver, returned), received, _, _ = socket.recv_fds(incoming, 2, 1)
            except BlockingIOError:
                return
            for each in received:
                adopt(socket.socket(fileno=each), giver, bool(returned))

    def _address(self, index: int) -> str:
        return str(self._sockets / f"{index}-connections")


def _datagram_socket() -> socket.socket:
    made = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    made.setblocking(False)
    return made
