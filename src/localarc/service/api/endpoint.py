"""An endpoint: a route, its scope and its message types; app and OpenAPI are made of these."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from localarc.service.api.auth import Scope
from localarc.service.api.bodies import JSON

if TYPE_CHECKING:
    from localarc.service.parts import Parts


@dataclass(frozen=True)
class Query:
    """A parameter after the question mark: a whole number within limits."""

    name: str
    summary: str
    least: int
    most: int
    default: int | None = None


Handler = Callable[["Parts", Request], Awaitable[Response]]


@dataclass(frozen=True)
class Endpoint:
    """One method of one path."""

    method: str
    path: str
    handler: Handler
    summary: str
    scope: Scope | None = None
    body: Any = None  # a message type, or bytes
    answers: dict[int, Any] = field(default_factory=dict)  # a message type by status
    answer_type: str = JSON
    refusals: tuple[int, ...] = ()
    queries: tuple[Query, ...] = ()
