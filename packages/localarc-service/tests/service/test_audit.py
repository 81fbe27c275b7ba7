"""The audit log and the logs: who changed what, under which request id."""

from __future__ import annotations

import http.client
import io
import json
import logging
import shutil
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from localarc_service.access.audit import COUNT_SECONDS, Attempt, AuditLog
from localarc_service.access.token import Scope, Token, digest_of
from localarc_service.access.tokens import Tokens
from localarc_service.api import stream_list
from localarc_service.api.endpoints import ENDPOINTS
from localarc_service.errors import ApiError
from localarc_service.logs import JsonFormatter, LogOptions, configure
from localarc_service.streams.manager import StreamManager
from service.conftest import Start
from service.service_in_thread import Clock, Inside, wait_for
from service.service_process import Caller, Server

SECRET = "0123456789abcdef"
CONFIG = {"alpha": 0.1, "method": "arc"}


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.fixture
def audit(tmp_path: Path) -> Iterator[Callable[..., AuditLog]]:
    made: list[AuditLog] = []

    def begin(**options: Any) -> AuditLog:
        made.append(AuditLog(tmp_path / "audit.jsonl", **options))
        return made[-1]

    yield begin
    for each in made:
        each.close()


def started(start: Start, audit: AuditLog) -> tuple[Inside, Caller]:
    tokens = Tokens([Token("ops", Scope.ADMIN, digest_of(SECRET))])
    service = start(tokens=tokens, audit=audit)
    service.http.close()
    service.http = Caller(service.port, SECRET)
    return service, service.http


def test_every_change_has_a_line_with_its_author(
    start: Start, tmp_path: Path, audit: Callable[..., AuditLog]
) -> None:
    _, caller = started(start, audit())
    caller.call("PUT", "/v1/streams/s", CONFIG, **{"X-Request-Id": "r-1"})
    caller.call("PUT", "/v1/streams/s", CONFIG | {"alpha": 0.2})
    caller.call("POST", "/v1/streams/s/acknowledge")
    state = caller.state("s")
    caller.call("PUT", "/v1/streams/s/state", state, **{"Content-Type": "application/octet-stream"})
    caller.call("POST", "/v1/streams/s/recovery", {"action": "drop"})
    found = lines(tmp_path / "audit.jsonl")
    assert [(each["action"], each["stream"], each["status"]) for each in found] == [
        ("create", "s", 201),
        ("create", "s", 409),
        ("acknowledge", "s", 200),
        ("import_state", "s", 200),
        ("recover", "s", 409),
    ]
    assert {each["token"] for each in found} == {"ops"}
    assert {each["address"] for each in found} == {"127.0.0.1"}
    assert found[0]["request_id"] == "r-1"
    assert "exists with a different config" in found[1]["detail"]
    assert SECRET not in (tmp_path / "audit.jsonl").read_text()


def test_predictions_and_losses_are_counted(
    start: Start, tmp_path: Path, audit: Callable[..., AuditLog]
) -> None:
    log = audit()
    service, caller = started(start, log)
    caller.create("s", CONFIG)
    for t in range(5):
        service.predict(f"p{t}")
        service.feedback(f"p{t}", 1.0)
    service.predict("p", stream="unknown")
    operations = [
        {"op": "predict", "stream": "s"},
        {"op": "feedback", "stream": "s", "id": "none", "loss": 0},
    ]
    caller.call("POST", "/v1/batch", {"operations": operations})
    assert len(lines(tmp_path / "audit.jsonl")) == 1
    log.write_counts(at_once=True)
    counted = lines(tmp_path / "audit.jsonl")[1:]
    assert [
        (each["action"], each["stream"], each["status"], each["count"]) for each in counted
    ] == [
        ("batch", None, 200, 1),
        ("feedback", "s", 200, 5),
        ("feedback", None, 404, 1),
        ("predict", "s", 200, 6),
        ("predict", None, 404, 1),
    ]
    log.write_counts(at_once=True)
    assert len(lines(tmp_path / "audit.jsonl")) == 6  # each is told once


def test_every_prediction_is_listed_on_request(
    start: Start, tmp_path: Path, audit: Callable[..., AuditLog]
) -> None:
    service, caller = started(start, audit(every_prediction=True))
    caller.create("s", CONFIG)
    service.predict("p")
    operations = [{"op": "feedback", "stream": "s", "id": "p", "loss": 1.0}]
    caller.call("POST", "/v1/batch", {"operations": operations})
    actions = [each["action"] for each in lines(tmp_path / "audit.jsonl")]
    assert actions == ["create", "predict", "feedback", "batch"]


def test_counts_are_written_once_a_minute_and_at_the_end(
    tmp_path: Path, audit: Callable[..., AuditLog]
) -> None:
    clock = Clock(1_000.0)
    log = audit(clock=clock)
    attempt = Attempt("predict", "s", "ops", "", "r", 200)
    log.add(attempt, counted=True)
    clock.now += COUNT_SECONDS - 1
    log.write_counts()
    assert lines(tmp_path / "audit.jsonl") == []
    clock.now += 1
    log.write_counts()
    log.add(attempt, counted=True)
    log.close()
    found = lines(tmp_path / "audit.jsonl")
    assert [each["count"] for each in found] == [1, 1]
    assert found[0]["since"] == "1970-01-01T00:16:40.000+00:00"


def test_a_moved_audit_log_begins_anew(tmp_path: Path, audit: Callable[..., AuditLog]) -> None:
    log = audit()
    log.write(action="first")
    (tmp_path / "audit.jsonl").rename(tmp_path / "audit.jsonl.1")
    log.write(action="second")
    assert [each["action"] for each in lines(tmp_path / "audit.jsonl")] == ["second"]
    assert log.failures == 0


def test_a_line_that_cannot_be_written_is_counted_and_changes_nothing_else(
    start: Start, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "logs"
    log = AuditLog(folder / "audit.jsonl")
    _, caller = started(start, log)
    shutil.rmtree(folder)
    assert [caller.create(name, CONFIG)[0] for name in "ab"] == [201, 201]
    metrics = caller.call("GET", "/metrics")[1].decode()
    assert "localarc_audit_failures_total 2.0" in metrics
    told = [each.getMessage() for each in caplog.records if "cannot be" in each.getMessage()]
    assert len(told) == 1
    assert "No such file or directory" in told[0]
    folder.mkdir()
    assert caller.create("c", CONFIG)[0] == 201
    assert [each["stream"] for each in lines(folder / "audit.jsonl")] == ["c"]


def test_a_full_disk_stops_nobody(tmp_path: Path) -> None:
    log = AuditLog(Path("/dev/full"))
    log.write(action="first")
    log.close()
    assert log.failures == 1


def test_all_endpoints_that_write_are_audited_by_default() -> None:
    counted = {each.route.name for each in ENDPOINTS if each.counted}
    assert counted == {"predict", "feedback", "audit", "batch"}
    assert all(each.route.writes for each in ENDPOINTS if each.scope and each.scope > Scope.READ)


# ---- request ids ---------------------------------------------------------------------------------


def answer(service: Inside, path: str, given: str | None = None) -> tuple[str, Any]:
    """The id in the header, and the body."""
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
    connection.request("GET", path, headers={} if given is None else {"X-Request-Id": given})
    response = connection.getresponse()
    body = json.loads(response.read())
    connection.close()
    found = response.getheader("X-Request-Id")
    assert found is not None
    return found, body


@pytest.mark.parametrize("path", ["/v1/streams", "/v1/streams/none", "/nowhere", "/v1/streams/%0a"])
def test_a_request_id_is_returned_in_header_and_errors(service: Inside, path: str) -> None:
    given = "7b0e:4f/a+b=c@d.e_f~1-2"
    key, body = answer(service, path, given)
    assert key == given
    assert body.get("request_id", given) == given
    assert ("request_id" in body) == (path != "/v1/streams")
    keys = {answer(service, path)[0] for _ in range(3)}
    assert len(keys) == 3


@pytest.mark.parametrize("given", ["", "two words", "x" * 129, 'a"b', "é"])
def test_an_id_that_is_not_well_formed_is_replaced(service: Inside, given: str) -> None:
    key, body = answer(service, "/v1/streams/none", given)
    assert key != given
    assert body["request_id"] == key


@pytest.mark.parametrize("status", [429, 503])
def test_every_429_and_503_says_when_to_return(service: Inside, status: int) -> None:
    def fail(manager: StreamManager) -> None:
        raise ApiError(status, "not now.")

    with pytest.raises(ApiError) as raised:
        service.ask(fail)
    assert raised.value.retry_after == {429: 60, 503: 1}[status]
    service.app_state.writer.ready = False
    connection = http.client.HTTPConnection("127.0.0.1", service.port)
    for path in ("/readyz", "/v1/streams"):
        connection.request("GET", path)
        response = connection.getresponse()
        response.read()
        assert (response.status, response.getheader("Retry-After")) == (503, "1")
    connection.close()
    service.app_state.writer.ready = True


# ---- logs ----------------------------------------------------------------------------------------


@pytest.fixture
def logged(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """What is logged in JSON, with a line for every request."""
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    root, requests = logging.getLogger(), logging.getLogger("localarc.requests")
    handlers, level = root.handlers[:], requests.level
    root.handlers[:] = []
    configure(LogOptions(format="json", requests=True))
    yield stream
    root.handlers[:] = handlers
    requests.setLevel(level)


def test_requests_are_logged_as_json_without_names_of_streams(
    service: Inside, logged: io.StringIO
) -> None:
    service.create("name-of-a-stream")
    service.http.call("GET", "/v1/streams/name-of-a-stream", **{"X-Request-Id": "r-2"})
    found = [json.loads(line) for line in logged.getvalue().splitlines()]
    last = next(each for each in found if each.get("request_id") == "r-2")
    assert (last["route"], last["status"], last["level"]) == ("/v1/streams/{stream}", 200, "info")
    assert last["logger"] == "localarc.requests"
    assert "name-of-a-stream" not in logged.getvalue()


def test_a_failed_request_is_logged_with_its_id(
    service: Inside, logged: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.create("s")

    def broken(*_: object) -> None:
        raise KeyError("missing")

    monkeypatch.setattr(stream_list, "list_item", broken)
    status, problem = service.http.call("GET", "/v1/streams", **{"X-Request-Id": "r-4"})
    assert (status, problem["request_id"]) == (500, "r-4")
    found = [json.loads(line) for line in logged.getvalue().splitlines()]
    failed = next(each for each in found if each["message"] == "a request failed")
    assert "KeyError: 'missing'" in failed["exception"]
    assert "request r-4" in failed["exception"]


def test_a_line_of_json_is_one_line() -> None:
    record = logging.makeLogRecord({"msg": "two\nlines", "levelno": 20, "levelname": "INFO"})
    line = JsonFormatter().format(record)
    assert "\n" not in line
    assert json.loads(line)["message"] == "two\nlines"


# ---- the process ---------------------------------------------------------------------------------


@pytest.mark.service
def test_a_process_reads_tokens_again_on_hangup_and_writes_private_files(tmp_path: Path) -> None:
    tokens, audit_log = tmp_path / "tokens", tmp_path / "logs" / "audit.jsonl"
    tokens.write_text(f"write {SECRET} name=ops\n")
    options = "--token-file", str(tokens), "--audit-log", str(audit_log), "--log-format", "json"
    with Server(tmp_path / "data", *options) as server:
        caller = server.caller(SECRET)
        assert caller.create("name-of-a-stream", CONFIG)[0] == 201
        tokens.write_text("write short\n")
        assert server.process is not None
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "at least 16 characters" in server.errors)
        assert caller.predict("name-of-a-stream", id="p")[0] == 200
        tokens.write_text(f"read {SECRET} name=ops\n")
        wait_for(lambda: caller.predict("name-of-a-stream", id="p")[0] == 403)
        assert server.stop() == 0
        logged = [json.loads(line) for line in server.errors.splitlines()]
    assert [each["level"] for each in logged if "at least 16" in each["message"]] == ["error"]
    assert "name-of-a-stream" not in server.errors
    found = lines(audit_log)
    assert [each["action"] for each in found][:2] == ["create", "reload_tokens"]
    assert found[-1]["action"] == "predict"
    assert audit_log.stat().st_mode & 0o077 == 0
    assert SECRET not in audit_log.read_text()


@pytest.mark.service
def test_workers_share_an_audit_log_and_follow_their_tokens(tmp_path: Path) -> None:
    tokens, audit_log = tmp_path / "tokens", tmp_path / "audit.jsonl"
    tokens.write_text(f"write {SECRET} name=ops streams=eu-*\n")
    options = "--token-file", str(tokens), "--audit-log", str(audit_log), "--log-format", "json"
    names = [f"eu-{number}" for number in range(8)]
    with Server(tmp_path / "data", *options, "--workers", "2") as server:
        caller = server.caller(SECRET)
        assert {caller.create(name, CONFIG)[0] for name in names} == {201}
        operations = [{"op": "predict", "stream": name} for name in (*names, "us-1")]
        results = caller.call("POST", "/v1/batch", {"operations": operations})[1]["results"]
        assert [each["status"] for each in results] == [200] * 8 + [403]
        assert len(caller.call("GET", "/v1/streams")[1]["streams"]) == 8
        assert caller.call("GET", "/metrics")[0] == 403
        tokens.write_text(f"read {SECRET} name=ops\n")
        assert server.process is not None
        server.process.send_signal(signal.SIGHUP)
        paths = [f"/v1/streams/{name}/acknowledge" for name in names]
        wait_for(lambda: {caller.call("POST", path)[0] for path in paths} == {403})
        assert "localarc_tokens 1.0" in caller.call("GET", "/metrics")[1].decode()
        assert server.stop() == 0
        assert all(json.loads(line) for line in server.errors.splitlines())
    found = lines(audit_log)
    assert [each["stream"] for each in found if each["action"] == "create"] == names
    made = [each for each in found if each["action"] == "predict" and each["status"] == 200]
    assert {each["stream"]: each["count"] for each in made} == dict.fromkeys(names, 1)
