"""The application: endpoints behind one door that admits, counts, and turns errors into answers."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

from localarc.reporting.assessment import version
from localarc.service.api.endpoint import Endpoint
from localarc.service.api.endpoints import ENDPOINTS
from localarc.service.api.errors import Refusal
from localarc.service.api.handlers import message, problem
from localarc.service.api.openapi import openapi
from localarc.service.page.routes import routes as page_routes
from localarc.service.parts import Parts

SECURITY = {
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_log = logging.getLogger("localarc.service")
_SECURITY = [(name.lower().encode(), value.encode()) for name, value in SECURITY.items()]


def application(parts: Parts) -> Starlette:
    """The service as an ASGI application."""
    described = message(openapi(ENDPOINTS, version())).body

    async def describe(parts: Parts, request: Request) -> Response:
        return Response(described, media_type="application/json")

    description = Endpoint("GET", "/openapi.json", describe, "This description.")
    routes: list[BaseRoute] = [_route(parts, each) for each in (*ENDPOINTS, description)]

    @asynccontextmanager
    async def running(_: Starlette) -> AsyncIterator[None]:
        parts.writer.start(asyncio.get_running_loop())
        yield
        await asyncio.to_thread(parts.writer.stop)

    handlers = {HTTPException: _not_routed}
    return Starlette(
        routes=[*routes, *page_routes()],
        lifespan=running,
        exception_handlers=handlers,  # type: ignore[arg-type]
    )


def _route(parts: Parts, endpoint: Endpoint) -> Route:
    async def respond(request: Request) -> Response:
        started = time.perf_counter()
        try:
            _check_host(parts, request)
            parts.tokens.admit(request, endpoint.scope)
            response = await endpoint.handler(parts, request)
        except Refusal as refusal:
            response = problem(refusal)
        except ClientDisconnect:
            response = Response(status_code=400)  # nobody hears it
        except Exception:
            _log.exception("a request failed")
            response = problem(Refusal(500, "the service made a mistake; nothing was changed."))
        seconds = time.perf_counter() - started
        parts.metrics.answered(endpoint.path, endpoint.method, response.status_code, seconds)
        return _secured(response)

    return Route(endpoint.path, respond, methods=[endpoint.method])


def _check_host(parts: Parts, request: Request) -> None:
    # Without tokens, only the name keeps a foreign web page from reaching us through its own name.
    if parts.hosts is not None and _host(request) not in parts.hosts:
        raise Refusal(400, "the Host header must name this machine's loopback address.")


def _host(request: Request) -> str:
    host = request.headers.get("host", "").lower()
    name, _, port = host.rpartition(":")
    return (name if port.isdecimal() else host).strip("[]")


def _secured(response: Response) -> Response:
    response.raw_headers.extend(_SECURITY)
    return response


async def _not_routed(request: Request, error: HTTPException) -> Response:
    if error.status_code == 405:
        detail = f"{request.method} is not for this path: see /openapi.json."
    else:
        detail = f"{HTTPStatus(error.status_code).phrase}: see /openapi.json for what is here."
    response = problem(Refusal(error.status_code, detail))
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        response.headers["Allow"] = ", ".join(sorted(_methods(request)))
    return _secured(response)


def _methods(request: Request) -> set[str]:
    """All that can be done with a path: its routes have a method each."""
    routes = [each for each in request.app.routes if isinstance(each, Route)]
    fitting = [each for each in routes if each.matches(request.scope)[0] != Match.NONE]
    return {method for each in fitting for method in each.methods or ()}
