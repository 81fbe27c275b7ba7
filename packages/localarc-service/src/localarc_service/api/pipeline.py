"""From a request to a response: token, path, query and body, then the operation of the endpoint."""

from __future__ import annotations

import itertools
import logging
import math
import re
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, TypeVar

from anyio import to_thread
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from localarc_client.wire.routes import BYTES, JSON, Parameter
from localarc_service.access.audit import Attempt, batch_attempts
from localarc_service.api import decoding
from localarc_service.api.auth import ANYONE, Token, Tokens, identify, permitted
from localarc_service.api.endpoints import Endpoint
from localarc_service.api.queries import Copy
from localarc_service.api.request import Request
from localarc_service.api.request_log import log_request
from localarc_service.api.responses import (
    RAW_SECURITY_HEADERS,
    Response,
    encode,
    problem_response,
    raw_headers,
    response,
)
from localarc_service.app_state import AppState
from localarc_service.errors import RETRY_AFTER, ApiError
from localarc_service.streams.manager import StreamManager

_INTERNAL = ApiError(500, "internal error; no changes were made.")
_log = logging.getLogger("localarc.service")
Argument = TypeVar("Argument")
Result = TypeVar("Result")


class Pipeline:
    """Serves the requests of one endpoint, and counts them unless the asking worker does."""

    def __init__(self, app: AppState, endpoint: Endpoint, counted: bool = True) -> None:
        self._app = app
        self._counted = counted
        self.endpoint = endpoint
        self._parameters = [(each, _reader(each)) for each in endpoint.route.parameters]
        kind = endpoint.route.body
        self._decode = None if kind in (None, bytes) else decoding.decoder_for(kind)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request, even after an unexpected error."""
        response = await self._respond(Request(scope, receive))
        if isinstance(response, Response):
            await response.send(send)
        else:
            await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response | StreamingResponse:
        """The response, counted in the metrics, and in the audit log if it could be a change."""
        app, started = self._app, time.perf_counter()
        response: Response | StreamingResponse
        token, detail = None, ""
        try:
            check_host(app.hosts, request)
            token = identify(app.tokens, request, self.endpoint.scope)
            self._authorize(request, token)
            response = await self._run(request, token)
            status = response.status if isinstance(response, Response) else 200
        except ApiError as error:
            status, detail = error.status, error.detail
            response = problem_response(error, request.id)
        except ClientDisconnect:
            status, response = 400, Response(400, b"", [])  # not received by anyone
        except Exception:
            _log.exception("a request failed", extra={"fields": {"request_id": request.id}})
            status, response = 500, problem_response(_INTERNAL, request.id)
        raw_headers(response).append((b"x-request-id", request.id.encode()))
        self._record(request, token, status, detail, time.perf_counter() - started)
        return response

    def _record(
        self, request: Request, token: Token | None, status: int, detail: str, seconds: float
    ) -> None:
        """Count a request, and log it where that is asked for."""
        app, endpoint = self._app, self.endpoint
        if self._counted:
            app.metrics.count_request(endpoint.path, endpoint.method, status, seconds)
        if app.audit is not None and endpoint.route.writes and token is not None:
            app.audit.add(self._attempt(request, token, status, detail), endpoint.counted)
        log_request(request, endpoint, token, status, seconds)

    def _authorize(self, request: Request, token: Token) -> None:
        """Raise unless the token permits the request; without a scope, anyone may."""
        scope = self.endpoint.scope
        if scope is None:
            return
        token.check_scope(scope)
        if "{stream}" in self.endpoint.path or not self.endpoint.checks_streams:
            token.check_stream(request.path_params.get("stream"))
        self._app.tokens.admit(token)

    async def _run(self, request: Request, token: Token) -> Response | StreamingResponse:
        endpoint = self.endpoint
        arguments: dict[str, Any] = {
            parameter.name: read(request) for parameter, read in self._parameters
        }
        if endpoint.takes_token:
            arguments["token"] = token
        if endpoint.route.body is not None:
            arguments["body"] = await self._body(request)
        if isinstance(arguments.get("body"), list):
            arguments["body"] = self._permitted(arguments["body"], token)
        if endpoint.prepare is not None:
            self._app.writer.check_ready()
            await _in_thread(partial(endpoint.prepare, self._app), arguments["body"])
        result = await self._operate(arguments, request, token)
        if isinstance(result, Copy):
            result = await _in_thread(type(result).response, result)
        if isinstance(result, AsyncIterator) and token is not ANYONE:
            result = _while_valid(result, self._app.tokens, token)
        return _response(result, endpoint.route.media_type)

    async def _operate(self, arguments: dict[str, Any], request: Request, token: Token) -> Any:
        endpoint, app = self.endpoint, self._app
        if endpoint.runs_in_event_loop:
            return await endpoint.operation(app, **arguments)
        body = arguments.get("body")
        writes = len(body) if isinstance(body, list) else 1

        def work(manager: StreamManager) -> Any:
            if endpoint.creates and token.max_streams < math.inf:
                check_room(manager, app.tokens, token, arguments["stream"])
            try:
                return endpoint.operation(manager, **arguments)
            except Exception as error:
                error.add_note(f"request {request.id}")  # the log shows it
                raise

        result = await app.writer.ask(work, writes if endpoint.route.writes else 0)
        if app.audit is not None and isinstance(body, list):
            for attempt in batch_attempts(self._attempt(request, token, 200), body, result):
                app.audit.add(attempt, counted=True)
        return result

    def _permitted(self, batch: list[Any], token: Token) -> list[Any]:
        """The operations of a batch, each a request of its own; those that are not allowed fail."""
        self._app.tokens.charge(token, len(batch) - 1)
        return [permitted(operation, token) for operation in batch] if token.streams else batch

    def _attempt(self, request: Request, token: Token, status: int, detail: str = "") -> Attempt:
        return Attempt(
            action=self.endpoint.route.name,
            stream=request.path_params.get("stream"),
            token=None if token is ANYONE else token.name,
            address=request.address,
            request_id=request.id,
            status=status,
            detail=detail,
        )

    async def _body(self, request: Request) -> Any:
        limits = self._app.limits
        if self._decode is None:
            return await decoding.receive(request, BYTES, limits.state_bytes)
        body = await decoding.receive(request, JSON, limits.body_bytes)
        return self._decode(body)


def check_room(manager: StreamManager, tokens: Tokens, token: Token, stream: str) -> None:
    """Raise if the token permits no more streams; otherwise, other workers count this one."""
    with manager.directory.locked() as elsewhere:
        tokens.check_room(token, stream, itertools.chain(manager.names(), elsewhere))
        if stream not in manager.streams:
            manager.reserve(stream)


# ---- requests --------------------------------------------------------------------------------


def _reader(parameter: Parameter) -> Callable[[Request], Any]:
    if parameter.choices:
        return lambda request: _read_choice(request, parameter)
    if parameter.is_text:
        pattern = re.compile(parameter.constraint.pattern or "")
        return lambda request: _read_text(request, parameter, pattern)
    return lambda request: _read_integer(request, parameter)


def _read_text(request: Request, parameter: Parameter, pattern: re.Pattern[str]) -> Any:
    source = request.path_params if parameter.place == "path" else request.query_params
    text = source.get(parameter.name)
    if text is None:
        return parameter.default
    if not pattern.search(text):
        raise ApiError(
            422,
            f"{parameter.name} in the {parameter.place} must match {pattern.pattern}, "
            f"got {text[:80]!r}.",
        )
    return text


def _read_choice(request: Request, parameter: Parameter) -> Any:
    text = request.query_params.get(parameter.name)
    if text is not None and text not in parameter.choices:
        choices = ", ".join(parameter.choices)
        raise ApiError(422, f"{parameter.name} must be one of {choices}, got {text[:40]!r}.")
    return parameter.default if text is None else text


def _read_integer(request: Request, parameter: Parameter) -> Any:
    source = request.headers if parameter.place == "header" else request.query_params
    text = source.get(parameter.external_name)
    if text is None or (parameter.place == "header" and not text):
        return parameter.default
    smallest, largest = parameter.constraint.ge or 0, parameter.constraint.le or 0
    if text.isascii() and text.isdecimal() and len(text) < 17:
        value = int(text)
        if smallest <= value <= largest:
            return value
    raise ApiError(
        422,
        f"{parameter.external_name} must be an integer from {smallest} to {largest}, "
        f"got {text[:40]!r}.",
    )


def check_host(hosts: frozenset[str] | None, request: Request) -> None:
    """Without tokens, reject what a foreign web page could send: another Host, another Origin.

    A change without a body, such as an acknowledgement, needs no permission by the browser.
    """
    if hosts is None:
        return
    if _host(request) not in hosts:
        raise ApiError(400, "the Host header must name this machine's loopback address.")
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2].lower() != request.headers["host"].lower():
        raise ApiError(400, f"the request comes from a page of another origin, {origin[:80]!r}.")


def _host(request: Request) -> str:
    host: str = request.headers.get("host", "").lower()
    name, _, port = host.rpartition(":")
    return (name if port.isdecimal() else host).strip("[]")


async def _in_thread(work: Callable[[Argument], Result], argument: Argument) -> Result:
    """Run something slow outside the event loop; invalid values become a 422."""
    try:
        return await to_thread.run_sync(lambda: work(argument))
    except (ValueError, TypeError, ArithmeticError, MemoryError) as error:
        raise ApiError(422, str(error)) from error


# ---- responses -------------------------------------------------------------------------------


async def _while_valid(
    chunks: AsyncIterator[bytes], tokens: Tokens, token: Token
) -> AsyncIterator[bytes]:
    """The parts of a long response, until the token expires or is withdrawn."""
    async for chunk in chunks:
        if not tokens.is_valid(token):
            break
        yield chunk


def _response(result: Any, media_type: str) -> Response | StreamingResponse:
    status = 200
    if isinstance(result, tuple):
        status, result = result
    if isinstance(result, AsyncIterator):
        stream = StreamingResponse(result, status, {"X-Accel-Buffering": "no"}, media_type)
        stream.raw_headers.extend(RAW_SECURITY_HEADERS)
        return stream
    if media_type == JSON:
        made = response(encode(result), JSON, status)
        if status in RETRY_AFTER:  # of /readyz
            made.headers.append((b"retry-after", b"%d" % RETRY_AFTER[status]))
        return made
    body: bytes = result.encode() if isinstance(result, str) else result
    return response(body, media_type, status)
