"""The synchronous client."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
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


class Client:
    """Client of a localarc service; use it in a `with` block. Threads may share it.

    A request without a response is repeated with the same id, and the service processes it once.
    The `stream` of a method is the name of a stream.

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
    transport : httpx.BaseTransport, optional
        Transport of httpx, for tests and special networks.

    Raises
    ------
    ClientError
        From every method: `ServiceError`, by subclass, if the service rejects the request;
        `UnreachableError` if it does not respond; `UnexpectedResponseError` if its response cannot
        be read. Invalid arguments raise `ValueError` or `TypeError` before anything is sent.

    Examples
    --------
    A transport stands in for the service, so that the example runs without one:

    >>> import httpx
    >>> body = {"id": "a", "seq": 1, "threshold": 0.5}
    >>> transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
    >>> with Client("http://127.0.0.1:8090", transport=transport) as client:
    ...     prediction = client.predict("demand", x=[0.2, 0.7], id="a", group="weekend")
    >>> prediction.threshold
    0.5
    """

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout: float = 10.0,
        retries: Retries | None = None,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        options = http_options(url, token, timeout)
        import httpx

        from localarc_client.pools import WorkerTransport

        self._http = httpx.Client(**options, transport=transport or WorkerTransport())
        self._timeout = timeout
        self._retries = retries or Retries()

    def create(self, stream: str, config: StreamConfig | Mapping[str, object]) -> CreateResponse:
        """Create a stream.

        Creating it again with the same config has no effect; another config is a `ConflictError`.

        Parameters
        ----------
        stream : str
            Name of the stream: letters, digits, '.', '_' and '-', at most 64 characters.
        config : AutoConfig, LarcConfig, ArcConfig, MondrianConfig, GateConfig or mapping
            Its configuration, checked before it is sent. A mapping has the same fields, for example
            from a JSON or YAML file; without `method` it is larc with a kernel, else auto.

        Examples
        --------
        >>> import httpx
        >>> from localarc_client import AutoConfig
        >>> body = {"stream": "demand", "config": {"method": "auto", "alpha": 0.1, "features": 2}}
        >>> transport = httpx.MockTransport(lambda request: httpx.Response(201, json=body))
        >>> client = Client("http://127.0.0.1:8090", transport=transport)
        >>> client.create("demand", AutoConfig(alpha=0.1, features=2)).stream
        'demand'
        >>> client.create("demand", {"alpha": "high"})
        Traceback (most recent call last):
        ValueError: invalid config: Expected `float`, got `str` - at `$.alpha`.
        """
        return self._send(routes.CREATE, stream, body=requests.create(config))

    def change(
        self,
        stream: str,
        *,
        labels: Mapping[str, str] | UnsetType = UNSET,
        timeout: SupportsFloat | UnsetType | None = UNSET,
        default_loss: SupportsFloat | UnsetType | None = UNSET,
        retention: SupportsFloat | UnsetType | None = UNSET,
    ) -> ChangeResponse:
        """Change what may change of a stream's config; what is left out stays as it is.

        Parameters
        ----------
        stream : str
            Name of the stream.
        labels : mapping of str to str, optional
            Replaces all labels.
        timeout, default_loss, retention : float or None, optional
            As in a config; None removes them.

        Examples
        --------
        >>> import httpx
        >>> config = {"method": "auto", "alpha": 0.1, "timeout": 60.0}
        >>> body = {"stream": "demand", "seq": 4, "config": config}
        >>> transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
        >>> client = Client("http://127.0.0.1:8090", transport=transport)
        >>> client.change("demand", timeout=60.0).config.timeout
        60.0
        """
        changes = {"timeout": timeout, "default_loss": default_loss, "retention": retention}
        body = requests.change(labels=labels, **changes)
        return self._send(routes.CHANGE, stream, body=body)

    def rename(self, stream: str, name: str) -> RenameResponse:
        """Give a stream another name, under which it continues; requires an admin token.

        It is not repeated if the outcome is unknown: read the summary of the new name then.

        Parameters
        ----------
        stream : str
            Name of the stream.
        name : str
            Its new name, which no stream has.

        Examples
        --------
        >>> import httpx
        >>> body = {"stream": "demand-2", "seq": 5}
        >>> transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
        >>> client = Client("http://127.0.0.1:8090", transport=transport)
        >>> client.rename("demand", "demand-2").stream
        'demand-2'
        """
        return self._send(routes.RENAME, stream, body=RenameRequest(name))

    def delete(self, stream: str) -> DeleteResponse:
        """Delete a stream and all that is stored about it; requires an admin token.

        It is not repeated if the outcome is unknown: after `NotFoundError` it is gone.

        Examples
        --------
        >>> import httpx
        >>> body = {"stream": "demand", "seq": 7}
        >>> transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
        >>> client = Client("http://127.0.0.1:8090", transport=transport)
        >>> client.delete("demand").stream
        'demand'
        """
        return self._send(routes.DELETE, stream)

    def predict(
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

        Parameters
        ----------
        stream : str
            Name of the stream.
        x : number or flat sequence of numbers, default ()
            Features of one input: a list, a NumPy array or a pandas Series.
        id : str, optional
            Id of the prediction, unique in the stream; default: a random one.
        group : str or sequence of str, optional
            Group of the input, or several that overlap; the summary reports the risk of each.
        scores : number or flat sequence of numbers, optional
            With scores the response has a prediction set. Their meaning depends on the config's
            `set`.
        confidence : float, optional
            For streams with method "gate", which require it: how sure the model is of its answer,
            in [0, 1]. The response says whether the answer may go out.

        Returns
        -------
        PredictResponse
            The threshold, the prediction set if `scores` were given, and the id.
        """
        body = requests.predict(x, id, group, scores, confidence)
        return self._send(routes.PREDICT, stream, body=body)

    def feedback(
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

        Parameters
        ----------
        stream : str
            Name of the stream.
        id : str
            Id of the prediction.
        loss : float, optional
            Its loss, from 0 to the loss bound of the stream.
        score : float, optional
            Beside a loss: the smallest threshold whose loss is at most `alpha`, for misses the
            score of the true outcome; minus infinity if every threshold would do. Streams with
            method "auto" learn from it.
        outcome : float or str, optional
            The same as `y`, its name in older versions.
        y : float or str, optional
            Instead of a loss: the true value or label, where the service made the set.
        probability : float, optional
            For streams with method "gate", if only some answers are looked at, drawn at random: the
            probability with which this one was to be. Without a loss: it was not drawn.

        Examples
        --------
        >>> import httpx
        >>> body = {"seq": 2, "rounds": 1}
        >>> transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
        >>> client = Client("http://127.0.0.1:8090", transport=transport)
        >>> client.feedback("demand", "a", loss=1.0).rounds
        1
        """
        body = requests.feedback(loss, score, outcome, y, probability)
        return self._send(routes.FEEDBACK, stream, id, body=body)

    def audit(
        self,
        stream: str,
        id: str,  # noqa: A002 (the API's name)
        wrong: bool,
    ) -> FeedbackResponse:
        """Report whether an answer that a gate withheld would have been wrong.

        Parameters
        ----------
        stream : str
            Name of the stream, which has method "gate".
        id : str
            Id of the prediction.
        wrong : bool
            Whether the withheld answer would have been wrong.

        Examples
        --------
        >>> import httpx
        >>> body = {"seq": 2, "rounds": 0}
        >>> transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
        >>> client = Client("http://127.0.0.1:8090", transport=transport)
        >>> client.audit("mail", "a", wrong=True).rounds
        0
        """
        return self._send(routes.AUDIT, stream, id, body=requests.audit(wrong))

    def batch(self, operations: Sequence[Operation]) -> list[BatchResult]:
        """Send up to 1,000 operations, which the service commits together.

        Parameters
        ----------
        operations : sequence of PredictOperation or FeedbackOperation
            The operations, processed in order. A `PredictOperation` without an id gets one, which
            is stored in it: sending the same objects again repeats the same requests.

        Returns
        -------
        list of BatchResult
            One result per operation. An operation that fails has a `problem`, and does not affect
            the others; `error_from_problem` turns it into an exception.

        Examples
        --------
        >>> import httpx
        >>> body = {"results": [{"status": 200, "feedback": {"seq": 2, "rounds": 1}}]}
        >>> transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
        >>> client = Client("http://127.0.0.1:8090", transport=transport)
        >>> from localarc_client import FeedbackOperation
        >>> (result,) = client.batch([FeedbackOperation(stream="demand", id="a", loss=1.0)])
        >>> result.feedback
        FeedbackResponse(seq=2, rounds=1)
        """
        response = self._send(routes.BATCH, body=requests.batch(operations))
        return response.results

    def streams(
        self,
        *,
        search: str = "",
        status: str | None = None,
        sort: str = "name",
        labels: Mapping[str, str] | None = None,
    ) -> list[StreamListItem]:
        """List all streams, or those that match.

        Parameters
        ----------
        search : str, default ""
            Part of the name, in any case.
        status : str, optional
            Only streams with this status: "ok", "drifting", "broken", "recovered" or "stale".
        sort : str, default "name"
            "name", or "worst": broken, drifting, stale, recovered and ok ones, by risk.
        labels : mapping of str to str, optional
            Only streams with all of these labels.
        """
        pairs = requests.labels(labels)
        page = self._send(routes.STREAMS, search=search, status=status, sort=sort, labels=pairs)
        return page.streams

    def stream_list(
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

        Parameters
        ----------
        search, status, sort, labels
            As in `streams`; the worst are first by default.
        limit : int, default 100
            Largest number of streams in a page; None for all.
        cursor : str, optional
            `next` or `previous` of another page.

        Examples
        --------
        >>> import httpx
        >>> body = {"streams": [], "found": 120, "statuses": {"broken": 2, "ok": 118}, "next": ".."}
        >>> transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
        >>> client = Client("http://127.0.0.1:8090", transport=transport)
        >>> client.stream_list(limit=100).statuses.broken
        2
        """
        return self._send(
            routes.STREAMS,
            search=search,
            status=status,
            sort=sort,
            limit=limit,
            cursor=cursor,
            labels=requests.labels(labels),
        )

    def summary(self, stream: str) -> StreamSummary:
        """Read the status of a stream: risk, target, certificate, pending predictions, groups.

        Examples
        --------
        >>> import httpx
        >>> body = {"title": "Not Found", "status": 404, "detail": "there is no stream 's'."}
        >>> transport = httpx.MockTransport(lambda request: httpx.Response(404, json=body))
        >>> client = Client("http://127.0.0.1:8090", transport=transport)
        >>> client.summary("s")
        Traceback (most recent call last):
        localarc_client.errors.NotFoundError: there is no stream 's'. (status 404)
        """
        return self._send(routes.SUMMARY, stream)

    def history(self, stream: str) -> History:
        """Read the history of a stream: risk, thresholds and bounds over the rounds."""
        return self._send(routes.HISTORY, stream)

    def threshold_map(
        self, stream: str, first: int = 0, second: int | None = None, size: int = 32
    ) -> ThresholdMap:
        """Read the current threshold as a function of one or two features.

        Parameters
        ----------
        stream : str
            Name of the stream.
        first : int, default 0
            Index of the first feature.
        second : int, optional
            Index of the second feature; without it the map is a curve.
        size : int, default 32
            Number of values of each feature, from 2 to 64.
        """
        return self._send(routes.THRESHOLD_MAP, stream, first=first, second=second, size=size)

    def export_state(self, stream: str) -> bytes:
        """Read the state of the calibrator, which `localarc.LARC.from_state` accepts."""
        return self._send(routes.EXPORT_STATE, stream)

    def import_state(self, stream: str, state: bytes) -> ImportResponse:
        """Replace the state of the calibrator; requires an admin token.

        It is not repeated if the outcome is unknown, since losses may have arrived in between.

        Parameters
        ----------
        stream : str
            Name of the stream.
        state : bytes
            A state from `export_state`, of a stream with the same calibrator settings.
        """
        return self._send(routes.IMPORT_STATE, stream, body=state)

    def acknowledge(self, stream: str) -> AcknowledgeResponse:
        """Acknowledge the alarms of a stream: the evidence about it and its groups starts anew.

        A broken or recovered stream is "ok" after that, until later losses say otherwise.

        Examples
        --------
        >>> import httpx
        >>> body = {"status": "ok", "since": 0.0, "since_round": 90, "why": "No loss yet."}
        >>> body |= {"rounds": 0, "risk": None, "recent_risk": None, "at_least": None}
        >>> body = {"health": body | {"target": 0.1, "tolerance": 0.02, "window": 1000}, "seq": 7}
        >>> transport = httpx.MockTransport(lambda request: httpx.Response(200, json=body))
        >>> with Client("http://127.0.0.1:8090", transport=transport) as client:
        ...     client.acknowledge("demand").health.status
        'ok'
        """
        return self._send(routes.ACKNOWLEDGE, stream)

    def quarantine(self) -> list[QuarantinedStream]:
        """List the streams that are not served, because their stored data is damaged."""
        response = self._send(routes.QUARANTINE)
        return response.streams

    def recover(self, stream: str, action: str) -> RecoverResponse:
        """Decide about a stream in quarantine; requires an admin token.

        It is not repeated if the outcome is unknown: read `quarantine` then.

        Parameters
        ----------
        stream : str
            Name of the stream.
        action : str
            "accept" continues it from what could be read; for a stream that is served, it
            acknowledges thresholds that differed on replay. "drop" deletes what is stored.
        """
        return self._send(routes.RECOVER, stream, body=requests.recover(action))

    def events(self, stream: str, after: int | None = None) -> Generator[AnyEvent, None, None]:
        """Subscribe to the events of a stream; a lost connection is resumed without a gap.

        Parameters
        ----------
        stream : str
            Name of the stream.
        after : int, optional
            Start after the event with this `seq`; default: with the next event.

        Yields
        ------
        AnyEvent
            The events as they happen: a `CreatedEvent`, `PredictedEvent`, `FeedbackEvent`,
            `AuditedEvent`, `ExpiredEvent`, `ImportedEvent`, `HealthEvent`, `AcknowledgedEvent`,
            `ChangedEvent`, `RenamedEvent`, `RemovedEvent`, `DeletedEvent` or `ResetEvent`.
            After the last of these, read the history: events were missed.

        Examples
        --------
        >>> import httpx
        >>> frame = 'id: 3\\nevent: reset\\ndata: {"kind": "reset", "seq": 3}\\n\\n'
        >>> response = httpx.Response(200, text=frame)
        >>> transport = httpx.MockTransport(lambda request: response)
        >>> client = Client("http://127.0.0.1:8090", transport=transport)
        >>> events = client.events("demand", after=1)
        >>> next(events)
        ResetEvent(seq=3)
        >>> events.close()
        """
        import httpx

        silence = httpx.Timeout(self._timeout, read=max(self._timeout, MAX_SILENCE))
        subscription = Subscription(self._retries, after)
        while True:
            request = call(routes.EVENTS, stream, last_event_id=subscription.last_id)
            attempt: Attempt = subscription.ended
            try:
                with self._http.stream(**request.arguments(), timeout=silence) as response:
                    if response.is_success:
                        for chunk in response.iter_bytes():
                            yield from subscription.feed(chunk)
                    else:
                        response.read()
                        attempt = Reply.of(response)
            except httpx.TransportError as error:
                attempt = NoReply.of(error)
            pause = subscription.pause_after(attempt)
            if pause is None:
                request.result(attempt)  # raises
                return
            time.sleep(pause)

    def alive(self) -> Alive:
        """Ask once, without retries, whether the process is alive."""
        request = call(routes.ALIVE)
        return request.result(self._try(request))

    def ready(self) -> Ready:
        """Ask once, without retries, whether the service accepts requests, and if not, why.

        Examples
        --------
        >>> import httpx
        >>> body = {"ready": False, "detail": "replaying.", "streams": 0, "read_only": 0}
        >>> transport = httpx.MockTransport(lambda request: httpx.Response(503, json=body))
        >>> client = Client("http://127.0.0.1:8090", transport=transport)
        >>> client.ready().detail
        'replaying.'
        """
        request = call(routes.READY)
        return request.result(self._try(request))

    def wait_until_ready(self, timeout: float = 60.0) -> Ready:
        """Wait until the service accepts requests.

        Parameters
        ----------
        timeout : float, default 60.0
            Seconds after which `UnavailableError` or `UnreachableError` is raised.
        """
        request, state = replace(call(routes.READY), also_read=()), WaitUntilReady(timeout)
        while (pause := state.pause_after(attempt := self._try(request))) is not None:
            time.sleep(pause)
        return request.result(attempt)

    def metrics(self) -> str:
        """Read the metrics of the service, in the text format of Prometheus."""
        return self._send(routes.METRICS)

    def openapi(self) -> dict[str, object]:
        """Read the OpenAPI document of the service."""
        return self._send(routes.OPENAPI)

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _send(self, route: Route[T], *path: str, body: object = None, **parameters: object) -> T:
        request = call(route, *path, body=body, **parameters)
        state = RetryState(self._retries, request.repeatable)
        while (pause := state.pause_after(attempt := self._try(request))) is not None:
            time.sleep(pause)
        return request.result(attempt)

    def _try(self, request: Call[Any]) -> Attempt:
        import httpx

        try:
            return Reply.of(self._http.request(**request.arguments()))
        except httpx.TransportError as error:
            return NoReply.of(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
