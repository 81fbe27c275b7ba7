"""The log: what is on disk makes the streams again, and old entries leave it."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

from localarc.service.limits import Limits
from localarc.service.storage.store import Log, LogError
from localarc.service.streams.manager import Desk
from localarc.wire.config import StreamConfig
from localarc.wire.predictions import PredictRequest


def desk_with(log: Log, names: str = "ab", rounds: int = 10) -> Desk:
    """Streams that have seen some rounds, all of them in the log."""
    desk = Desk(Limits(), lambda: 1.0)
    for name in names:
        desk.create(name, StreamConfig(0.1))
    for t in range(rounds):
        for name in names:
            desk.predict(name, PredictRequest(id=f"p{t}"))
            desk.feedback(name, f"p{t}", float(t % 2))
    log.append(desk.rows)
    desk.rows = []
    return desk


def test_what_was_logged_is_loaded(tmp_path: Path) -> None:
    with contextlib.closing(Log(tmp_path)) as log:
        desk = desk_with(log)
    heard: list[tuple[str, int]] = []
    with contextlib.closing(Log(tmp_path)) as log:
        streams = log.load(told=lambda name, notice: heard.append((name, notice.seq)))
        assert (log.events, log.unsaved) == (42, {"a": 1, "b": 2})
    assert {name: each.snapshot() for name, each in streams.items()} == {
        name: each.snapshot() for name, each in desk.streams.items()
    }
    assert heard[:4] == [("a", 0), ("b", 0), ("a", 1), ("a", 2)]
    assert heard[-1] == ("b", 20)


def test_snapshots_replace_what_is_pruned(tmp_path: Path) -> None:
    with contextlib.closing(Log(tmp_path)) as log:
        desk = desk_with(log)
        log.snapshot(desk.streams["a"])
        assert log.prune() == 1  # b still needs all but a's creation
        log.snapshot(desk.streams["b"])
        assert log.prune() == 41
        assert (log.events, log.bytes, log.prune()) == (0, 0, 0)
    with contextlib.closing(Log(tmp_path)) as log:
        streams = log.load()
        assert streams["b"].snapshot() == desk.streams["b"].snapshot()
        desk.streams = streams
        desk.predict("a", PredictRequest(id="next"))
        log.append(desk.rows)  # numbers go on after those that were pruned
    with contextlib.closing(Log(tmp_path)) as log:
        assert list(log.load()["a"].book.pending) == ["next"]
        assert log.unsaved == {"a": 43}


def test_some_streams_can_be_loaded_alone(tmp_path: Path) -> None:
    with contextlib.closing(Log(tmp_path)) as log:
        desk = desk_with(log)
        log.snapshot(desk.streams["a"])
        unsaved = dict(log.unsaved)
        found = log.load({"a", "unknown"})
        assert list(found) == ["a"]
        assert found["a"].snapshot() == desk.streams["a"].snapshot()
        assert log.unsaved == unsaved


def test_a_failed_commit_leaves_no_row(tmp_path: Path) -> None:
    with contextlib.closing(Log(tmp_path)) as log:
        desk = desk_with(log)
        before = log.events, log.bytes, dict(log.unsaved)
        desk.predict("a", PredictRequest(id="next"))
        desk.create("c", StreamConfig(0.1))
        log._next -= 1  # the last row's number is taken
        with pytest.raises(sqlite3.IntegrityError):
            log.append(desk.rows)
        assert (log.events, log.bytes, log.unsaved) == before
        log.count_again()
        assert log.events == before[0]
        assert list(log.load()) == ["a", "b"]


def test_a_gap_is_noticed(tmp_path: Path) -> None:
    with contextlib.closing(Log(tmp_path)) as log:
        desk_with(log)
    with contextlib.closing(sqlite3.connect(tmp_path / "log.sqlite")) as database, database:
        database.execute("DELETE FROM events WHERE stream = 'a' AND seq = 7")
    with (
        contextlib.closing(Log(tmp_path)) as log,
        pytest.raises(LogError, match="has a gap before its seq 8"),
    ):
        log.load()


def test_a_newer_format_is_refused(tmp_path: Path) -> None:
    with contextlib.closing(sqlite3.connect(tmp_path / "log.sqlite")) as database:
        database.execute("PRAGMA user_version = 9")
    with pytest.raises(LogError, match="format version 9, this localarc reads 1"):
        Log(tmp_path)


def test_a_commit_is_on_disk_before_it_returns(tmp_path: Path) -> None:
    with contextlib.closing(Log(tmp_path)) as log:
        found = [log._database.execute(f"PRAGMA {name}").fetchone()[0]
                 for name in ("journal_mode", "synchronous")]  # fmt: skip
        assert found == ["wal", 2]
