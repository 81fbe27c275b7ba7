"""Quarantine: a damaged stream is named, the others are served, and someone decides about it."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from localarc_client.wire.quarantine import RecoverRequest
from localarc_service.errors import ApiError
from localarc_service.limits import Limits
from localarc_service.storage.store import EventStore
from localarc_service.streams import recovery
from service.conftest import Start
from service.service_in_thread import Inside
from service.test_damage import edit


def damaged(start: Start, folder: Path) -> Inside:
    """A service with a damaged stream, s, and another one."""
    service = start()
    for stream in "s", "other":
        service.create(stream)
        for t in range(5):
            service.predict(f"p{t}", stream)
            service.feedback(f"p{t}", 1.0, stream)
    service.stop()
    edit(
        folder,
        "UPDATE snapshots SET state = zeroblob(length(state)) WHERE stream = 's'",
        "DELETE FROM events",  # as pruning does
    )
    return start()


def incomplete(start: Start, folder: Path) -> Inside:
    """A service with a stream, s, whose latest event is missing, and another one."""
    service = start()
    for stream in "s", "other":
        service.create(stream)
        service.predict("one", stream)
        service.predict("two", stream)
    copy = folder / "copy"
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("copy"))
    service.stop()
    for name in "log.sqlite-wal", "log.sqlite", "log.marks":
        shutil.copy(copy / name, folder)
    edit(folder, "DELETE FROM events WHERE stream = 's' AND seq = 2")
    return start()


def test_a_stream_in_quarantine_is_named_and_others_are_served(
    start: Start, tmp_path: Path
) -> None:
    service = damaged(start, tmp_path)
    assert service.predict("new", "other")[0] == 200
    status, problem = service.predict("new")
    assert status == 503
    assert "stream 's' is quarantined: its snapshot is damaged." in problem["detail"]
    assert "localarc repair" in problem["detail"]
    assert service.http.call("GET", "/v1/streams/s")[0] == 503
    assert service.create("s")[0] == 503
    expected = {"stream": "s", "reason": "its snapshot is damaged", "seq": None, "missing": 11}
    assert service.http.call("GET", "/v1/quarantine")[1] == {"streams": [expected]}
    listed = service.http.call("GET", "/v1/streams")[1]
    assert (len(listed["streams"]), listed["quarantined"]) == (1, [expected])
    ready = service.http.call("GET", "/readyz")
    assert (ready[0], ready[1]["quarantined"]) == (200, 1)
    metrics = service.http.call("GET", "/metrics")[1]
    assert b"localarc_quarantined_streams 1.0" in metrics
    assert b"localarc_missing_events 11.0" in metrics


def recover(service: Inside, stream: str, action: str) -> Any:
    """Recover a stream as the endpoint does; the service under test has no admin token."""
    request: Any = RecoverRequest(action)  # type: ignore[arg-type]
    return service.ask(lambda manager: recovery.recover(manager, stream, request), writes=1)


def test_an_accepted_stream_continues_from_what_could_be_read(start: Start, tmp_path: Path) -> None:
    service = incomplete(start, tmp_path)
    assert service.predict("one")[0] == 503
    assert recover(service, "s", "accept").seq == 1
    assert service.get()["pending"] == 1
    assert service.predict("three")[1]["seq"] == 2
    service.stop()
    service = start()
    assert service.http.call("GET", "/v1/quarantine")[1] == {"streams": []}
    assert service.get()["pending"] == 2


def test_a_dropped_stream_is_gone(start: Start, tmp_path: Path) -> None:
    service = damaged(start, tmp_path)
    assert recover(service, "s", "drop").seq is None
    assert service.predict("new")[0] == 404
    service.stop()
    service = start()
    assert service.http.call("GET", "/v1/quarantine")[1] == {"streams": []}
    assert service.create("s")[0] == 201


def test_a_decision_that_cannot_be_stored_changes_nothing(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service = incomplete(start, tmp_path)

    def fail(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(EventStore, "_replace", fail)
        with pytest.raises(ApiError, match="cannot write to the data folder"):
            recover(service, "s", "drop")
    assert len(service.http.call("GET", "/v1/quarantine")[1]["streams"]) == 1
    with pytest.raises(ApiError, match="is not in quarantine"):
        recover(service, "other", "drop")
    with pytest.raises(ApiError, match="there is no stream 'unknown'"):
        recover(service, "unknown", "accept")


def test_the_log_stays_within_its_limit_beside_a_stream_in_quarantine(
    start: Start, tmp_path: Path
) -> None:
    incomplete(start, tmp_path).stop()
    service = start(limits=Limits(log_events=40))
    for t in range(200):
        assert service.predict(f"p{t}", "other")[0] == 200
    assert service.app_state.writer._store.events <= 43  # those of the quarantined stream stay
    assert recover(service, "s", "accept").seq == 1
