"""Access: tokens for some streams, that expire, with quotas, read again; wrong ones are slowed."""

from __future__ import annotations

import contextlib
import http.client
import logging
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from localarc.cli import main
from localarc_service.access import token_file
from localarc_service.access.guesses import AT_ONCE
from localarc_service.access.reload import TokenReloader
from localarc_service.access.token import Scope, Token, digest_of
from localarc_service.access.token_file import line_of, read
from localarc_service.access.tokens import Tokens
from localarc_service.api.endpoints import ENDPOINTS
from localarc_service.errors import ApiError
from service.conftest import Start
from service.service_in_thread import Clock, wait_for
from service.service_process import Caller

SECRET = "0123456789abcdef"
HERE, THERE = "192.0.2.1", "192.0.2.2"


def tokens_of(path: Path, *lines: str, **clocks: Any) -> Tokens:
    path.write_text("\n".join(lines))
    return Tokens(read(path), **clocks)


def status_of(tokens: Tokens, secret: str, address: str = HERE) -> int:
    try:
        tokens.identify(f"Bearer {secret}", address, Scope.READ)
    except ApiError as error:
        return error.status
    return 200


# ---- the file ------------------------------------------------------------------------------------


def test_a_line_says_everything_about_a_token(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(
        f"write {SECRET} name=eu streams=demand,eu-* expires=2027-03-01 requests=2.5 max-streams=3"
        f"  # the team\nadmin sha256:{digest_of('x' * 20).hex()}\n"
    )
    first, second = read(tmp_path / "tokens")
    assert first == Token(
        "eu", Scope.WRITE, digest_of(SECRET), ("demand", "eu-*"), 1_803_859_200.0, 2.5, 3
    )
    assert second == Token("token-2", Scope.ADMIN, digest_of("x" * 20))


def test_lines_that_were_written_are_read_as_they_were(tmp_path: Path) -> None:
    tokens = [
        Token("a", Scope.READ, digest_of("a")),
        Token("b", Scope.ADMIN, digest_of("b"), ("s",), 1_803_859_201.0, 0.5, 7),
    ]
    (tmp_path / "tokens").write_text("\n".join(map(line_of, tokens)))
    assert read(tmp_path / "tokens") == tokens


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (f"write {SECRET} owner=me", "KEY=VALUE with a key of name, streams"),
        (f"write {SECRET} {SECRET}", "KEY=VALUE with a key of name, streams"),
        (f"write {SECRET} name=a name=b", "a key occurs twice"),
        (f"write {SECRET} name=a/b", "name must be 1 to 64 letters"),
        (f"write {SECRET} streams=eu*-1", "prefixes that end with"),
        (f"write {SECRET} streams=", "prefixes that end with"),
        (f"write {SECRET} expires=soon", "a date such as"),
        (f"write {SECRET} requests=0", "requests must be a positive number"),
        (f"write {SECRET} requests=nan", "requests must be a positive number"),
        (f"write {SECRET} streams=a max-streams=1.5", "max-streams must be a positive number"),
        (f"write {SECRET} max-streams=5", "requires streams=PATTERN"),
        (f"write {SECRET} name=a\nread {SECRET}x name=a", "two tokens named a"),
    ],
)
def test_an_invalid_line_is_explained_without_its_token(
    tmp_path: Path, line: str, expected: str
) -> None:
    path = tmp_path / "tokens"
    path.write_text(line)
    with pytest.raises(ValueError, match=expected) as raised:
        read(path)
    assert str(path) in str(raised.value)
    assert SECRET not in str(raised.value)


def test_the_command_stores_the_digest_and_prints_the_token(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"admin {SECRET} name=root")  # no line feed at the end
    path.chmod(0o640)
    words = ["token", "--name", "eu", "--streams", "eu-*", "--days", "90", "--requests", "20"]
    with pytest.raises(SystemExit) as ended:
        main([*words, "--token-file", str(path)])
    assert ended.value.code == 0
    secret = capsys.readouterr().out.strip()
    assert len(secret) >= 43
    assert secret not in path.read_text()
    _, made = read(path)
    assert (made.name, made.scope, made.streams, made.requests) == (
        "eu",
        Scope.WRITE,
        ("eu-*",),
        20,
    )
    assert made.digest == digest_of(secret)
    assert path.stat().st_mode & 0o777 == 0o640
    before = path.read_bytes()
    with pytest.raises(SystemExit) as ended:
        main([*words, "--token-file", str(path)])
    assert ended.value.code == 2
    assert "has a token named eu" in capsys.readouterr().err
    assert path.read_bytes() == before


def test_a_new_token_file_is_private(tmp_path: Path) -> None:
    token_file.add(tmp_path / "tokens", Token("a", Scope.READ, digest_of("a")))
    assert (tmp_path / "tokens").stat().st_mode & 0o777 == 0o600


# ---- expiry, guesses and quotas ------------------------------------------------------------------


def test_a_token_expires(tmp_path: Path) -> None:
    clock = Clock(1_803_859_199.0)
    tokens = tokens_of(tmp_path / "t", f"read {SECRET} expires=2027-03-01", clock=clock)
    assert status_of(tokens, SECRET) == 200
    assert tokens.expiry_times() == {"token-1": 1_803_859_200.0}
    clock.now += 1.0
    assert status_of(tokens, SECRET) == 401


def test_wrong_tokens_are_slowed_and_a_blocked_address_learns_nothing(tmp_path: Path) -> None:
    clock = Clock(0.0)
    lines = f"read {SECRET}", f"read {SECRET}-2"
    tokens = tokens_of(tmp_path / "t", *lines, steady_clock=clock)
    assert status_of(tokens, SECRET) == 200  # known from here
    assert [status_of(tokens, "wrong") for _ in range(AT_ONCE + 2)] == [401] * AT_ONCE + [429] * 2
    assert status_of(tokens, f"{SECRET}-2") == 429  # right, but nobody is told
    assert status_of(tokens, SECRET) == 200
    assert status_of(tokens, f"{SECRET}-2", THERE) == 200
    assert (tokens.guesses.wrong, tokens.guesses.blocked) == (AT_ONCE, 3)
    assert tokens.guesses.waiting() == 1
    with pytest.raises(ApiError) as raised:
        tokens.identify("Bearer wrong", HERE, Scope.READ)
    assert raised.value.retry_after == 6
    clock.now = 6.0
    assert [status_of(tokens, "wrong") for _ in range(2)] == [401, 429]
    clock.now = 1e6
    assert tokens.guesses.waiting() == 0
    assert status_of(tokens, f"{SECRET}-2") == 200


def test_an_address_that_guesses_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock(0.0)
    tokens = tokens_of(tmp_path / "t", f"read {SECRET}", steady_clock=clock)
    for _ in range(100):
        status_of(tokens, "wrong")
        clock.now += 2.0
    assert [record.getMessage() for record in caplog.records] == [
        f"address {HERE} sent {AT_ONCE} wrong tokens and has to wait"
    ]


def test_requests_without_a_token_are_no_guesses(tmp_path: Path) -> None:
    tokens = tokens_of(tmp_path / "t", f"read {SECRET}")
    assert {status_of(tokens, "") for _ in range(50)} == {401}
    assert tokens.guesses.wrong == 0


def test_a_quota_limits_requests_a_second(tmp_path: Path) -> None:
    clock = Clock(0.0)
    tokens = tokens_of(tmp_path / "t", f"read {SECRET} name=eu requests=2", steady_clock=clock)
    token = tokens.identify(f"Bearer {SECRET}", HERE, Scope.READ)
    admitted = 0
    for tick in range(81):
        clock.now = tick / 8
        with contextlib.suppress(ApiError):
            tokens.admit(token)
            admitted += 1
    assert admitted == 2 + 20  # at once, and in ten seconds
    assert tokens.over_quota == {("eu", "requests"): 81 - admitted}
    tokens.charge(token, 8)  # a batch
    with pytest.raises(ApiError) as raised:
        tokens.admit(token)
    assert (raised.value.status, raised.value.retry_after) == (429, math.ceil((1 + 8) / 2))


# ---- reloading -----------------------------------------------------------------------------------


def test_tokens_are_read_again_and_a_broken_file_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "tokens"
    tokens = tokens_of(path, f"read {SECRET}")
    reloader = TokenReloader(path, tokens)
    other = "fedcba9876543210"
    for broken in ("", f"owner {other}", "read short"):
        path.write_text(broken)
        reloader.check()
        assert (status_of(tokens, SECRET), status_of(tokens, other)) == (200, 401)
    path.unlink()
    reloader.check()
    assert status_of(tokens, SECRET) == 200
    assert reloader.failures == 4
    errors = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert len(errors) == 4
    assert other not in caplog.text
    path.write_text(f"read {other}")
    reloader.check()
    assert (status_of(tokens, SECRET), status_of(tokens, other)) == (401, 200)


def test_a_file_is_read_once_per_change_or_request(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    tokens = tokens_of(path, f"read {SECRET}")
    reloader = TokenReloader(path, tokens)
    tokens.replace([Token("other", Scope.READ, b"other")])
    reloader.check()
    assert status_of(tokens, SECRET) == 401  # nothing changed
    reloader.requested = True
    reloader.check()
    assert status_of(tokens, SECRET) == 200


def test_a_quota_is_not_refilled_by_reading_the_file(tmp_path: Path) -> None:
    clock = Clock(0.0)
    tokens = tokens_of(tmp_path / "t", f"read {SECRET} requests=1", steady_clock=clock)
    token = tokens.identify(f"Bearer {SECRET}", HERE, Scope.READ)
    tokens.admit(token)
    tokens.replace(read(tmp_path / "t"))
    with pytest.raises(ApiError, match="1 request"):
        tokens.admit(token)


# ---- in the service ------------------------------------------------------------------------------


@pytest.fixture
def limited(start: Start, tmp_path: Path) -> Iterator[Callable[..., tuple[Any, Caller, Caller]]]:
    """A service with two streams, an admin, and a token that is limited to eu-*."""
    callers = contextlib.ExitStack()

    def begin(*more: str) -> tuple[Any, Caller, Caller]:
        path = tmp_path / "tokens"
        eu = f"write {SECRET}eu name=eu streams=eu-* {' '.join(more)}"
        path.write_text(f"admin {SECRET}admin name=root\n{eu}")
        service = start(tokens=Tokens(read(path)), token_file=path)
        admin, eu_caller = (
            callers.enter_context(contextlib.closing(Caller(service.port, SECRET + name)))
            for name in ("admin", "eu")
        )
        for name in ("eu-north", "us-east"):
            assert admin.create(name, {"alpha": 0.1, "method": "arc"})[0] == 201
        return service, admin, eu_caller

    with callers:
        yield begin


def test_a_limited_token_reaches_its_streams_and_no_others(limited: Any) -> None:
    _, _, eu = limited()
    for endpoint in ENDPOINTS:
        if endpoint.scope is None or endpoint.scope == Scope.ADMIN:
            continue
        statuses = [
            eu.call(endpoint.method, endpoint.path.format(stream=name, prediction="p"), b"{}")[0]
            for name in ("eu-north", "us-east", "unknown")
            if endpoint.route.name != "events" or name != "eu-north"
        ]
        if endpoint.path in ("/v1/batch", "/v1/streams", "/v1/quarantine"):
            assert 403 not in statuses
        elif endpoint.path == "/metrics":
            assert statuses == [403] * 3  # about all streams
        else:
            assert statuses[-2:] == [403, 403], endpoint.path
            assert 403 not in statuses[:-2], endpoint.path
    listed = eu.call("GET", "/v1/streams")[1]
    assert [each["stream"] for each in listed["streams"]] == ["eu-north"]
    assert (listed["found"], listed["statuses"]["ok"]) == (1, 1)


def test_a_limited_admin_renames_within_its_streams(limited: Any, tmp_path: Path) -> None:
    service, _, eu = limited()
    text = (tmp_path / "tokens").read_text()
    (tmp_path / "tokens").write_text(text.replace("write", "admin"))
    service.app_state.reloader.check()
    path = "/v1/streams/eu-north/rename"
    assert eu.call("POST", path, {"name": "us-north"})[0] == 403
    assert eu.call("POST", path, {"name": "eu-south"})[0] == 200


def test_operations_of_a_batch_on_other_streams_fail_alone(limited: Any) -> None:
    _, admin, eu = limited()
    operations = [
        {"op": "predict", "stream": name, "id": "p"} for name in ("eu-north", "us-east", "eu-west")
    ]
    status, answer = eu.call("POST", "/v1/batch", {"operations": operations})
    assert status == 200
    assert [each["status"] for each in answer["results"]] == [200, 403, 404]
    assert admin.call("GET", "/v1/streams/us-east")[1]["pending"] == 0


def test_a_token_creates_as_many_streams_as_its_quota(limited: Any) -> None:
    _, admin, eu = limited("max-streams=2")
    config = {"alpha": 0.1, "method": "arc"}
    assert [eu.create(name, config)[0] for name in ("eu-1", "eu-2", "eu-1")] == [201, 429, 200]
    assert admin.create("eu-2", config)[0] == 201  # without a quota
    metrics = admin.call("GET", "/metrics")[1].decode()
    assert 'localarc_over_quota_total{quota="streams",token="eu"} 1.0' in metrics
    assert "localarc_tokens 2.0" in metrics


def test_requests_above_a_quota_get_429_and_say_when_to_return(limited: Any) -> None:
    service, admin, eu = limited("requests=0.01")
    assert eu.call("GET", "/v1/streams")[0] == 200
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    connection.request("GET", "/v1/streams", headers={"Authorization": f"Bearer {SECRET}eu"})
    response = connection.getresponse()
    assert response.status == 429
    assert 90 <= int(response.getheader("Retry-After") or 0) <= 100
    connection.close()
    assert admin.call("GET", "/v1/streams")[0] == 200


def test_events_end_when_the_token_is_withdrawn(
    limited: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("localarc_service.event_bus.HEARTBEAT_SECONDS", 0.05)
    service, admin, _ = limited()
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    headers = {"Authorization": f"Bearer {SECRET}eu"}
    connection.request("GET", "/v1/streams/eu-north/events", headers=headers)
    response = connection.getresponse()
    assert response.readline() == b": open\n"
    (tmp_path / "tokens").write_text(f"admin {SECRET}admin name=root")
    service.app_state.reloader.check()
    response.read()  # to its end
    connection.close()
    wait_for(lambda: len(service.app_state.event_bus) == 0)
    assert admin.call("GET", "/v1/streams")[0] == 200


@pytest.mark.slow
def test_a_running_service_follows_its_token_file(limited: Any, tmp_path: Path) -> None:
    _, admin, eu = limited()
    text = (tmp_path / "tokens").read_text()
    (tmp_path / "tokens").write_text(text.replace("write", "read"))
    path, body = "/v1/streams/eu-north/predict", {"id": "p"}
    wait_for(lambda: eu.call("POST", path, body)[0] == 403)
    assert admin.call("POST", path, body)[0] == 200
