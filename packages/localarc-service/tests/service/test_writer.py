"""The writer responds with what is on disk, and restores from disk when a commit fails."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from typing import Any

import pytest

from localarc_service.errors import ApiError
from localarc_service.limits import Limits
from localarc_service.metrics import Metrics
from localarc_service.storage.store import EventStore
from localarc_service.streams.manager import StreamManager
from localarc_service.streams.stream import Stream
from service.conftest import Start
from service.service_in_thread import Inside, wait_for

LOCAL: dict[str, Any] = {"kernel": {"length_scale": 0.5}, "features": 2}


def fails(*_: object) -> None:
    raise sqlite3.OperationalError("attempt to write a readonly database")


@pytest.fixture
def broken(service: Inside, monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Makes every write fail, or work again."""

    def switch(on: bool) -> None:
        if on:
            for name in ("append", "probe", "snapshot", "prune"):
                monkeypatch.setattr(EventStore, name, fails)
        else:
            monkeypatch.undo()

    return switch


def test_a_failed_write_changes_nothing(service: Inside, broken: Callable[[bool], None]) -> None:
    service.create(**LOCAL)
    service.predict("one", x=[0.1, 0.2])
    service.predict("two", x=[0.3, 0.4])
    before = service.everything()
    broken(True)
    status, answer = service.feedback("one", 1.0)
    expected = (
        "cannot write to the data folder: attempt to write a readonly database. Try again later."
    )
    assert (status, answer["detail"]) == (503, expected)
    assert service.everything() == before
    assert service.create("new")[0] == 503
    assert service.http.call("GET", "/v1/streams/new")[0] == 404
    assert service.http.call("GET", "/readyz")[0] == 503
    broken(False)
    wait_for(lambda: service.http.call("GET", "/readyz")[0] == 200)
    assert service.feedback("one", 1.0) == (200, {"seq": 3, "rounds": 1})
    assert service.create("new")[0] == 201


def test_nothing_expires_while_writes_fail(service: Inside, broken: Callable[[bool], None]) -> None:
    service.create(timeout=10)
    service.predict("one")
    broken(True)
    service.predict("two")
    service.clock.now += 11
    assert service.get()["expired"] == 0
    broken(False)
    wait_for(lambda: service.get()["expired"] == 1)


def test_a_bug_in_an_operation_changes_nothing(service: Inside) -> None:
    service.create(**LOCAL)
    service.predict("one", x=[0.1, 0.2])
    before = service.everything()

    def damage(manager: StreamManager) -> None:
        manager.streams["s"].state.rounds += 7
        raise RuntimeError("a bug")

    with pytest.raises(ApiError, match="internal error"):
        service.ask(damage, writes=1)
    assert service.everything() == before
    assert service.feedback("one", 1.0)[0] == 200


def test_a_bug_in_expiry_does_not_stop_the_service(
    service: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.create(timeout=10)
    service.predict("one")
    before = service.everything()
    called = []

    def bug(manager: StreamManager) -> None:
        manager.streams["s"].state.expired += 1
        called.append(1)
        raise RuntimeError("a bug")

    monkeypatch.setattr(StreamManager, "expire", bug)
    wait_for(lambda: len(called) > 1)
    monkeypatch.undo()
    wait_for(lambda: service.http.call("GET", "/v1/streams/s")[0] == 200)
    assert service.everything() == before


def test_a_stream_that_fails_the_consistency_check_rejects_writes(
    start: Start, tmp_path: Any
) -> None:
    service = start()
    service.create()
    service.predict("one")
    service.feedback("one", 1.0)
    service.create("sound")

    def damage(manager: StreamManager) -> None:
        manager.streams["s"].state.loss_sum += 0.5

    service.ask(damage)
    assert service.predict("two")[0] == 503
    assert service.http.call("GET", "/readyz")[1]["read_only"] == 1
    service.stop()  # stores a snapshot of it
    service = start()
    assert service.get()["consistent"] is False
    assert service.get()["certificate"]["consistent"] is False
    status, answer = service.predict("two")
    assert (status, "consistency check" in answer["detail"]) == (503, True)
    assert service.predict("two", "sound")[0] == 200
    ready = service.http.call("GET", "/readyz")
    assert (ready[0], ready[1]["streams"], ready[1]["read_only"]) == (200, 2, 1)
    assert b"localarc_read_only_streams 1.0" in service.http.call("GET", "/metrics")[1]


@pytest.mark.slow
def test_the_event_log_stays_within_its_limit(start: Start) -> None:
    """For any number of streams, and any distribution of events over them."""
    service = start(limits=Limits(log_events=60))
    most = 0
    for t in range(300):
        stream = f"s{t % 25 if t % 2 else 0}"
        service.create(stream, retain=5)
        service.predict(f"p{t}", stream)
        most = max(most, service.app_state.writer._store.events)
    assert 30 < most <= 61
    assert service.ask(lambda manager: len(manager.streams)) == 25
    before = service.everything("s0")
    service.stop()
    assert start().everything("s0") == before


def test_a_stream_that_cannot_be_stored_does_not_affect_others(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = Stream.snapshot

    def snapshot(stream: Stream) -> bytes:
        if stream.name == "bad":
            raise ValueError("out of range")
        return encode(stream)

    monkeypatch.setattr(Stream, "snapshot", snapshot)
    service = start(limits=Limits(log_events=20))
    service.create("bad")
    service.create("good", retain=5)
    for t in range(60):
        assert service.predict(f"p{t}", "good")[0] == 200
    assert service.predict("one", "bad")[0] == 503
    assert service.http.call("GET", "/readyz")[1]["read_only"] == 1
    monkeypatch.undo()
    before = service.everything("good"), service.everything("bad")
    service.stop()
    service = start()
    assert (service.everything("good"), service.everything("bad")) == before
    assert service.predict("one", "bad")[0] == 200


def test_shutdown_stores_all_streams_in_one_transaction(start: Start) -> None:
    service = start()
    for number in range(30):
        service.create(f"s{number}")
    store = service.app_state.writer._store
    assert isinstance(store, EventStore)
    statements: list[str] = []
    store._database.set_trace_callback(statements.append)
    service.stop()
    assert statements.count("BEGIN IMMEDIATE") == 1
    assert sum(text.startswith("INSERT OR REPLACE INTO snapshots") for text in statements) == 30
    assert start().ask(lambda manager: len(manager.streams)) == 30


def test_waiting_requests_fail_when_the_writer_dies(start: Start) -> None:
    service = start()

    def die(manager: StreamManager) -> None:
        raise SystemExit("gone")

    with pytest.raises(ApiError, match="the service has stopped"):
        service.ask(die)
    assert service.predict("one")[0] == 503


def test_a_clock_that_was_ahead_does_not_delay_expiry(start: Start) -> None:
    service = start()
    service.create(timeout=10)
    service.clock.now += 1_000
    service.predict("from the future".replace(" ", "-"))
    service.clock.now -= 1_000
    service.predict("now")
    service.clock.now += 11
    wait_for(lambda: service.get()["pending"] == 1)
    assert service.feedback("now", 1.0)[0] == 410


def test_a_bug_in_a_response_is_a_problem_document(
    service: Inside, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.create()
    monkeypatch.setattr(Metrics, "text", lambda *_: 1 / 0)
    status, answer = service.http.call("GET", "/metrics")
    assert (status, answer["title"]) == (500, "Internal Server Error")
    assert "division" not in answer["detail"]


def test_streams_outlive_the_process(start: Start) -> None:
    service = start(limits=Limits(log_events=20))
    service.create(timeout=10, **LOCAL)
    for t in range(40):
        service.predict(f"p{t}", x=[t / 40, 0.5])
        if t % 3:
            service.feedback(f"p{t}", 0.5)
    before = service.everything()
    service.stop()
    service = start()
    assert service.everything() == before
    service.clock.now += 300
    wait_for(lambda: service.get()["pending"] == 0)
    assert service.get()["expired"] == 14


def test_nothing_expires_before_a_grace_period_after_a_restart(
    start: Start, caplog: pytest.LogCaptureFixture
) -> None:
    service = start()
    service.create(timeout=10)
    service.predict("old")
    ahead = service.clock.now + 1e9  # a long outage, or a clock that is far ahead
    service.stop()
    service = start(now=ahead)
    assert "1 pending prediction(s) timed out while the service was down" in caplog.text
    service.predict("new")
    service.clock.now += 11
    wait_for(lambda: service.get()["expired"] == 1)
    assert service.feedback("new", 1.0)[0] == 410  # predictions since the start expire as usual
    service.clock.now += 288
    service.predict("later")
    assert service.get()["pending"] == 2
    assert service.feedback("old", 1.0)[0] == 200


def test_after_the_grace_period_old_predictions_expire(start: Start) -> None:
    service = start()
    service.create(timeout=10)
    service.predict("old")
    service.stop()
    service = start(now=service.clock.now + 1e9)
    service.clock.now += 300
    wait_for(lambda: service.get()["expired"] == 1)
