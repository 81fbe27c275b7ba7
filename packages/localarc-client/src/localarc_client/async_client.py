"""The asynchronous client; `generate.py` of the tests writes it from `client.py`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, SupportsFloat, TypeVar

from msgspec import UNSET, UnsetType

from localarc_client import requests
from localarc_client.calls import Call, call, http_options
from localarc_client.requests import Numbers
from localarc_client.retry import Attempt, NoReply, Reply, Retries, RetryState, WaitUntilReady
from localarc_client.sse import MAX_SILENCE, Subscription
from localarc_client.wire import routes
from localarc_client.wire.config import CreateResponse, StreamConfig
from localarc_client.wire.events import AnyEvent
from localarc_client.wire.lifecycle import (
    ChangeResponse,
    DeleteResponse,
    RenameRequest,
    RenameResponse,
)
from localarc_client.wire.predictions import (
    BatchResult,
    FeedbackResponse,
    Operation,
    PredictResponse,
)
from localarc_client.wire.quarantine import QuarantinedStream, RecoverResponse
from localarc_client.wire.routes import Route
from localarc_client.wire.status import (
    AcknowledgeResponse,
    Alive,
    History,
    ImportResponse,
    Ready,
    StreamList,
    StreamListItem,
    StreamSummary,
    ThresholdMap,
)

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")


class AsyncClient:
    """Asynchronous client of a localarc service; use it in an `async with` block.

    Tasks may share it. A request without a response is repeated with the same id, and the service
    processes it once.

    Parameters
    ----------
    url : str
        URL of the service, such as "http://127.0.0.1:8090".
    token : str, optional
        Token to send with every request.
    timeout : float, default 10.0
        Timeout of one attempt, in seconds.
    retries : Retries, optional
        How often and after which pauses a request is repeated. Default: `Retries()`.
    transport : httpx.AsyncBaseTransport, optional
        Transport of httpx, for tests and special networks.

    Raises
    ------
    ClientError
        From every method: `ServiceError`, by subclass, if the service rejects the request;
        `UnreachableError` if it does not respond; `UnexpectedResponseError` if its response cannot
        be read. Invalid arguments raise `ValueError` or `TypeError` before anything is sent.

    See Also
    --------
    Client : The synchronous client. Its methods have the same names and parameters, and describe
        them with an example each.

    Examples
    --------
    A transport stands in for the service, so that the example runs without one:

    >>> import asyncio, httpx
    >>> body = {"id": "a", "seq": 1, "threshold": 0.5}
    >>> transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
    >>> async def main():
    ...     async with AsyncClient("http://127.0.0.1:8090", transport=transport) as client:
    ...         return await client.predict("demand", x=[0.2, 0.7], id="a")
    >>> asyncio.run(main()).threshold
    0.5
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
        options = http_options(url, token, timeout)
        import httpx

        from localarc_client.pools import AsyncWorkerTransport

        self._http = httpx.AsyncClient(**options, transport=transport or AsyncWorkerTransport())
        self._timeout = timeout
        self._retries = retries or Retries()

    async def create(
        self, stream: str, config: StreamConfig | Mapping[str, object]
    ) -> CreateResponse:
        """Create a stream.

        See `Client.create` for the parameters and the result.
        """
        return await self._send(routes.CREATE, stream, body=requests.create(config))

    async def change(
        self,
        stream: str,
        *,
        labels: Mapping[str, str] | UnsetType = UNSET,
        timeout: SupportsFloat | UnsetType | None = UNSET,
        default_loss: SupportsFloat | UnsetType | None = UNSET,
        retention: SupportsFloat | UnsetType | None = UNSET,
    ) -> ChangeResponse:
        """Change what may change of a stream's config; what is left out stays as it is.

        See `Client.change` for the parameters and the result.
        """
        changes = {"timeout": timeout, "default_loss": default_loss, "retention": retention}
        body = requests.change(labels=labels, **changes)
        return await self._send(routes.CHANGE, stream, body=body)

    async def rename(self, stream: str, name: str) -> RenameResponse:
        """Give a stream another name, under which it continues; requires an admin token.

        See `Client.rename` for the parameters and the result.
        """
        return await self._send(routes.RENAME, stream, body=RenameRequest(name))

    async def delete(self, stream: str) -> DeleteResponse:
        """Delete a stream and all that is stored about it; requires an admin token.

        See `Client.delete` for the parameters and the result.
        """
        return await self._send(routes.DELETE, stream)

    async def predict(
        self,
        stream: str,
        x: Numbers = (),
        *,
        id: str | None = None,  # noqa: A002 (the API's name)
        group: str | Sequence[str] | None = None,
        scores: Numbers | None = None,
        confidence: SupportsFloat | None = None,
    ) -> PredictResponse:
        """Request the threshold for an input. Report its loss with `feedback` under its id.

        See `Client.predict` for the parameters and the result.
        """
        body = requests.predict(x, id, group, scores, confidence)
        return await self._send(routes.PREDICT, stream, body=body)

    async def feedback(
        self,
        stream: str,
        id: str,  # noqa: A002 (the API's name)
        loss: SupportsFloat | None = None,
        *,
        score: SupportsFloat | str | None = None,
        outcome: SupportsFloat | str | None = None,
        y: SupportsFloat | str | None = None,
        probability: SupportsFloat | None = None,
    ) -> FeedbackResponse:
        """Report the loss of a prediction, or what came true: the service computes the loss.

        See `Client.feedback` for the parameters and the result.
        """
        body = requests.feedback(loss, score, outcome, y, probability)
        return await self._send(routes.FEEDBACK, stream, id, body=body)

    async def audit(
        self,
        stream: str,
        id: str,  # noqa: A002 (the API's name)
        wrong: bool,
    ) -> FeedbackResponse:
        """Report whether an answer that a gate withheld would have been wrong.

        See `Client.audit` for the parameters and the result.
        """
        return await self._send(routes.AUDIT, stream, id, body=requests.audit(wrong))

    async def batch(self, operations: Sequence[Operation]) -> list[BatchResult]:
        """Send up to 1,000 operations, which the service commits together.

        See `Client.batch` for the parameters and the result.
        """
        response = await self._send(routes.BATCH, body=requests.batch(operations))
        return response.results

    async def streams(
        self,
        *,
        search: str = "",
        status: str | None = None,
        sort: str = "name",
        labels: Mapping[str, str] | None = None,
    ) -> list[StreamListItem]:
        """List all streams, or those that match.

        See `Client.streams` for the parameters and the result.
        """
        pairs = requests.labels(labels)
        page = await self._send(
            routes.STREAMS, search=search, status=status, sort=sort, labels=pairs
        )
        return page.streams

    async def stream_list(
        self,
        *,
        search: str = "",
        status: str | None = None,
        sort: str = "worst",
        limit: int | None = 100,
        cursor: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> StreamList:
        """List streams, a page at a time, with the number of streams of each status.

        See `Client.stream_list` for the parameters and the result.
        """
        return await self._send(
            routes.STREAMS,
            search=search,
            status=status,
            sort=sort,
            limit=limit,
            cursor=cursor,
            labels=requests.labels(labels),
        )

    async def summary(self, stream: str) -> StreamSummary:
        """Read the status of a stream: risk, target, certificate, pending predictions, groups.

        See `Client.summary` for the parameters and the result.
        """
        return await self._send(routes.SUMMARY, stream)

    async def history(self, stream: str) -> History:
        """Read the history of a stream: risk, thresholds and bounds over the rounds."""
        return await self._send(routes.HISTORY, stream)

    async def threshold_map(
        self, stream: str, first: int = 0, second: int | None = None, size: int = 32
    ) -> ThresholdMap:
        """Read the current threshold as a function of one or two features.

        See `Client.threshold_map` for the parameters and the result.
        """
        return await self._send(routes.THRESHOLD_MAP, stream, first=first, second=second, size=size)

    async def export_state(self, stream: str) -> bytes:
        """Read the state of the calibrator, which `localarc.LARC.from_state` accepts."""
        return await self._send(routes.EXPORT_STATE, stream)

    async def import_state(self, stream: str, state: bytes) -> ImportResponse:
        """Replace the state of the calibrator; requires an admin token.

        See `Client.import_state` for the parameters and the result.
        """
        return await self._send(routes.IMPORT_STATE, stream, body=state)

    async def acknowledge(self, stream: str) -> AcknowledgeResponse:
        """Acknowledge the alarms of a stream: the evidence about it and its groups starts anew.

        See `Client.acknowledge` for the parameters and the result.
        """
        return await self._send(routes.ACKNOWLEDGE, stream)

    async def quarantine(self) -> list[QuarantinedStream]:
        """List the streams that are not served, because their stored data is damaged."""
        response = await self._send(routes.QUARANTINE)
        return response.streams

    async def recover(self, stream: str, action: str) -> RecoverResponse:
        """Decide about a stream in quarantine; requires an admin token.

        See `Client.recover` for the parameters and the result.
        """
        return await self._send(routes.RECOVER, stream, body=requests.recover(action))

    async def events(self, stream: str, after: int | None = None) -> AsyncGenerator[AnyEvent, None]:
        """Subscribe to the events of a stream; a lost connection is resumed without a gap.

        See `Client.events` for the parameters and the result.
        """
        import httpx

        silence = httpx.Timeout(self._timeout, read=max(self._timeout, MAX_SILENCE))
        subscription = Subscription(self._retries, after)
        while True:
            request = call(routes.EVENTS, stream, last_event_id=subscription.last_id)
            attempt: Attempt = subscription.ended
            try:
                async with self._http.stream(**request.arguments(), timeout=silence) as response:
                    if response.is_success:
                        async for chunk in response.aiter_bytes():
                            for event in subscription.feed(chunk):
                                yield event
                    else:
                        await response.aread()
                        attempt = Reply.of(response)
            except httpx.TransportError as error:
                attempt = NoReply.of(error)
            pause = subscription.pause_after(attempt)
            if pause is None:
                request.result(attempt)  # raises
                return
            await asyncio.sleep(pause)

    async def alive(self) -> Alive:
        """Ask once, without retries, whether the process is alive."""
        request = call(routes.ALIVE)
        return request.result(await self._try(request))

    async def ready(self) -> Ready:
        """Ask once, without retries, whether the service accepts requests, and if not, why.

        See `Client.ready` for the parameters and the result.
        """
        request = call(routes.READY)
        return request.result(await self._try(request))

    async def wait_until_ready(self, timeout: float = 60.0) -> Ready:
        """Wait until the service accepts requests.

        See `Client.wait_until_ready` for the parameters and the result.
        """
        request, state = replace(call(routes.READY), also_read=()), WaitUntilReady(timeout)
        while (pause := state.pause_after(attempt := await self._try(request))) is not None:
            await asyncio.sleep(pause)
        return request.result(attempt)

    async def metrics(self) -> str:
        """Read the metrics of the service, in the text format of Prometheus."""
        return await self._send(routes.METRICS)

    async def openapi(self) -> dict[str, object]:
        """Read the OpenAPI document of the service."""
        return await self._send(routes.OPENAPI)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _send(
        self, route: Route[T], *path: str, body: object = None, **parameters: object
    ) -> T:
        request = call(route, *path, body=body, **parameters)
        state = RetryState(self._retries, request.repeatable)
        while (pause := state.pause_after(attempt := await self._try(request))) is not None:
            await asyncio.sleep(pause)
        return request.result(attempt)

    async def _try(self, request: Call[Any]) -> Attempt:
        import httpx

        try:
            return Reply.of(await self._http.request(**request.arguments()))
        except httpx.TransportError as error:
            return NoReply.of(error)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
