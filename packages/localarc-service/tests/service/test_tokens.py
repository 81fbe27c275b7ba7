"""Tokens: which scope each endpoint requires."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from localarc_service.api.auth import Scope, Tokens
from localarc_service.api.endpoints import ENDPOINTS
from service.conftest import Start
from service.service_process import Caller

TOKENS = {
    "read-" + "r" * 16: Scope.READ,
    "write-" + "w" * 16: Scope.WRITE,
    "admin-" + "a" * 16: Scope.ADMIN,
}
OPEN = {"/livez", "/readyz", "/openapi.json", "/"}


def test_every_endpoint_requires_its_scope(start: Start) -> None:
    clock = itertools.count(0.0, 60.0)  # wrong tokens are forgotten
    service = start(tokens=Tokens(TOKENS, steady_clock=lambda: next(clock)))
    callers = {scope: Caller(service.port, token) for token, scope in TOKENS.items()}
    for endpoint in ENDPOINTS:
        if endpoint.path in OPEN:
            assert endpoint.scope is None
            assert service.http.call(endpoint.method, endpoint.path)[0] == 200
            continue
        path = endpoint.path.format(stream="none", prediction="none")
        assert endpoint.scope is not None
        for caller, expected in (
            (Caller(service.port), 401),
            (Caller(service.port, "no" * 9), 401),
        ):
            assert caller.call(endpoint.method, path, b"{}")[0] == expected
            caller.close()
        for scope, caller in callers.items():
            status, _ = caller.call(endpoint.method, path, b"{}")
            assert (status == 403) == (scope < endpoint.scope), (endpoint.path, scope)
            assert status != 401
    for caller in callers.values():
        caller.close()


def test_reads_require_only_the_read_scope() -> None:
    for endpoint in ENDPOINTS:
        if endpoint.path not in OPEN:
            writes = endpoint.method != "GET"
            assert (endpoint.scope != Scope.READ) == writes
    admin = {(each.method, each.path) for each in ENDPOINTS if each.scope == Scope.ADMIN}
    stream = "/v1/streams/{stream}"
    assert admin == {
        ("PUT", f"{stream}/state"),
        ("POST", f"{stream}/recovery"),
        ("DELETE", stream),
        ("POST", f"{stream}/rename"),
    }


def test_a_hash_sign_inside_a_token_is_no_comment(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text("# for the team\nread 0123456789abcdef#ghi  # the page\n")
    service = start(tokens=Tokens.read(path))
    for token, status in (("0123456789abcdef#ghi", 200), ("0123456789abcdef", 401)):
        caller = Caller(service.port, token)
        assert caller.call("GET", "/v1/streams")[0] == status
        caller.close()


def test_without_tokens_no_one_is_admin(start: Start) -> None:
    service = start()
    service.create()
    state = service.http.state("s")
    before = service.everything()
    headers = {"Content-Type": "application/octet-stream"}
    status, answer = service.http.call("PUT", "/v1/streams/s/state", state, **headers)
    assert (status, answer["title"]) == (403, "Forbidden")
    assert "--token-file" in answer["detail"]
    assert service.everything() == before


@pytest.mark.parametrize("header", ["Basic abc", "Bearer", "Bearer ", "bearer \xff", "x" * 5000])
def test_an_invalid_authorization_header_is_rejected(start: Start, header: str) -> None:
    service = start(tokens=Tokens(TOKENS))
    status, answer = service.http.call("GET", "/v1/streams", Authorization=header)
    assert (status, answer["status"]) == (401, 401)


def test_a_foreign_host_header_is_rejected_without_tokens(start: Start) -> None:
    service = start(hosts=frozenset({"localhost", "127.0.0.1", "::1"}))
    for host in ("127.0.0.1:80", "localhost", "[::1]:8090", "LOCALHOST:1"):
        assert service.http.call("GET", "/v1/streams", Host=host)[0] == 200
    for host in ("evil.example", "evil.example:8090", "127.0.0.1.evil.example", ""):
        assert service.http.call("GET", "/v1/streams", Host=host)[0] == 400


def test_a_page_of_another_origin_cannot_acknowledge_alarms(start: Start) -> None:
    service = start(hosts=frozenset({"localhost", "127.0.0.1", "::1"}))
    service.create()
    for t in range(60):
        service.predict(f"p{t}")
        service.feedback(f"p{t}", 1.0)
    own = f"127.0.0.1:{service.port}"
    for origin in ("https://evil.example", "null", f"http://{own}0", "http://localhost:1"):
        answer = service.http.call("POST", "/v1/streams/s/acknowledge", Host=own, Origin=origin)
        assert answer[0] == 400
    assert service.get()["health"]["status"] == "broken"
    answer = service.http.call(
        "POST", "/v1/streams/s/acknowledge", Host=own, Origin=f"http://{own}"
    )
    assert answer[0] == 200
    assert service.get()["health"]["status"] == "ok"
