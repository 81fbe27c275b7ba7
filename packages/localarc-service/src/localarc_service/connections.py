"""Open connections: how many there may be, of all clients and of one address.

A connection that owes a request, or the rest of one, can be closed to make room: the one that has
owed it for longest goes first. So silent connections, however many, keep no client out.
"""

from __future__ import annotations

import asyncio
from typing import Protocol

from localarc_service.addresses import address_of
from localarc_service.limits import Limits

_SWEEP_SECONDS = 0.5


class Closable(Protocol):
    """A connection, as this table sees it."""

    deadline: float  # on the event loop's clock

    def expire(self) -> None:
        """Close it, because its deadline has passed."""

    def evict(self) -> None:
        """Close it, to make room."""


class Peer:
    """The connections of one address; those that owe a request are in `new` or `idle`, in order."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.open: set[Closable] = set()
        self.new: dict[Closable, None] = {}  # no request yet
        self.idle: dict[Closable, None] = {}  # at least one

    def evict(self) -> Closable | None:
        """Close the connection that has owed a request for longest; None if none does."""
        for waiting in (self.new, self.idle):
            for connection in waiting:
                connection.evict()
                return connection
        return None


class Connections:
    """All connections of one listening socket."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._peers: dict[str, Peer] = {}
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def has_room(self, host: str) -> bool:
        """Whether a connection of this address can be added without closing another."""
        peer = self._peers.get(address_of(host))
        of_address = 0 if peer is None else len(peer.open)
        limits = self.limits
        return of_address < limits.connections_per_address and self._count < limits.connections

    def admit(self, connection: Closable, host: str) -> Peer | None:
        """Add a connection; None if there is no room, and all others are busy with requests."""
        address = address_of(host)
        peer = self._peers.get(address) or Peer(address)
        if len(peer.open) >= self.limits.connections_per_address:
            crowded = peer
        elif self._count >= self.limits.connections:
            crowded = max(self._peers.values(), key=lambda each: len(each.open))
        else:
            crowded = None
        if crowded is not None:
            evicted = crowded.evict()
            if evicted is None:
                return None
            self.remove(evicted, crowded)
        self._peers[address] = peer
        peer.open.add(connection)
        peer.new[connection] = None
        self._count += 1
        return peer

    def remove(self, connection: Closable, peer: Peer) -> None:
        """Forget a connection that is closed."""
        if connection not in peer.open:
            return
        self._count -= 1
        peer.open.discard(connection)
        peer.new.pop(connection, None)
        peer.idle.pop(connection, None)
        if not peer.open:
            self._peers.pop(peer.address, None)

    async def watch(self) -> None:
        """Close connections whose deadline has passed, until cancelled."""
        clock = asyncio.get_running_loop().time
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            now = clock()
            for peer in list(self._peers.values()):
                for connection in [each for each in peer.open if each.deadline <= now]:
                    connection.expire()
