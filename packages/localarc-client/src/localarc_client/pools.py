"""Connections of a client, apart for each worker of the service.

A service with several workers says so in its responses. It moves a connection to the worker whose
streams the connection keeps asking for: requests for different workers therefore use different
connections.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import httpx

from localarc_client.wire.workers import MAX_WORKERS, WORKERS_HEADER, owner_of

_STREAMS = "/v1/streams/"
Pool = TypeVar("Pool")


class Pools(Generic[Pool]):
    """Pools of connections, by the worker that they are for."""

    def __init__(self, make: Callable[[], Pool]) -> None:
        self._make = make
        self._workers = 1
        self.used: dict[int, Pool] = {}

    def choose(self, request: httpx.Request) -> Pool:
        """The pool for a request."""
        name = request.url.path.partition(_STREAMS)[2].partition("/")[0]
        owner = owner_of(name, self._workers)
        return self.used.get(owner) or self.used.setdefault(owner, self._make())

    def learn(self, response: httpx.Response) -> None:
        """Note how many workers there are."""
        said = response.headers.get(WORKERS_HEADER, "")
        count = int(said) if said.isdecimal() and len(said) <= 3 else 1
        self._workers = min(max(count, 1), MAX_WORKERS)


class WorkerTransport(httpx.BaseTransport):
    """The network, for `httpx.Client`."""

    def __init__(self) -> None:
        context = httpx.create_ssl_context(trust_env=False)
        self._pools = Pools(lambda: httpx.HTTPTransport(verify=context, trust_env=False))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request over a connection for its worker."""
        response = self._pools.choose(request).handle_request(request)
        self._pools.learn(response)
        return response

    def close(self) -> None:
        """Close all connections."""
        for pool in self._pools.used.values():
            pool.close()


class AsyncWorkerTransport(httpx.AsyncBaseTransport):
    """The network, for `httpx.AsyncClient`."""

    def __init__(self) -> None:
        context = httpx.create_ssl_context(trust_env=False)
        self._pools = Pools(lambda: httpx.AsyncHTTPTransport(verify=context, trust_env=False))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request over a connection for its worker."""
        response = await self._pools.choose(request).handle_async_request(request)
        self._pools.learn(response)
        return response

    async def aclose(self) -> None:
        """Close all connections."""
        for pool in self._pools.used.values():
            await pool.aclose()
