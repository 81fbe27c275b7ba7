"""Every endpoint of the service has a method in both clients."""

from __future__ import annotations

import asyncio
import inspect
import re
from collections.abc import Callable
from functools import partial
from typing import Any

import httpx
import pytest

from localarc_client import AsyncClient, AutoConfig, Client, ClientError, Retries
from localarc_client.wire.routes import OPENAPI, ROUTES
from localarc_service.api.endpoints import ENDPOINTS, Endpoint

ARGUMENTS: dict[str, Any] = {
    "action": "accept",
    "stream": "s",
    "config": AutoConfig(0.1),
    "id": "a",
    "loss": 1.0,
    "name": "t",
    "wrong": True,
    "operations": [],
    "state": b"state",
    "timeout": 1e-9,
}
NOT_REQUESTS = {"close"}
REQUESTS = {(each.method, each.path) for each in (*ROUTES, OPENAPI)}


@pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda each: each.route.name)
def test_an_operation_takes_what_its_row_says(endpoint: Endpoint) -> None:
    _, *arguments = inspect.signature(endpoint.operation).parameters.values()
    taken = {each.name: each.default for each in arguments}
    taken.pop("token", None)
    assert ("body" in taken) == (endpoint.route.body is not None)
    taken.pop("body", None)
    required = inspect.Parameter.empty
    assert taken == {
        each.name: required if each.place == "path" else each.default
        for each in endpoint.route.parameters
    }


class Recorder:
    """Rejects every request, and records which route it was for."""

    def __init__(self) -> None:
        self.routes: set[tuple[str, str]] = set()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        matches = {
            (method, path)
            for method, path in REQUESTS
            if method == request.method
            and re.fullmatch(re.sub(r"{\w+}", "[^/]+", path), request.url.path)
        }
        assert len(matches) == 1, f"no endpoint for {request.method} {request.url.path}"
        self.routes |= matches
        return httpx.Response(404)


def calls(client: Client | AsyncClient) -> list[Callable[[], Any]]:
    """Return every public method of a client, with the arguments that it requires."""
    found: list[Callable[[], Any]] = []
    for name, method in inspect.getmembers(client, callable):
        if name.startswith("_") or name in NOT_REQUESTS:
            continue
        required = {
            parameter: ARGUMENTS[parameter]
            for parameter, value in inspect.signature(method).parameters.items()
            if value.default is inspect.Parameter.empty or parameter in ("timeout", "loss")
        }
        found.append(partial(method, **required))
    return found


def test_every_endpoint_has_a_method_in_the_client() -> None:
    recorder = Recorder()
    transport = httpx.MockTransport(recorder)
    with Client("http://service.test", retries=Retries(0), transport=transport) as client:
        for call in calls(client):
            with pytest.raises(ClientError):
                next(call())  # of the methods, only events returns: it sends nothing before next
    assert recorder.routes == REQUESTS


def test_every_endpoint_has_a_method_in_the_asynchronous_client() -> None:
    recorder = Recorder()
    transport = httpx.MockTransport(recorder)

    async def call_all() -> None:
        async with AsyncClient(
            "http://service.test", retries=Retries(0), transport=transport
        ) as client:
            for call in calls(client):
                result = call()
                with pytest.raises(ClientError):
                    await (anext(result) if hasattr(result, "__anext__") else result)

    asyncio.run(call_all())
    assert recorder.routes == REQUESTS


def public_methods(kind: type[Any]) -> dict[str, Any]:
    return {name: part for name, part in vars(kind).items() if not name.startswith("_")}


def test_both_clients_have_the_same_methods() -> None:
    assert list(public_methods(AsyncClient)) == list(public_methods(Client))


@pytest.mark.parametrize("name", public_methods(Client))
def test_the_asynchronous_client_can_refer_to_the_other_for_parameters(name: str) -> None:
    asynchronous, synchronous = getattr(AsyncClient, name), getattr(Client, name)
    parameters = inspect.signature(asynchronous).parameters
    assert parameters == inspect.signature(synchronous).parameters
    summary, *_ = inspect.cleandoc(asynchronous.__doc__).splitlines()
    assert summary == inspect.cleandoc(synchronous.__doc__).splitlines()[0]
