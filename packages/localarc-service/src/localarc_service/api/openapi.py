"""The OpenAPI 3.1 document, generated from the routes and their types."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from localarc_client.wire.config import AutoConfig, LarcConfig
from localarc_client.wire.predictions import Problem
from localarc_client.wire.routes import BYTES, EVENT_STREAM, JSON, Parameter, Route
from localarc_service.api.responses import PROBLEM

_REF = "#/components/schemas/{name}"
_ERRORS = {
    400: "The body is not JSON.",
    401: "A valid token is required.",
    403: "The token does not permit the request.",
    404: "Not found.",
    408: "The body did not arrive in time.",
    409: "Conflicts with the existing resource.",
    410: "The prediction has expired.",
    413: "The body is too large.",
    415: "Unsupported media type.",
    422: "The request is invalid.",
    429: "A limit or a quota is exceeded.",
    503: "The service is not ready, or cannot write to its data folder.",
}


def openapi(routes: Iterable[Route[Any]], version: str) -> dict[str, Any]:
    """The document of the whole service."""
    routes = list(routes)
    kinds = _kinds(routes)
    schemas, components = msgspec.json.schema_components(kinds, ref_template=_REF)
    for kind in AutoConfig, LarcConfig:  # without a method, a config is one of these
        components[kind.__name__]["required"].remove("method")
    found = {str(kind): _portable(schema) for kind, schema in zip(kinds, schemas, strict=True)}
    paths: dict[str, Any] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, found)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "localarc",
            "version": version,
            "description": "Online risk control over HTTP: request a threshold for each input, "
            "report its loss when it is known.",
        },
        "paths": paths,
        "components": {
            "schemas": _portable(components),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _portable(schema: Any) -> Any:
    """The schema without `items: false`, which generators of clients do not read.

    A tuple of equal items becomes a list of a fixed length, which is the same.
    """
    if isinstance(schema, list | tuple):
        return [_portable(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    found = {name: _portable(part) for name, part in schema.items()}
    if found.get("items") is False:
        del found["items"]
        first, *others = found["prefixItems"]
        if all(item == first for item in others):
            del found["prefixItems"]
            found["items"] = first
    return found


def _kinds(routes: list[Route[Any]]) -> list[Any]:
    used = [kind for each in routes for kind in (each.body, each.response)]
    kinds: dict[str, Any] = {str(kind): kind for kind in used if kind not in (None, bytes, str)}
    return [*kinds.values(), Problem]


def _operation(route: Route[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": route.name,
        "parameters": [_parameter(parameter) for parameter in route.parameters],
        "responses": {str(status): _response(route, schemas) for status in route.statuses},
    }
    if route.body is not None:
        media_type = BYTES if route.body is bytes else JSON
        content = {media_type: {"schema": _schema(route.body, schemas)}}
        operation["requestBody"] = {"required": True, "content": content}
    if route.scope is not None:
        operation["security"] = [{"token": []}]
    problem = {"content": {PROBLEM: {"schema": schemas[str(Problem)]}}}
    for status in route.all_errors:
        operation["responses"].setdefault(str(status), {"description": _ERRORS[status], **problem})
    return operation


def _schema(kind: Any, schemas: dict[str, Any]) -> Any:
    if kind is bytes:
        return {"type": "string", "format": "binary"}
    return {"type": "string"} if kind is str else schemas[str(kind)]


def _response(route: Route[Any], schemas: dict[str, Any]) -> dict[str, Any]:
    media_type = route.media_type.partition(";")[0]
    description = route.summary
    if route.media_type == EVENT_STREAM:
        names = ", ".join(
            ref["$ref"].rpartition("/")[2] for ref in schemas[str(route.response)]["anyOf"]
        )
        return {
            "description": f"{description} The data of an event is one of {names}.",
            "content": {media_type: {"schema": {"type": "string"}}},
        }
    return {
        "description": description,
        "content": {media_type: {"schema": _schema(route.response, schemas)}},
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    constraint = parameter.constraint
    if parameter.choices:
        schema: dict[str, Any] = {"type": "string", "enum": list(parameter.choices)}
    elif parameter.is_text:
        schema = {"type": "string", "pattern": constraint.pattern}
    else:
        schema = {"type": "integer", "minimum": constraint.ge, "maximum": constraint.le}
    if parameter.default is not None:
        schema["default"] = parameter.default
    found = {
        "name": parameter.external_name,
        "in": parameter.place,
        "description": constraint.description,
        "schema": schema,
    }
    return found | {"required": True} if parameter.place == "path" else found
