"""The OpenAPI document and the documentation are complete, and every response agrees with them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import msgspec

from localarc_client.wire.config import METHODS
from localarc_client.wire.routes import ROUTES
from localarc_service.api.endpoints import ENDPOINTS
from localarc_service.api.openapi import openapi
from service.service_in_thread import Inside

DOCUMENTATION = Path(__file__).parents[4] / "docs" / "service.md"


def document(service: Inside) -> Any:
    return service.http.call("GET", "/openapi.json")[1]


def test_every_endpoint_is_documented(service: Inside) -> None:
    found = document(service)
    assert found["openapi"] == "3.1.0"
    assert found == openapi(ROUTES, found["info"]["version"])
    listed = {(method.upper(), path) for path, ways in found["paths"].items() for method in ways}
    assert listed == {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
    names = [way["operationId"] for ways in found["paths"].values() for way in ways.values()]
    assert len(set(names)) == len(names)


def test_every_reference_resolves(service: Inside) -> None:
    text = document(service)
    schemas = text["components"]["schemas"]
    used = set(re.findall(r"#/components/schemas/(\w+)", str(text)))
    assert used
    assert used <= set(schemas)


def test_responses_have_the_documented_types(service: Inside) -> None:
    service.create(kernel={}, features=2, set={"kind": "labels"}, score_range=[0, 1])
    service.predict("one", x=[0, 1], scores=[0.1, 0.2], group="a")
    service.feedback("one", 0.5)
    for endpoint in ENDPOINTS:
        kind, media_type = endpoint.route.response, endpoint.route.media_type
        if endpoint.method == "GET" and media_type == "application/json":
            path = endpoint.path.format(stream="s")
            status, answer = service.http.call("GET", path)
            assert status == 200
            msgspec.convert(answer, kind)  # raises if a field is wrong


def test_every_error_is_documented(service: Inside) -> None:
    found = document(service)
    for endpoint in ENDPOINTS:
        path = endpoint.path.format(stream="none", prediction="none")
        for body in (None, b"", b"{", b"{}", b'{"x": 1}'):
            status, _ = service.http.call(endpoint.method, path, body)
            assert (
                str(status) in found["paths"][endpoint.path][endpoint.method.lower()]["responses"]
            )


def test_the_documentation_lists_every_field_of_a_config() -> None:
    text = DOCUMENTATION.read_text(encoding="utf-8")
    table = text[text.index("The config of a stream") :]
    for name in {name for kind in METHODS.values() for name in kind.__struct_fields__}:
        assert f"`{name}`" in table


def test_every_error_of_an_endpoint_has_a_description() -> None:
    statuses = {status for endpoint in ENDPOINTS for status in endpoint.route.all_errors}
    assert statuses == {400, 401, 403, 404, 408, 409, 410, 413, 415, 422, 429, 503}
