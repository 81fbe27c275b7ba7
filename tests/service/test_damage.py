"""Damaged data: what is lost is noticed at the next start, and other streams are served."""

from __future__ import annotations

import contextlib
import random
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from localarc.service.limits import Limits
from localarc.service.storage.store import EventStore
from localarc.service.streams.manager import StreamManager
from localarc.service.streams.stream import Stream
from localarc.wire.config import StreamConfig
from localarc.wire.predictions import FeedbackRequest, PredictRequest
from service.conftest import Start
from service.inside import Inside

TRIALS = 60


def killed(folder: Path, rounds: int = 40, streams: int = 3) -> dict[str, int]:
    """A folder as a killed service leaves it, and the latest acknowledged seq of each stream."""
    live = folder / "live"
    live.mkdir(parents=True)
    with contextlib.closing(EventStore(live)) as store:
        manager = StreamManager(Limits(), lambda: 1.0)
        for t in range(rounds):
            name = f"s{t % streams}"
            manager.create(name, StreamConfig(0.1, method="arc"))
            manager.predict(name, PredictRequest(id=f"p{t}"))
            manager.feedback(name, f"p{t}", FeedbackRequest(float(t % 2)))
            store.append(manager.uncommitted)
            manager.uncommitted = []
            if t % 16 == 15:
                store.snapshot([manager.streams[name]])
        for path in live.iterdir():
            shutil.copy(path, folder)
    return {name: stream.state.seq for name, stream in manager.streams.items()}


def load(folder: Path) -> tuple[dict[str, Stream], EventStore]:
    with contextlib.closing(EventStore(folder)) as store:
        return store.load(), store


def edit(folder: Path, *statements: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / "log.sqlite")) as database, database:
        for statement in statements:
            database.execute(statement)


def truncate(path: Path, source: random.Random) -> None:
    with path.open("r+b") as file:
        file.truncate(source.randrange(path.stat().st_size))


def flip(path: Path, source: random.Random) -> None:
    with path.open("r+b") as file:
        file.seek(source.randrange(path.stat().st_size))
        byte = file.read(1)
        file.seek(-1, 1)
        file.write(bytes([byte[0] ^ source.randrange(1, 256)]))


def remove(path: Path, source: random.Random) -> None:
    path.unlink()


@pytest.mark.parametrize("damage", [truncate, flip, remove])
def test_no_loss_in_a_damaged_write_ahead_log_is_silent(
    tmp_path: Path, damage: Callable[[Path, random.Random], None]
) -> None:
    acknowledged = killed(tmp_path / "killed")
    source = random.Random(damage.__name__)
    lost = 0
    for trial in range(TRIALS):
        folder = tmp_path / str(trial)
        folder.mkdir()
        for name in "log.sqlite", "log.sqlite-wal", "log.marks":
            shutil.copy(tmp_path / "killed" / name, folder)
        damage(folder / "log.sqlite-wal", source)
        try:
            streams, store = load(folder)
        except sqlite3.DatabaseError:
            lost += 1
            continue  # the service does not start, and says so
        incomplete = {
            name
            for name, seq in acknowledged.items()
            if name not in streams or streams[name].state.seq != seq
        }
        lost += bool(incomplete)
        assert incomplete == store.quarantined.keys()
    assert lost > TRIALS / 2  # or little was damaged


@pytest.mark.parametrize(
    ("statement", "reason", "missing"),
    [
        ("UPDATE events SET event = replace(event, '1.0', '0.0') WHERE seq = 7", "event 7 is", 4),
        ("UPDATE events SET event = x'00' WHERE seq = 7", "event 7 is", 4),
        ("DELETE FROM events WHERE seq = 10", "event 10 is damaged or missing", 1),
        ("DELETE FROM events WHERE seq BETWEEN 3 AND 5", "events 3 to 5 are", 8),
        ("UPDATE events SET stream = 'c' WHERE seq = 7", "event 7 is damaged or missing", 4),
    ],
)
def test_a_damaged_event_puts_its_stream_in_quarantine(
    tmp_path: Path, statement: str, reason: str, missing: int
) -> None:
    acknowledged = killed(tmp_path, rounds=10, streams=2)
    edit(tmp_path, f"{statement} AND stream = 's0'")
    streams, store = load(tmp_path)
    assert streams["s1"].state.seq == acknowledged["s1"]
    found = store.quarantined["s0"]
    assert reason in found.reason
    assert found.missing == missing
    assert found.readable is not None
    assert found.readable.state.seq == acknowledged["s0"] - missing


def test_a_damaged_snapshot_is_replaced_by_events_that_reach_back_to_the_creation(
    tmp_path: Path,
) -> None:
    acknowledged = killed(tmp_path, rounds=20, streams=2)
    edit(tmp_path, "UPDATE snapshots SET state = zeroblob(100)")
    streams, store = load(tmp_path)
    assert {name: stream.state.seq for name, stream in streams.items()} == acknowledged
    assert not store.quarantined


def test_a_damaged_snapshot_puts_its_stream_in_quarantine(tmp_path: Path) -> None:
    killed(tmp_path, rounds=20, streams=2)
    edit(
        tmp_path,
        "DELETE FROM events WHERE stream = 's1' AND id <= (SELECT last_event FROM snapshots)",
        "UPDATE snapshots SET state = zeroblob(length(state))",
    )
    streams, store = load(tmp_path)
    assert ([*streams], [*store.quarantined]) == (["s0"], ["s1"])
    found = store.quarantined["s1"]
    assert (found.readable, found.reason) == (None, "its snapshot is damaged")


def test_a_stream_that_is_gone_is_named(tmp_path: Path) -> None:
    acknowledged = killed(tmp_path, rounds=10, streams=2)
    edit(
        tmp_path, *(f"DELETE FROM {table} WHERE stream = 's1'" for table in ("events", "snapshots"))
    )
    streams, store = load(tmp_path)
    assert [*streams] == ["s0"]
    found = store.quarantined["s1"]
    assert (found.reason, found.missing) == ("events 0 to 10 are damaged or missing", 11)
    assert acknowledged["s1"] == 10


def test_a_copy_of_the_database_alone_is_opened(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    acknowledged = killed(tmp_path, rounds=10, streams=2)
    (tmp_path / "log.marks").unlink()
    for _ in range(2):
        streams, store = load(tmp_path)
        assert {name: stream.state.seq for name, stream in streams.items()} == acknowledged
        assert not store.quarantined
    assert caplog.text.count("no high-water mark") == 1  # now there is one


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
    from localarc.wire.quarantine import RecoverRequest

    request: Any = RecoverRequest(action)  # type: ignore[arg-type]
    return service.ask(lambda manager: manager.recover(stream, request), writes=1)


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
    from localarc.service.api.errors import ApiError

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
