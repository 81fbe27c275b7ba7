"""From a request to a response: token, path, query and body, then the operation of the endpoint."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import msgspec
from anyio import to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from localarc.service.api import decoding
from localarc.service.api.endpoints import BYTES, JSON, Endpoint, Parameter
from localarc.service.api.errors import ApiError
from localarc.service.app_state import AppState

PROBLEM = "application/problem+json"
SECURITY_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_RAW_HEADERS = [(name.lower().encode(), value.encode()) for name, value in SECURITY_HEADERS.items()]
_encode = msgspec.json.Encoder().encode
_log = logging.getLogger("localarc.service")
Argument = TypeVar("Argument")
Result = TypeVar("Result")


class Pipeline:
    """Serves the requests of one endpoint."""

    def __init__(self, app: AppState, endpoint: Endpoint) -> None:
        self._app = app
        self._endpoint = endpoint
        self._parameters = [(each, _reader(each)) for each in endpoint.parameters]
        kind = endpoint.body
        self._decode = None if kind in (None, bytes) else decoding.decoder_for(kind)

    async def respond(self, request: Request) -> Response:
        """The response, whatever happens; counted in the metrics."""
        endpoint, started = self._endpoint, time.perf_counter()
        try:
            check_host(self._app.hosts, request)
            self._app.tokens.check(request, endpoint.scope)
            response = await self._run(request)
        except ApiError as error:
            response = problem_response(error)
        except ClientDisconnect:
            response = Response(status_code=400)  # not received by anyone
        except Exception:
            _log.exception("a request failed")
            response = problem_response(ApiError(500, "internal error; no changes were made."))
        seconds = time.perf_counter() - started
        metrics = self._app.metrics
        metrics.count_request(endpoint.path, endpoint.method, response.status_code, seconds)
        return add_security_headers(response)

    async def _run(self, request: Request) -> Response:
        endpoint = self._endpoint
        arguments: dict[str, Any] = {
            parameter.name: read(request) for parameter, read in self._parameters
        }
        if endpoint.body is not None:
            arguments["body"] = await self._body(request)
        if endpoint.prepare is not None:
            await _in_thread(endpoint.prepare, arguments["body"])
        result = await self._operate(arguments)
        if endpoint.finish is not None:
            result = await _in_thread(endpoint.finish, result)
        return _response(result, endpoint.media_type)

    async def _operate(self, arguments: dict[str, Any]) -> Any:
        operation = self._endpoint.operation
        if self._endpoint.runs_in_event_loop:
            return await operation(self._app, **arguments)
        body = arguments.get("body")
        writes = len(body) if isinstance(body, list) else 1
        return await self._app.writer.ask(
            lambda manager: operation(manager, **arguments), writes if self._endpoint.writes else 0
        )

    async def _body(self, request: Request) -> Any:
        limits = self._app.limits
        if self._decode is None:
            return await decoding.receive(request, BYTES, limits.state_bytes, limits.body_seconds)
        body = await decoding.receive(request, JSON, limits.body_bytes, limits.body_seconds)
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
    host = request.headers.get("host", "").lower()
    name, _, port = host.rpartition(":")
    return (name if port.isdecimal() else host).strip("[]")


async def _in_thread(work: Callable[[Argument], Result], argument: Argument) -> Result:
    """Run something slow outside the event loop; invalid values become a 422."""
    try:
        return await to_thread.run_sync(lambda: work(argument))
    except (ValueError, TypeError, ArithmeticError, MemoryError) as error:
        raise ApiError(422, str(error)) from error


# ---- responses -------------------------------------------------------------------------------


def _response(result: Any, media_type: str) -> Response:
    status = 200
    if isinstance(result, tuple):
        status, result = result
    if isinstance(result, Response):
        return result
    if isinstance(result, AsyncIterator):
        headers = {"X-Accel-Buffering": "no"}
        return StreamingResponse(result, status, headers, media_type)
    if media_type == JSON:
        return json_response(result, status)
    return Response(result, status, media_type=media_type)


def json_response(message: Any, status: int = 200) -> Response:
    """A message as JSON."""
    return Response(_encode(message), status, media_type=JSON)


def problem_response(error: ApiError) -> Response:
    """An error as JSON."""
    headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else None
    return Response(_encode(error.problem()), error.status, headers, media_type=PROBLEM)


def add_security_headers(response: Response) -> Response:
    """The response, with the headers that every response has."""
    response.raw_headers.extend(_RAW_HEADERS)
    return response
