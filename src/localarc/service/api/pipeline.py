"""From a request to a response: token, path, query and body, then the operation of the endpoint."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any, TypeVar

from anyio import to_thread
from starlette.requests import ClientDisconnect
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from localarc.service.api import decoding
from localarc.service.api.endpoints import BYTES, JSON, Endpoint, Parameter
from localarc.service.api.errors import ApiError
from localarc.service.api.request import Request
from localarc.service.api.responses import (
    RAW_SECURITY_HEADERS,
    Response,
    encode,
    problem_response,
    response,
)
from localarc.service.app_state import AppState

_INTERNAL = ApiError(500, "internal error; no changes were made.")
_log = logging.getLogger("localarc.service")
Argument = TypeVar("Argument")
Result = TypeVar("Result")


class Pipeline:
    """Serves the requests of one endpoint, and counts them, unless somebody else does."""

    def __init__(self, app: AppState, endpoint: Endpoint, counted: bool = True) -> None:
        self._app = app
        self._counted = counted
        self.endpoint = endpoint
        self._parameters = [(each, _reader(each)) for each in endpoint.parameters]
        kind = endpoint.body
        self._decode = None if kind in (None, bytes) else decoding.decoder_for(kind)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Respond to a request, whatever happens."""
        response = await self._respond(Request(scope, receive))
        if isinstance(response, Response):
            await response.send(send)
        else:
            await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response | StreamingResponse:
        """The response, counted in the metrics."""
        endpoint, started = self.endpoint, time.perf_counter()
        response: Response | StreamingResponse
        try:
            check_host(self._app.hosts, request)
            self._app.tokens.check(request, endpoint.scope)
            response = await self._run(request)
            status = response.status if isinstance(response, Response) else 200
        except ApiError as error:
            status, response = error.status, problem_response(error)
        except ClientDisconnect:
            status, response = 400, Response(400, b"", [])  # not received by anyone
        except Exception:
            _log.exception("a request failed")
            status, response = 500, problem_response(_INTERNAL)
        seconds = time.perf_counter() - started
        if self._counted:
            self._app.metrics.count_request(endpoint.path, endpoint.method, status, seconds)
        return response

    async def _run(self, request: Request) -> Response | StreamingResponse:
        endpoint = self.endpoint
        arguments: dict[str, Any] = {
            parameter.name: read(request) for parameter, read in self._parameters
        }
        if endpoint.body is not None:
            arguments["body"] = await self._body(request)
        if endpoint.prepare is not None:
            self._app.writer.check_ready()
            await _in_thread(partial(endpoint.prepare, self._app), arguments["body"])
        result = await self._operate(arguments)
        if endpoint.finish is not None:
            result = await _in_thread(endpoint.finish, result)
        return _response(result, endpoint.media_type)

    async def _operate(self, arguments: dict[str, Any]) -> Any:
        operation = self.endpoint.operation
        if self.endpoint.runs_in_event_loop:
            return await operation(self._app, **arguments)
        body = arguments.get("body")
        writes = len(body) if isinstance(body, list) else 1
        return await self._app.writer.ask(
            lambda manager: operation(manager, **arguments), writes if self.endpoint.writes else 0
        )

    async def _body(self, request: Request) -> Any:
        limits = self._app.limits
        if self._decode is None:
            return await decoding.receive(request, BYTES, limits.state_bytes)
        body = await decoding.receive(request, JSON, limits.body_bytes)
        return self._decode(body)


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


def _response(result: Any, media_type: str) -> Response | StreamingResponse:
    status = 200
    if isinstance(result, tuple):
        status, result = result
    if isinstance(result, AsyncIterator):
        made = StreamingResponse(result, status, {"X-Accel-Buffering": "no"}, media_type)
        made.raw_headers.extend(RAW_SECURITY_HEADERS)
        return made
    if media_type == JSON:
        return response(encode(result), JSON, status)
    body: bytes = result.encode() if isinstance(result, str) else result
    return response(body, media_type, status)
