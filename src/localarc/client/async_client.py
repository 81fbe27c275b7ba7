"""The client whose answers are awaited."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from numpy.typing import ArrayLike

from localarc.client import connection, requests
from localarc.client.operations import Learn, Operation, Predict, new_id
from localarc.client.requests import Call
from localarc.client.results import (
    Feedback,
    History,
    Imported,
    Line,
    Outcome,
    Prediction,
    Stream,
    Summary,
)
from localarc.client.retry import Outcome as Heard
from localarc.client.retry import Retries, Tries, Waiting
from localarc.client.sse import Event

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")


class AsyncClient:
    """Talks to the service at `url`, e.g. `http://127.0.0.1:8090`; use it in an `async with` block.

    `timeout` is in seconds, for one try. `transport` is httpx's, for tests and special networks.
    A client may be shared by tasks.
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 10.0,
        retries: Retries | None = None,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        options = connection.options(url, token, timeout)
        import httpx

        self._http = httpx.AsyncClient(**options, transport=transport)
        self._timeout = timeout
        self._retries = retries or Retries()

    async def create(self, stream: str, config: Mapping[str, Any]) -> Stream:
        """Create a stream; the same config again changes nothing, another one is refused."""
        return await self._send(requests.create(stream, config))

    async def predict(
        self,
        stream: str,
        x: ArrayLike = (),
        *,
        id: str | None = None,  # noqa: A002 (the word of the API)
        group: str | None = None,
        scores: ArrayLike | None = None,
    ) -> Prediction:
        """The threshold for x, and the set if `scores` are given; report its loss under its id."""
        key = new_id() if id is None else id
        return await self._send(requests.predict(Predict(stream, x, key, group, scores)))

    async def feedback(self, stream: str, id: str, loss: float) -> Feedback:  # noqa: A002
        """Report the loss of a prediction."""
        return await self._send(requests.feedback(Learn(stream, id, loss)))

    async def batch(self, operations: Sequence[Operation]) -> list[Outcome]:
        """Do many operations in one commit; an outcome each, in their order."""
        return await self._send(requests.batch(operations))

    async def streams(self) -> list[Line]:
        """All streams, a line each."""
        return await self._send(requests.streams())

    async def summary(self, stream: str) -> Summary:
        """How a stream stands: risk, target, certificate, pending feedback, groups."""
        return await self._send(requests.summary(stream))

    async def history(self, stream: str) -> History:
        """How it came to stand there: risk, thresholds and bounds over the rounds."""
        return await self._send(requests.history(stream))

    async def export_state(self, stream: str) -> bytes:
        """The stream's calibrator, in the format of `Calibrator.state`."""
        return await self._send(requests.export_state(stream))

    async def import_state(self, stream: str, state: bytes) -> Imported:
        """Replace the stream's calibrator; takes an admin token."""
        return await self._send(requests.import_state(stream, state))

    async def wait_until_ready(self, timeout: float = 60.0) -> None:
        """Return when the service takes requests; raise if it does not within so many seconds."""
        call, waiting = requests.ready(), Waiting(timeout)
        while (pause := waiting.pause_after(heard := await self._try(call))) is not None:
            await asyncio.sleep(pause)
        call.result(heard)

    async def events(self, stream: str, after: str = "") -> AsyncIterator[Event]:
        """What happens in a stream, from now on or `after` an event's id; goes on after a break."""
        import httpx

        listening = connection.Listening(self._retries, after)
        while True:
            call = requests.events(stream, listening.last)
            heard: Heard = listening.ended
            try:
                async with self._http.stream(**listening.request(call, self._timeout)) as response:
                    if response.is_success:
                        async for chunk in response.aiter_bytes():
                            for event in listening.take(chunk):
                                yield event
                    else:
                        await response.aread()
                        heard = connection.answer(response)
            except httpx.TransportError as error:
                heard = connection.lost(error)
            pause = listening.pause_after(heard)
            if pause is None:
                call.result(heard)  # raises
                return
            await asyncio.sleep(pause)

    async def _send(self, call: Call[T]) -> T:
        tries = Tries(self._retries, call.repeatable)
        while True:
            heard = await self._try(call)
            pause = tries.pause_after(heard)
            if pause is None:
                return call.result(heard)
            await asyncio.sleep(pause)

    async def _try(self, call: Call[Any]) -> Heard:
        import httpx

        try:
            return connection.answer(await self._http.request(**connection.request(call)))
        except httpx.TransportError as error:
            return connection.lost(error)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
