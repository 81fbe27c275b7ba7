"""The ASGI application: a route per endpoint, the OpenAPI document and the page."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from localarc.reporting.assessment import version
from localarc_client.wire.routes import OPENAPI, ROUTES
from localarc_service.api.endpoints import ENDPOINTS, Endpoint
from localarc_service.api.openapi import openapi
from localarc_service.api.pipeline import Pipeline
from localarc_service.api.request_ids import HEADER, request_id
from localarc_service.api.responses import encode, problem_response
from localarc_service.app_state import AppState
from localarc_service.errors import ApiError
from localarc_service.page.routes import routes as page_routes

HEALTH_PATHS = "/livez", "/readyz"


def application(app: AppState) -> ASGIApp:
    """The service as an ASGI application."""
    document = msgspec.Raw(encode(openapi(ROUTES, version())))

    async def describe(app: AppState) -> msgspec.Raw:
        """This document."""
        return document

    endpoints = *ENDPOINTS, Endpoint(OPENAPI, describe)
    pipelines = [Pipeline(app, endpoint) for endpoint in endpoints]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        app.writer.start(asyncio.get_running_loop())
        if app.webhook is not None:
            app.webhook.start()
        yield
        app.compiler.stop()
        await asyncio.to_thread(app.writer.stop)
        if app.webhook is not None:
            await asyncio.to_thread(app.webhook.stop)

    return Router(pipelines, _starlette([*_routes(pipelines), *page_routes()], lifespan))


def health_application(app: AppState) -> ASGIApp:
    """The health checks alone."""
    checks = [Pipeline(app, each) for each in ENDPOINTS if each.path in HEALTH_PATHS]
    return _starlette(_routes(checks))


class Router:
    """Finds the pipeline of a request; what has none is left to Starlette.

    Starlette would try the pattern of each route in turn.
    """

    def __init__(self, pipelines: Iterable[Pipeline], others: ASGIApp) -> None:
        self._others = others
        self._found: dict[tuple[str, int], list[tuple[list[str], Pipeline]]] = defaultdict(list)
        for pipeline in pipelines:
            parts = pipeline.endpoint.path.split("/")
            self._found[pipeline.endpoint.method, len(parts)].append((parts, pipeline))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        app = self._others if scope["type"] != "http" else self._find(scope)
        await app(scope, receive, send)

    def _find(self, scope: Scope) -> ASGIApp:
        parts = scope["path"].split("/")
        for pattern, pipeline in self._found.get((scope["method"], len(parts)), ()):
            found = _match(pattern, parts)
            if found is not None:
                scope["path_params"] = found
                return pipeline
        return self._others


def _match(pattern: list[str], parts: list[str]) -> dict[str, str] | None:
    """The parameters of a path, or None if it is another one.

    >>> _match(["v1", "{stream}", "map"], ["v1", "demand", "map"])
    {'stream': 'demand'}
    """
    found = {}
    for expected, part in zip(pattern, parts, strict=True):
        if expected[:1] == "{":
            if not part:
                return None
            found[expected[1:-1]] = part
        elif expected != part:
            return None
    return found


def _routes(pipelines: Iterable[Pipeline]) -> list[BaseRoute]:
    """Routes for what the router does not know, such as HEAD, and methods that are not allowed."""
    return [Route(each.endpoint.path, each, methods=[each.endpoint.method]) for each in pipelines]


def _starlette(routes: list[BaseRoute], lifespan: Any = None) -> Starlette:
    handlers: Any = {HTTPException: _not_routed}
    return Starlette(routes=routes, lifespan=lifespan, exception_handlers=handlers)


async def _not_routed(request: Request, error: HTTPException) -> Response:
    if error.status_code == 405:
        detail = f"{request.method} is not allowed on this path: see /openapi.json."
    else:
        detail = f"{HTTPStatus(error.status_code).phrase}: see /openapi.json for all paths."
    key = request_id(request.headers.get(HEADER))
    problem = problem_response(ApiError(error.status_code, detail), key)
    response = Response(problem.body, problem.status)
    response.raw_headers = problem.headers
    response.headers.update({**(error.headers or {}), HEADER: key})
    if error.status_code == 405:
        response.headers["Allow"] = ", ".join(sorted(_methods(request)))
    return response


def _methods(request: Request) -> set[str]:
    """All methods of a path: each of its routes has one."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    matching = [route for route in routes if route.matches(request.scope)[0] != Match.NONE]
    return {method for route in matching for method in route.methods or ()}
