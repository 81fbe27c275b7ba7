"""The webhook: every change of health arrives, signed, and no receiver can hold up the service."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner

from localarc.cli import main
from localarc_client import HealthNotice, WebhookError, verify_webhook
from localarc_client.wire.webhook import secret_key, signature
from localarc_service import webhook
from localarc_service.metrics import Metrics
from localarc_service.webhook import Target, Webhook
from service.conftest import Start
from service.service_in_thread import Inside, wait_for
from service.test_health import rounds

SECRET = "a secret between two machines"


class Receiver(ThreadingHTTPServer):
    """Records the webhooks that it gets, and answers as it is told."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received: list[tuple[bytes, dict[str, str]]] = []
        self.statuses: list[int] = []  # of the next answers; 204 after them
        self.silence = threading.Event()  # holds answers back while it is not set
        self.silence.set()
        self.url = f"http://127.0.0.1:{self.server_port}/hook?from=localarc"

    def notices(self) -> list[HealthNotice]:
        return [verify_webhook(body, headers, SECRET) for body, headers in self.received]


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        assert self.path == "/hook?from=localarc"
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.received.append((body, dict(self.headers)))
        self.server.silence.wait(60)
        self.send_response(self.server.statuses.pop(0) if self.server.statuses else 204)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        thread = threading.Thread(target=made.serve_forever, daemon=True)
        thread.start()
        yield made
        made.silence.set()
        made.shutdown()


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "_FIRST_PAUSE", 0.001)
    monkeypatch.setattr(webhook, "_LONGEST_PAUSE", 0.01)


@pytest.fixture
def hooked(start: Start, receiver: Receiver) -> Callable[[], Inside]:
    return lambda: start(webhook=Target.checked(receiver.url, SECRET))


def counted(service: Inside, name: str) -> float:
    text = bytes(service.http.call("GET", "/metrics")[1]).decode()
    return float(next(line for line in text.splitlines() if line.startswith(name)).split()[-1])


def break_it(service: Inside) -> None:
    service.create()
    rounds(service, [1.0] * 12)


def test_a_change_of_health_is_sent_and_signed(
    hooked: Callable[[], Inside], receiver: Receiver
) -> None:
    service = hooked()
    break_it(service)
    wait_for(lambda: receiver.received)
    (notice,) = receiver.notices()
    found = service.get()["health"]
    assert (notice.stream, notice.group, notice.status, notice.previous) == (
        *("s", None, "broken", "ok"),
    )
    assert (notice.at, notice.since_round) == (found["since"], found["since_round"])
    assert "above" in notice.why
    assert not notice.repeated
    assert counted(service, 'localarc_webhook_attempts_total{outcome="delivered"}') == 1


def test_a_notice_is_sent_again_until_it_arrives_and_in_order(
    hooked: Callable[[], Inside], receiver: Receiver
) -> None:
    receiver.statuses = [500, 503, 429, 404, 302]
    service = hooked()
    break_it(service)
    service.http.call("POST", "/v1/streams/s/acknowledge")
    wait_for(lambda: len(receiver.received) == 7)
    notices = receiver.notices()
    assert [notice.status for notice in notices] == ["broken"] * 6 + ["ok"]
    assert len({notice.id for notice in notices}) == 2
    wait_for(lambda: counted(service, "localarc_webhook_waiting") == 0)
    assert counted(service, 'localarc_webhook_attempts_total{outcome="failed"}') == 3
    assert counted(service, "localarc_webhook_dropped_total") == 0


def test_a_notice_that_is_always_rejected_does_not_hold_up_the_others(
    hooked: Callable[[], Inside], receiver: Receiver
) -> None:
    receiver.statuses = [400] * 10
    service = hooked()
    break_it(service)
    service.http.call("POST", "/v1/streams/s/acknowledge")
    wait_for(lambda: len(receiver.received) == 11)
    assert receiver.notices()[-1].status == "ok"
    wait_for(lambda: counted(service, "localarc_webhook_dropped_total") == 1)


def test_requests_are_answered_while_a_receiver_is_silent(
    hooked: Callable[[], Inside], receiver: Receiver
) -> None:
    receiver.silence.clear()
    service = hooked()
    break_it(service)
    wait_for(lambda: receiver.received)
    told = rounds(service, [1.0] * 20)
    assert [status for status, _ in told] == [200] * 20
    assert counted(service, "localarc_webhook_waiting") == 1


def test_a_full_queue_drops_its_oldest_notices_and_counts_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(webhook, "MAX_WAITING", 3)
    metrics = Metrics()
    made = Webhook(Target.checked("http://127.0.0.1:9", SECRET), metrics.webhook)
    made.put(HealthNotice(f"s.{n}", "s", None, "ok", "broken", 0.0, n, "") for n in range(5))
    assert [notice.id for notice in made._waiting] == ["s.2", "s.3", "s.4"]
    text = metrics.text(True, 0).decode()
    assert "localarc_webhook_dropped_total 2.0" in text
    assert "localarc_webhook_waiting 3.0" in text


def test_what_is_not_ok_is_sent_again_after_a_restart(
    hooked: Callable[[], Inside], receiver: Receiver
) -> None:
    service = hooked()
    break_it(service)
    service.create("fine")
    wait_for(lambda: receiver.received)
    service.stop()
    hooked()
    wait_for(lambda: len(receiver.received) == 2)
    first, second = receiver.notices()
    assert second == msgspec.structs.replace(first, repeated=True)


def test_a_service_without_a_reachable_receiver_stops(start: Start) -> None:
    service = start(webhook=Target.checked("http://127.0.0.1:9/", SECRET))
    break_it(service)
    service.stop()
    assert not service._thread.is_alive()


# ---- signatures ------------------------------------------------------------------------------


def test_signatures_are_those_of_standard_webhooks() -> None:
    """The example of the specification's reference libraries."""
    key = secret_key("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    found = signature(key, "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", b'{"test": 2432232314}')
    assert found == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def signed(secret: str = SECRET, at: int = 1_000) -> tuple[bytes, dict[str, str]]:
    body = msgspec.json.encode(HealthNotice("s.7", "s", "a", "broken", "ok", 999.0, 90, "Why."))
    value = signature(secret_key(secret), "s.7", str(at), body)
    headers = {"Webhook-Id": "s.7", "Webhook-Timestamp": str(at), "Webhook-Signature": value}
    return body, headers


def test_a_webhook_is_read_if_one_of_its_signatures_is_right() -> None:
    body, headers = signed()
    headers["Webhook-Signature"] = f"v1,b3RoZXI= {headers['Webhook-Signature']}"
    assert verify_webhook(body, headers, SECRET, now=1_299.0).group == "a"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Webhook-Signature": "v1,AAAA"}, "does not match"),
        ({"Webhook-Signature": "\udcff"}, "does not match"),
        ({"Webhook-Id": "s.8"}, "does not match"),
        ({"Webhook-Timestamp": "1001"}, "does not match"),
        ({"Webhook-Timestamp": "1e3"}, "whole seconds"),
        ({"Webhook-Timestamp": "9" * 5000}, "whole seconds"),
    ],
)
def test_a_changed_header_is_found(change: dict[str, str], words: str) -> None:
    body, headers = signed()
    with pytest.raises(WebhookError, match=words):
        verify_webhook(body, headers | change, SECRET, now=1_000.0)


def test_other_bodies_secrets_and_times_are_found() -> None:
    body, headers = signed()
    with pytest.raises(WebhookError, match="does not match"):
        verify_webhook(body.replace(b"broken", b"ok"), headers, SECRET, now=1_000.0)
    with pytest.raises(WebhookError, match="does not match"):
        verify_webhook(body, headers, "another secret of some length", now=1_000.0)
    for now in (1_301.0, 699.0):
        with pytest.raises(WebhookError, match="may be a replay"):
            verify_webhook(body, headers, SECRET, now=now)
    with pytest.raises(WebhookError, match="no webhook-id header"):
        verify_webhook(body, {}, SECRET)


def test_a_signed_body_that_is_no_notice_is_rejected() -> None:
    headers = {"webhook-id": "a", "webhook-timestamp": "1000"}
    headers["webhook-signature"] = signature(secret_key(SECRET), "a", "1000", b"[]")
    with pytest.raises(WebhookError, match="cannot be read"):
        verify_webhook(b"[]", headers, SECRET, now=1_000.0)


# ---- options ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("alerts.example/hook", "must be a URL"),
        ("ftp://alerts.example", "must be a URL"),
        ("http://", "must be a URL"),
        ("http://[::1", "must be a URL"),
        ("https://me:password@alerts.example", "must not contain a password"),
    ],
)
def test_a_target_that_cannot_be_is_rejected(url: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Target.checked(url, SECRET)


@pytest.mark.parametrize("secret", ["", "short", "whsec_c2hvcnQ=", "whsec_not base64 at all"])
def test_a_weak_secret_is_rejected(secret: str) -> None:
    with pytest.raises(ValueError, match="secret"):
        Target.checked("http://127.0.0.1", secret)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--webhook", "http://127.0.0.1"], "LOCALARC_WEBHOOK_SECRET"),
        (["--webhook", "127.0.0.1", "--webhook-secret-file", "FILE"], "must be a URL"),
        (["--webhook-secret-file", "FILE"], "requires --webhook"),
    ],
)
def test_the_command_says_what_the_webhook_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], words: str
) -> None:
    monkeypatch.delenv("LOCALARC_WEBHOOK_SECRET", raising=False)
    (tmp_path / "secret").write_text(SECRET + "\n")
    given = [str(tmp_path / "secret") if option == "FILE" else option for option in options]
    done = CliRunner().invoke(main, ["serve", "--data", str(tmp_path / "data"), *given])
    assert done.exit_code == 2
    assert words in done.output
    assert not (tmp_path / "data").exists()
