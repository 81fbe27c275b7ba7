"""Hostile requests: never a 500, and nothing changes."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from localarc_service.api.auth import Tokens
from localarc_service.limits import Limits
from service.conftest import Start
from service.service_in_thread import Inside

DEEP = 100_000
PREDICT: dict[str, bytes] = {
    "NaN": b'{"x": [NaN, 0]}',
    "infinity": b'{"x": [Infinity, 0]}',
    "minus infinity": b'{"x": [-Infinity, 0]}',
    "too large a number": b'{"x": [1e999, 0]}',
    "a number whose square is infinite": b'{"x": [1e200, 0]}',
    "many digits": b'{"x": [' + b"9" * 5000 + b", 0]}",
    "a number in a string": b'{"x": ["1", 0]}',
    "true": b'{"x": [true, 0]}',
    "null": b'{"x": [null, 0]}',
    "an object for an input": b'{"x": {"0": 1}}',
    "a nested input": b'{"x": [[1, 0]]}',
    "deep nesting": b'{"x": ' + b"[" * DEEP + b"]" * DEEP + b"}",
    "deep nesting in an unknown field": b'{"y": ' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}",
    "too many features": b'{"x": [' + b"0," * 2000 + b"0]}",
    "one feature too many": b'{"x": [0, 0, 0]}',
    "no input": b"{}",
    "no body": b"",
    "not an object": b"[1, 2]",
    "a bare number": b"1",
    "half an object": b'{"x": [0, 0',
    "two objects": b'{"x": [0, 0]} {"x": [0, 0]}',
    "a comment": b'{"x": [0, 0]} // ok',
    "a byte order mark": b'\xef\xbb\xbf{"x": [0, 0]}',
    "UTF-16": '{"x": [0, 0]}'.encode("utf-16"),
    "a key twice": b'{"x": [0, 0], "x": [1, 1]}',
    "a key twice, once in disguise": b'{"x": [0, 0], "\\u0078": [1, 1]}',
    "an unknown field": b'{"x": [0, 0], "threshold": 1}',
    "a field in another case": b'{"X": [0, 0]}',
    "broken UTF-8": b'{"x": [0, 0], "group": "\xff\xfe"}',
    "an overlong encoding": b'{"x": [0, 0], "group": "\xc0\xaf"}',
    "half a surrogate pair": b'{"x": [0, 0], "group": "\\ud800"}',
    "a control character": b'{"x": [0, 0], "group": "\\u0000"}',
    "a line feed at the end": b'{"x": [0, 0], "id": "a\\n"}',
    "a long group": b'{"x": [0, 0], "group": "' + b"g" * 65 + b'"}',
    "a long id": b'{"x": [0, 0], "id": "' + b"i" * 129 + b'"}',
    "an id with a path in it": b'{"x": [0, 0], "id": "../../etc/passwd"}',
    "an id that is a number": b'{"x": [0, 0], "id": 1}',
    "an empty id": b'{"x": [0, 0], "id": ""}',
    "no scores in scores": b'{"x": [0, 0], "scores": []}',
    "NaN scores": b'{"x": [0, 0], "scores": [NaN]}',
    "too many scores": b'{"x": [0, 0], "scores": [' + b"0," * 20_000 + b"0]}",
    "scores of three": b'{"x": [0, 0], "scores": [1, 2, 3]}',
    "zeros": bytes(100),
}
FEEDBACK: dict[str, bytes] = {
    "NaN": b'{"loss": NaN}',
    "infinity": b'{"loss": 1e999}',
    "a huge integer": b'{"loss": ' + b"1" * 400 + b"}",
    "above the bound": b'{"loss": 1.0000001}',
    "below zero": b'{"loss": -1e-300}',
    "text": b'{"loss": "0.5"}',
    "true": b'{"loss": true}',
    "null": b'{"loss": null}',
    "a list": b'{"loss": [0.5]}',
    "a key twice": b'{"loss": 0.1, "loss": 0.9}',
    "an unknown field": b'{"loss": 0.1, "x": [0, 0]}',
    "nothing": b"{}",
}
BATCH: dict[str, bytes] = {
    "no operations": b'{"operations": []}',
    "too many operations": b'{"operations": [' + b"1," * 1000 + b"1]}",
    "deep nesting": b'{"operations": [' + b"[" * DEEP + b"]" * DEEP + b"]}",
    "operations twice": b'{"operations": [1], "operations": [2]}',
    "no list": b'{"operations": {}}',
    "half a surrogate pair": b'{"operations": [{"op": "\\ud800"}]}',
}
OPERATIONS: dict[str, bytes] = {
    "no object": b"1",
    "no op": b'{"stream": "s", "x": [0, 0]}',
    "an unknown op": b'{"op": "drop", "stream": "s"}',
    "a bad name": b'{"op": "predict", "stream": "../s", "x": [0, 0]}',
    "a key twice": b'{"op": "predict", "stream": "s", "x": [0, 0], "x": [1, 1]}',
    "a loss out of bounds": b'{"op": "feedback", "stream": "s", "id": "waiting", "loss": 2}',
    "broken UTF-8": b'{"op": "predict", "stream": "s", "x": [0, 0], "group": "\xff"}',
    "an input too short": b'{"op": "predict", "stream": "s", "x": [0]}',
}
LOCAL = b'{"alpha": 0.1, "kernel": {}, "features": %b}'
CONFIGS: dict[str, bytes] = {
    "nothing": b"{}",
    "NaN": b'{"alpha": NaN}',
    "alpha of one": b'{"alpha": 1}',
    "alpha below zero": b'{"alpha": -0.1}',
    "a key twice": b'{"alpha": 0.1, "alpha": 0.2}',
    "a key twice inside": b'{"alpha": 0.1, "features": 1, "kernel": {"scale": 1, "scale": 2}}',
    "no rate": b'{"alpha": 0.1, "rate": 0}',
    "a rate below zero": b'{"alpha": 0.1, "rate": -1}',
    "an unknown kernel": b'{"alpha": 0.1, "features": 1, "kernel": {"kind": "linear"}}',
    "no length": b'{"alpha": 0.1, "features": 1, "kernel": {"length_scale": 0}}',
    "no lengths": b'{"alpha": 0.1, "features": 1, "kernel": {"length_scale": []}}',
    "too many lengths": b'{"alpha": 0.1, "features": 1, "kernel": {"length_scale": [1, 1]}}',
    "a kernel without features": b'{"alpha": 0.1, "kernel": {}}',
    "too many features": b'{"alpha": 0.1, "features": 100000, "kernel": {}}',
    "a lattice too wide": LOCAL % b'4, "memory": {"kind": "lattice"}',
    "a greedy lattice": LOCAL % b'1, "memory": {"kind": "lattice", "max_bytes": 1e12}',
    "a greedy dictionary": LOCAL % b'1, "memory": {"kind": "dictionary", "max_size": 1000000000}',
    "a memory without a kernel": b'{"alpha": 0.1, "memory": {"kind": "keep-all"}}',
    "a range upside down": b'{"alpha": 0.1, "score_range": [1, 0]}',
    "a default without a timeout": b'{"alpha": 0.1, "default_loss": 1}',
    "a default above the bound": b'{"alpha": 0.1, "default_loss": 2, "timeout": 1}',
    "no timeout at all": b'{"alpha": 0.1, "timeout": 0}',
    "an exponent of one": b'{"alpha": 0.1, "rate": {"kind": "power", "exponent": 1}}',
    "an exponent for a constant": b'{"alpha": 0.1, "rate": {"kind": "constant", "exponent": 0.5}}',
    "a shape for rbf": b'{"alpha": 0.1, "features": 1, "kernel": {"shape": 2}}',
    "strong regularization": b'{"alpha": 0.1, "features": 1, "kernel": {}, "regularization": 1}',
    "the same label twice": b'{"alpha": 0.1, "set": {"kind": "labels", "labels": ["a", "a"]}}',
    "a path for a label": b'{"alpha": 0.1, "set": {"kind": "labels", "labels": ["\\u0000"]}}',
}  # fmt: skip


def case(bodies: dict[str, bytes]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("body", bodies.values(), ids=bodies.keys())


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Any:
    service = Inside(tmp_path_factory.mktemp("data"), Limits(), Tokens({})).start()
    service.create(kernel={"length_scale": 0.5}, features=2, set={"kind": "interval"})
    service.predict("done", x=[0.1, 0.9])
    service.feedback("done", 1.0)
    service.predict("waiting", x=[0.5, 0.5])
    yield service
    service.stop()


def assert_rejected(target: Inside, method: str, path: str, body: bytes) -> None:
    before, state = target.everything(), target.http.state("s")
    status, answer = target.http.call(method, path, body)
    assert status in (400, 413, 422), answer
    assert answer["status"] == status
    assert answer["detail"].endswith(".")
    assert "\n" not in answer["detail"]
    assert (target.everything(), target.http.state("s")) == (before, state)


@case(PREDICT)
def test_a_bad_input_changes_nothing(target: Inside, body: bytes) -> None:
    assert_rejected(target, "POST", "/v1/streams/s/predict", body)


@case(FEEDBACK)
def test_a_bad_loss_changes_nothing(target: Inside, body: bytes) -> None:
    assert_rejected(target, "PUT", "/v1/streams/s/predictions/waiting/feedback", body)


@case(BATCH)
def test_a_bad_batch_changes_nothing(target: Inside, body: bytes) -> None:
    assert_rejected(target, "POST", "/v1/batch", body)


@case(OPERATIONS)
def test_a_bad_operation_fails_alone(target: Inside, body: bytes) -> None:
    before = target.everything()
    good = b'{"op": "predict", "stream": "s", "x": [0.5, 0.5], "id": "waiting"}'
    whole = b'{"operations": [' + body + b", " + good + b"]}"
    status, answer = target.http.call("POST", "/v1/batch", whole)
    assert status == 200
    first, second = answer["results"]
    assert first["status"] in (400, 422)
    assert (second["status"], second["prediction"]["id"]) == (200, "waiting")
    assert target.everything() == before


@case(CONFIGS)
def test_a_bad_config_creates_no_stream(target: Inside, body: bytes) -> None:
    assert_rejected(target, "PUT", "/v1/streams/new", body)
    assert target.http.call("GET", "/v1/streams/new")[0] == 404


@pytest.mark.parametrize(
    "name",
    [
        "..",
        "%2e%2e",
        "a%2fb",
        "a%00",
        "a%0a",
        ".hidden",
        "-x",
        "a" * 65,
        "%ff",
        "a b",
        "%F0%9F%8D%8E",
    ],
)
def test_a_bad_name_is_rejected(target: Inside, name: str) -> None:
    path = f"/v1/streams/{name.replace(' ', '%20')}"
    status, answer = target.http.call("PUT", path, {"alpha": 0.1})
    assert status in (404, 405, 422), answer
    assert len(target.http.call("GET", "/v1/streams")[1]["streams"]) == 1


def test_a_large_body_is_rejected_before_it_is_read(start: Start) -> None:
    service = start(limits=Limits(body_bytes=1000, state_bytes=2000))
    service.create()
    for body, expected in ((b" " * 1000, 400), (b" " * 1001, 413)):
        assert service.http.call("POST", "/v1/streams/s/predict", body)[0] == expected
    chunks = {"Transfer-Encoding": "chunked"}
    sent = b"3e9\r\n" + b" " * 1001 + b"\r\n0\r\n\r\n"
    assert service.http.call("POST", "/v1/batch", sent, **chunks)[0] == 413


def test_a_slow_body_times_out(start: Start) -> None:
    service = start(limits=Limits(body_seconds=0.2))
    service.create()
    before = service.everything()
    with socket.create_connection(("127.0.0.1", service.port), timeout=30) as wire:
        wire.sendall(
            b"POST /v1/streams/s/predict HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: application/json\r\nContent-Length: 11\r\n\r\n{"
        )
        assert wire.recv(4096).startswith(b"HTTP/1.1 408 ")
    assert service.everything() == before


@pytest.mark.parametrize(
    "headers",
    [
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": ""},
        {"Content-Type": "application/octet-stream"},
        {"Content-Encoding": "gzip"},
    ],
    ids=str,
)
def test_another_media_type_is_rejected(target: Inside, headers: dict[str, str]) -> None:
    before = target.everything()
    status, answer = target.http.call("POST", "/v1/streams/s/predict", b'{"x":[0,0]}', **headers)
    assert (status, answer["title"]) == (415, "Unsupported Media Type")
    assert target.everything() == before


def test_exceeded_limits_give_429_and_change_nothing(start: Start) -> None:
    service = start(limits=Limits(streams=2, pending=3, groups=2))
    for name in "ab":
        assert service.create(name)[0] == 201
    assert service.create("c")[0] == 429
    assert service.create("a")[0] == 200
    for t in range(3):
        assert service.predict(f"p{t}", "a", group=f"g{t % 2}")[0] == 200
    before = service.everything("a")
    assert service.predict("p3", "a")[0] == 429
    assert service.predict("p2", "a", group="g0")[0] == 200  # a retry is not limited
    assert service.everything("a") == before
    service.feedback("p0", 0.5, "a")
    assert service.predict("p3", "a", group="g2")[0] == 429
    assert service.predict("p3", "a", group="g1")[0] == 200


def test_an_input_that_does_not_fit_into_memory_is_rejected(service: Inside) -> None:
    memory = {"kind": "lattice", "max_bytes": 2**16}
    service.create(kernel={"length_scale": 1e-6}, features=2, memory=memory)
    for t in range(50):
        service.predict(f"p{t}", x=[t * 1.0, t * -1.0])
    answers = [service.feedback(f"p{t}", 1.0) for t in range(50)]
    statuses = [status for status, _ in answers]
    learned = statuses.count(200)
    assert statuses == [200] * learned + [422] * (50 - learned)
    assert 0 < learned < 50
    assert "max_bytes" in answers[-1][1]["detail"]
    summary = service.get()
    assert (summary["rounds"], summary["pending"], summary["consistent"]) == (
        learned,
        50 - learned,
        True,
    )
