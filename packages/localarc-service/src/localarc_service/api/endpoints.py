"""The endpoints of the service: the operation of each route, found by the route's name.

What is sent and returned, and who may ask, is in `localarc_client.wire.routes`; here is what
concerns the service alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from localarc_client.wire.predictions import BatchRequest
from localarc_client.wire.routes import ROUTES, Route
from localarc_service.api import queries, stream_list
from localarc_service.api.auth import Scope
from localarc_service.app_state import AppState
from localarc_service.streams import lifecycle, recovery
from localarc_service.streams.manager import StreamManager

_OPERATIONS = queries, stream_list, lifecycle, recovery, StreamManager


@dataclass(frozen=True)
class Endpoint:
    """A route, and the operation that answers it.

    The operation is a function of the stream manager, which the writer runs, or a coroutine of the
    application's state. Its further arguments are the parameters of the route, the `body`, and the
    `token` of who asks. `prepare` is given the application's state and the body before that, in a
    thread of its own. The audit log has a line for each change, unless they are `counted`.
    """

    route: Route[Any]
    operation: Callable[..., Any]
    prepare: Callable[[AppState, Any], None] | None = None
    counted: bool = False
    creates: bool = False  # a stream, which counts towards a token's quota

    @property
    def method(self) -> str:
        """The method of HTTP."""
        return self.route.method

    @property
    def path(self) -> str:
        """The path, with the names of its parameters in braces."""
        return self.route.path

    @cached_property
    def scope(self) -> Scope | None:
        """What a token must permit; None if no token is required."""
        return None if self.route.scope is None else Scope[self.route.scope.upper()]

    @cached_property
    def runs_in_event_loop(self) -> bool:
        """Whether the operation is a coroutine of the application's state."""
        return inspect.iscoroutinefunction(self.operation)

    @cached_property
    def takes_token(self) -> bool:
        """Whether the operation is given the token of the request."""
        return "token" in inspect.signature(self.operation).parameters

    @cached_property
    def checks_streams(self) -> bool:
        """Whether a token that is limited to some streams can use it."""
        return "{stream}" in self.path or self.takes_token or self.route.body is BatchRequest


def _operation(name: str) -> Callable[..., Any]:
    """The function of this name."""
    found = (vars(place).get(name) for place in _OPERATIONS)
    return next(filter(inspect.isfunction, found))


_FURTHER: dict[str, dict[str, Any]] = {
    "create": {"prepare": lambda app, body: app.compiler.prepare(body), "creates": True},
    **{name: {"counted": True} for name in ("predict", "feedback", "audit", "batch")},
}
ENDPOINTS = tuple(
    Endpoint(route, _operation(route.name), **_FURTHER.get(route.name, {})) for route in ROUTES
)
