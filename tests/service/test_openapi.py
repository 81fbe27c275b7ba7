"""OpenAPI: the description is complete, and every answer keeps to it."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from localarc.service.api.endpoints import ENDPOINTS
from localarc.service.api.openapi import openapi
from service.inside import Inside


def described(service: Inside) -> Any:
    return service.http.call("GET", "/openapi.json")[1]


def test_every_endpoint_is_described(service: Inside) -> None:
    found = described(service)
    assert found["openapi"] == "3.1.0"
    assert found == openapi(ENDPOINTS, found["info"]["version"])
    listed = {(method.upper(), path) for path, ways in found["paths"].items() for method in ways}
    assert listed == {(endpoint.method, endpoint.path) for endpoint in ENDPOINTS}
    names = [way["operationId"] for ways in found["paths"].values() for way in ways.values()]
    assert len(set(names)) == len(names)


def test_every_reference_leads_somewhere(service: Inside) -> None:
    text = described(service)
    schemas = text["components"]["schemas"]
    used = set(re.findall(r"#/components/schemas/(\w+)", str(text)))
    assert used
    assert used <= set(schemas)


def test_answers_are_the_messages_that_are_described(service: Inside) -> None:
    service.create(kernel={}, features=2, set={"kind": "labels"}, score_range=[0, 1])
    service.predict("one", x=[0, 1], scores=[0.1, 0.2], group="a")
    service.feedback("one", 0.5)
    for endpoint in ENDPOINTS:
        kind = endpoint.responses.get(200)
        if endpoint.method == "GET" and endpoint.media_type == "application/json":
            path = endpoint.path.format(stream="s")
            status, answer = service.http.call("GET", path)
            assert status == 200
            msgspec.convert(answer, kind)  # raises where a field is amiss


def test_every_refusal_is_one_that_is_described(service: Inside) -> None:
    found = described(service)
    for endpoint in ENDPOINTS:
        path = endpoint.path.format(stream="none", prediction="none")
        for body in (None, b"", b"{", b"{}", b'{"x": 1}'):
            status, _ = service.http.call(endpoint.method, path, body)
            assert (
                str(status) in found["paths"][endpoint.path][endpoint.method.lower()]["responses"]
            )
