"""OpenAPI 3.1, generated from the endpoints and their message types."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from localarc.service.api.bodies import BYTES, JSON
from localarc.service.api.endpoint import Endpoint, Query
from localarc.service.api.handlers import PROBLEM
from localarc.wire.fields import PREDICTION_ID_PATTERN, STREAM_NAME_PATTERN
from localarc.wire.predictions import Problem

_REF = "#/components/schemas/{name}"
_PATTERNS = {"stream": STREAM_NAME_PATTERN, "id": PREDICTION_ID_PATTERN}
_REASONS = {
    400: "The body is not JSON.",
    401: "A token is needed.",
    403: "The token does not allow this.",
    404: "There is no such thing.",
    408: "The body did not arrive in time.",
    409: "It contradicts what is there.",
    410: "The loss is no longer awaited.",
    413: "The body is too large.",
    415: "The body has another type.",
    422: "The request is not as described here.",
    429: "A limit is reached.",
    503: "Requests are not taken, or nothing can be written.",
}


def openapi(endpoints: Iterable[Endpoint], version: str) -> dict[str, Any]:
    """The description of the whole service."""
    endpoints = list(endpoints)
    kinds = _kinds(endpoints)
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    found = {str(kind): schema for kind, schema in zip(kinds, schemas, strict=True)}
    paths: dict[str, Any] = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, found)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "localarc",
            "version": version,
            "description": "Calibration over HTTP: a threshold now, its loss when it is known.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _kinds(endpoints: list[Endpoint]) -> list[Any]:
    used = [kind for each in endpoints for kind in (each.body, *each.answers.values())]
    kinds: dict[str, Any] = {str(kind): kind for kind in used if kind not in (None, bytes, str)}
    return [*kinds.values(), Problem]


def _operation(endpoint: Endpoint, schemas: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": endpoint.summary,
        "operationId": endpoint.handler.__name__,
        "parameters": _parameters(endpoint),
        "responses": {
            str(status): _answer(endpoint, kind, schemas)
            for status, kind in endpoint.answers.items()
        },
    }
    if endpoint.body is not None:
        content = {_body_type(endpoint): {"schema": _schema(endpoint.body, schemas)}}
        operation["requestBody"] = {"required": True, "content": content}
    if endpoint.scope is not None:
        operation["security"] = [{"token": []}]
    problem = {"content": {PROBLEM: {"schema": schemas[str(Problem)]}}}
    refused = (*endpoint.refusals, *((401, 403, 503) if endpoint.scope else ()))
    for status in sorted(refused):
        operation["responses"].setdefault(str(status), {"description": _REASONS[status], **problem})
    return operation


def _body_type(endpoint: Endpoint) -> str:
    return BYTES if endpoint.body is bytes else JSON


def _schema(kind: Any, schemas: dict[str, Any]) -> Any:
    if kind is bytes:
        return {"type": "string", "format": "binary"}
    return {"type": "string"} if kind is str else schemas[str(kind)]


def _answer(endpoint: Endpoint, kind: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    type_ = endpoint.answer_type.partition(";")[0]
    description = endpoint.summary
    if endpoint.answer_type == "text/event-stream":
        return {
            "description": f"{description} The data of an event is one of the events below.",
            "content": {type_: {"schema": {"type": "string"}}},
        }
    return {"description": description, "content": {type_: {"schema": _schema(kind, schemas)}}}


def _parameters(endpoint: Endpoint) -> list[dict[str, Any]]:
    named = re.findall(r"{(\w+)}", endpoint.path)
    in_path = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "schema": {"type": "string", "pattern": _PATTERNS[name]},
        }
        for name in named
    ]
    return in_path + [_query(query) for query in endpoint.queries]


def _query(query: Query) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "integer", "minimum": query.least, "maximum": query.most}
    if query.default is not None:
        schema["default"] = query.default
    return {"name": query.name, "in": "query", "description": query.summary, "schema": schema}
