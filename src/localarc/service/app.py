"""The ASGI application: a route per endpoint, the OpenAPI document and the page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, Route

from localarc.reporting.assessment import version
from localarc.service.api.endpoints import ENDPOINTS, JSON, Endpoint
from localarc.service.api.errors import ApiError
from localarc.service.api.openapi import openapi
from localarc.service.api.pipeline import (
    Pipeline,
    add_security_headers,
    json_response,
    problem_response,
)
from localarc.service.app_state import AppState
from localarc.service.page.routes import routes as page_routes

HEALTH_PATHS = "/livez", "/readyz"


def application(app: AppState) -> Starlette:
    """The service as an ASGI application."""
    document = bytes(json_response(openapi(ENDPOINTS, version())).body)

    async def describe(app: AppState) -> Response:
        """This document."""
        return Response(document, media_type=JSON)

    endpoints = *ENDPOINTS, Endpoint("GET", "/openapi.json", describe)
    routes: list[BaseRoute] = [
        Route(endpoint.path, Pipeline(app, endpoint).respond, methods=[endpoint.method])
        for endpoint in endpoints
    ]

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        app.writer.start(asyncio.get_running_loop())
        yield
        app.compiler.stop()
        await asyncio.to_thread(app.writer.stop)

    handlers = {HTTPException: _not_routed}
    return Starlette(
        routes=[*routes, *page_routes()],
        lifespan=lifespan,
        exception_handlers=handlers,  # type: ignore[arg-type]
    )


def health_application(app: AppState) -> Starlette:
    """The health checks alone."""
    checks = [endpoint for endpoint in ENDPOINTS if endpoint.path in HEALTH_PATHS]
    routes = [Route(each.path, Pipeline(app, each).respond, methods=["GET"]) for each in checks]
    return Starlette(routes=routes, exception_handlers={HTTPException: _not_routed})  # type: ignore[dict-item]


async def _not_routed(request: Request, error: HTTPException) -> Response:
    if error.status_code == 405:
        detail = f"{request.method} is not allowed on this path: see /openapi.json."
    else:
        detail = f"{HTTPStatus(error.status_code).phrase}: see /openapi.json for all paths."
    response = problem_response(ApiError(error.status_code, detail))
    response.headers.update(error.headers or {})
    if error.status_code == 405:
        response.headers["Allow"] = ", ".join(sorted(_methods(request)))
    return add_security_headers(response)


def _methods(request: Request) -> set[str]:
    """All methods of a path: each of its routes has one."""
    routes = [route for route in request.app.routes if isinstance(route, Route)]
    matching = [route for route in routes if route.matches(request.scope)[0] != Match.NONE]
    return {method for route in matching for method in route.methods or ()}
