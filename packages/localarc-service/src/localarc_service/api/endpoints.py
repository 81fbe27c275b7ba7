"""The endpoints of the service. Routing, parsing and the OpenAPI document are made from this table.

A row names the operation; its path, query and header parameters, its body and its responses are
read from the operation's annotations, its summary from the docstring.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta

from localarc_client.wire.predictions import BatchRequest
from localarc_service.api import queries, stream_list
from localarc_service.api.auth import Scope
from localarc_service.api.queries import Header
from localarc_service.app_state import AppState
from localarc_service.streams import lifecycle
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.recovery import recover

JSON = "application/json"
BYTES = "application/octet-stream"
EVENTS = "text/event-stream"
METRICS = "text/plain; version=0.0.4; charset=utf-8"

_BODY_ERRORS = 408, 413, 415, 422
_OTHERS = "body", "token"  # arguments that are no parameters


@dataclass(frozen=True)
class Parameter:
    """A parameter of an operation outside its body: an integer, text, or one of several choices."""

    name: str  # of the operation's argument
    place: Literal["path", "query", "header"]
    external_name: str
    constraint: Meta
    default: int | str | None
    choices: tuple[str, ...] = ()

    @property
    def is_text(self) -> bool:
        """Whether it must match a pattern, rather than be a number."""
        return self.constraint.pattern is not None


@dataclass(frozen=True)
class Endpoint:
    """One method of one path.

    The operation is a function of the stream manager, which the writer runs, or a coroutine of the
    application's state. `prepare` is given that state and the body before that, `finish` the result
    after it; both run in a thread of their own. An operation with an argument `token` is given who
    asks. The audit log has a line for each change, unless they are `counted`.
    """

    method: str
    path: str
    operation: Callable[..., Any]
    scope: Scope | None = None
    writes: bool = False
    errors: tuple[int, ...] = ()
    media_type: str = JSON
    prepare: Callable[[AppState, Any], None] | None = None
    finish: Callable[[Any], Any] | None = None
    counted: bool = False
    creates: bool = False  # a stream, which counts towards a token's quota

    @property
    def name(self) -> str:
        """The operation's name."""
        return self.operation.__name__

    @property
    def summary(self) -> str:
        """The first line of the operation's docstring."""
        return (inspect.getdoc(self.operation) or "").partition("\n")[0]

    @cached_property
    def runs_in_event_loop(self) -> bool:
        """Whether the operation is a coroutine of the application's state."""
        return inspect.iscoroutinefunction(self.operation)

    @cached_property
    def _hints(self) -> dict[str, Any]:
        return get_type_hints(self.operation, include_extras=True)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The path, query and header parameters."""
        _, *arguments = inspect.signature(self.operation).parameters.values()
        return tuple(self._parameter(each) for each in arguments if each.name not in _OTHERS)

    @cached_property
    def takes_token(self) -> bool:
        """Whether the operation is given the token of the request."""
        return "token" in inspect.signature(self.operation).parameters

    @property
    def checks_streams(self) -> bool:
        """Whether a token that is limited to some streams can use it."""
        return "{stream}" in self.path or self.takes_token or self.body is BatchRequest

    def _parameter(self, argument: inspect.Parameter) -> Parameter:
        found = _metadata(self._hints[argument.name])
        constraint = next(each for each in found if isinstance(each, Meta))
        if f"{{{argument.name}}}" in self.path:
            return Parameter(argument.name, "path", argument.name, constraint, None)
        default, choices = argument.default, _choices(self._hints[argument.name])
        for header in found:
            if isinstance(header, Header):
                return Parameter(argument.name, "header", header.name, constraint, default)
        return Parameter(argument.name, "query", argument.name, constraint, default, choices)

    @property
    def body(self) -> Any:
        """The type of the body, None without one."""
        return _documented(self._hints.get("body"))

    @cached_property
    def responses(self) -> dict[int, Any]:
        """The type of the response, by status."""
        hints = self._hints if self.finish is None else get_type_hints(self.finish)
        kind = _documented(hints["return"])
        if get_origin(kind) is tuple:
            statuses, kind = get_args(kind)
            return dict.fromkeys(get_args(statuses), kind)
        return {200: kind}

    @property
    def all_errors(self) -> tuple[int, ...]:
        """The statuses of all errors: those of the row, and those that follow from its types."""
        found = set(self.errors)
        if self.parameters:
            found.add(422)
        if self.body is not None:
            found |= {*_BODY_ERRORS} if self.body is bytes else {400, *_BODY_ERRORS}
        if self.scope is not None:
            found |= {401, 403, 429, 503}
        return tuple(sorted(found))


def _metadata(hint: Any) -> list[Any]:
    """All that an annotation is annotated with, inside a union too."""
    own = list(hint.__metadata__) if get_origin(hint) is Annotated else []
    return own + [found for part in get_args(hint) for found in _metadata(part)]


def _choices(hint: Any) -> tuple[str, ...]:
    """The values of a `Literal`, inside a union or an annotation too."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    parts = get_args(hint)[:1] if get_origin(hint) is Annotated else get_args(hint)
    return tuple(choice for part in parts for choice in _choices(part))


def _documented(hint: Any) -> Any:
    """`Annotated[type in Python, type on the wire]` is documented as the latter."""
    return hint.__metadata__[0] if get_origin(hint) is Annotated else hint


READ, WRITE, ADMIN = Scope.READ, Scope.WRITE, Scope.ADMIN
_STREAM = "/v1/streams/{stream}"
_FEEDBACK = _STREAM + "/predictions/{prediction}/feedback"
_AUDIT = _STREAM + "/predictions/{prediction}/audit"

ENDPOINTS = (
    Endpoint("PUT", _STREAM, StreamManager.create, WRITE, writes=True, errors=(409,),
             prepare=lambda app, body: app.compiler.prepare(body), creates=True),
    Endpoint("PATCH", _STREAM, lifecycle.change, WRITE, writes=True, errors=(404,)),
    Endpoint("DELETE", _STREAM, lifecycle.delete, ADMIN, writes=True, errors=(404,)),
    Endpoint("POST", f"{_STREAM}/rename", lifecycle.rename, ADMIN, writes=True,
             errors=(404, 409)),
    Endpoint("POST", f"{_STREAM}/predict", StreamManager.predict, WRITE, writes=True,
             errors=(404, 409), counted=True),
    Endpoint("PUT", _FEEDBACK, StreamManager.feedback, WRITE, writes=True, errors=(404, 409, 410),
             counted=True),
    Endpoint("PUT", _AUDIT, StreamManager.audit, WRITE, writes=True, errors=(404, 409),
             counted=True),
    Endpoint("POST", "/v1/batch", StreamManager.batch, WRITE, writes=True, counted=True),
    Endpoint("GET", "/v1/streams", stream_list.streams, READ),
    Endpoint("GET", _STREAM, queries.summary, READ, errors=(404,)),
    Endpoint("GET", f"{_STREAM}/history", queries.history, READ, errors=(404,),
             finish=queries.HistoryCopy.response),
    Endpoint("GET", f"{_STREAM}/map", queries.threshold_map, READ, errors=(404, 409),
             finish=queries.MapCopy.response),
    Endpoint("GET", f"{_STREAM}/state", queries.export_state, READ, errors=(404,),
             media_type=BYTES),
    Endpoint("PUT", f"{_STREAM}/state", StreamManager.import_state, ADMIN, writes=True,
             errors=(404,)),
    Endpoint("POST", f"{_STREAM}/acknowledge", StreamManager.acknowledge, WRITE, writes=True,
             errors=(404,)),
    Endpoint("POST", f"{_STREAM}/recovery", recover, ADMIN, writes=True,
             errors=(404, 409)),
    Endpoint("GET", "/v1/quarantine", queries.quarantine, READ),
    Endpoint("GET", f"{_STREAM}/events", queries.events, READ, errors=(404,), media_type=EVENTS),
    Endpoint("GET", "/livez", queries.alive),
    Endpoint("GET", "/readyz", queries.ready),
    Endpoint("GET", "/metrics", queries.metrics, READ, media_type=METRICS),
)  # fmt: skip
